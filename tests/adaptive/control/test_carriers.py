"""A controller goes from one carrier to the other and back."""

from adaptive.control import PROFILES, RUNGS, AdaptiveController, Carrier, ContentReport, HeardReport, NetworkReport
from adaptive.control.ahead import AHEAD_RUNGS
from adaptive.control.plan import Bandwidth, Protection, Reason
from adaptive.control.reports import ComputeReport, Source


def controller() -> AdaptiveController:
    made = AdaptiveController(profile=PROFILES["narration"])
    made.on_content(ContentReport(at=0.0, sounding=True))
    return made


def feed(made: AdaptiveController, begin: float, end: float, *, kbps: float, lead: float, queue: float = 0.0) -> None:
    at = begin
    while at < end:
        made.on_network(
            NetworkReport(at=at, source=Source.FEEDBACK, rtt_s=0.1, queue_delay_s=queue, received_rate=kbps * 1000)
        )
        made.on_heard(HeardReport(at=at, buffered_s=lead))
        made.plan(at)
        at += 0.1


def test_the_data_track_has_a_lead_and_no_protection() -> None:
    made = controller()
    assert made.plan(0.0).carrier is Carrier.AUDIO
    made.on_carrier(Carrier.DATA)
    plan = made.plan(0.1)
    assert (plan.carrier, plan.lead_s, plan.protection) == (Carrier.DATA, 15.0, Protection())
    assert (plan.rung.bitrate, plan.rung.bandwidth, plan.reason) == (32_000, Bandwidth.FB, Reason.START)
    assert made.plan(0.2) is plan


def test_a_full_path_takes_the_rung_down_and_the_tier_with_it() -> None:
    made = controller()
    made.on_compute(ComputeReport(at=0.0, tiers=("full", "mixed", "light"), cost={"full": 0.3}))
    made.on_carrier(Carrier.DATA)
    feed(made, 0.0, 1.0, kbps=160, lead=2.0)
    assert made.plan(1.0).tier == "full"
    feed(made, 1.0, 3.0, kbps=14, lead=0.5, queue=0.5)
    plan = made.plan(3.0)
    assert plan.rung in AHEAD_RUNGS[:2]
    assert plan.tier == "light"
    assert plan.reason is Reason.CONGESTED


def test_back_on_the_audio_track_the_rung_is_one_of_its_own() -> None:
    made = controller()
    made.on_carrier(Carrier.DATA)
    feed(made, 0.0, 2.0, kbps=12, lead=0.5, queue=0.5)
    made.on_carrier(Carrier.AUDIO, red=True, nack=True)
    plan = made.plan(2.1)
    assert plan.carrier is Carrier.AUDIO
    assert plan.rung is RUNGS[0]
    assert plan.lead_s == 0.0


def test_the_same_carrier_again_changes_nothing() -> None:
    made = controller()
    made.on_carrier(Carrier.DATA)
    feed(made, 0.0, 2.0, kbps=24, lead=1.0, queue=0.5)
    plan = made.plan(2.0)
    made.on_carrier(Carrier.DATA)
    assert made.plan(2.1) is plan


def test_an_outage_is_met_with_what_is_left_of_the_lead() -> None:
    made = controller()
    made.on_carrier(Carrier.DATA)
    feed(made, 0.0, 2.0, kbps=160, lead=3.0)
    assert made.plan(2.9).rung.bitrate == 32_000
    assert made.plan(3.2).rung.bitrate == 12_000
