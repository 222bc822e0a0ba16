"""The simulation as a whole: what goes in comes out, facts reach the controller as they would, and it is fast."""

import time
from dataclasses import replace
from itertools import pairwise

import pytest

from adaptive.control.fixed import FixedController
from adaptive.control.ladder import START, wire_rate
from adaptive.control.plan import Bandwidth, Protection, Reason, Rung
from adaptive.control.profiles import PROFILES
from adaptive.control.registry import load_controller
from adaptive.control.reports import NetworkReport, Source
from quality.lab.scenarios import Scenario, load, parse
from quality.lab.simulator import ControllerFailed, simulate

PROFILE = PROFILES["voice_chat"]
BOTH_WAYS_LOST = """says = "A tenth is lost, both ways."
[[step]]
at_s = -5
direction = "both"
loss = 0.1
"""


class Witness(FixedController):
    """A fixed controller that remembers what it was told."""

    def __init__(self, **how) -> None:
        super().__init__(profile=PROFILE, **how)
        self.network: list[NetworkReport] = []
        self.heard, self.compute = [], []

    def on_network(self, report) -> None:
        self.network.append(report)

    def on_heard(self, report) -> None:
        self.heard.append(report)

    def on_compute(self, report) -> None:
        self.compute.append(report)
        super().on_compute(report)


def run(scenario: str | Scenario, controller=None, *, seconds: int = 12, seed: int = 3, profile=PROFILE):
    path = load(scenario) if isinstance(scenario, str) else scenario
    return simulate(path, controller or Witness(), profile=profile, seconds=seconds, seed=seed)


def test_a_clean_network_is_heard_whole():
    simulation = run("clean")
    figures = simulation.summary
    assert len(simulation.rows) == figures["seconds"] == 12
    assert figures["concealed_share"] == figures["silence_added_s"] == figures["lost_speech_s"] == 0
    assert 50 + 60 <= figures["mean_delay_ms"] <= 120
    assert all(row.opinion > 4.2 for row in simulation.rows)
    assert figures["wire_kbps"] == pytest.approx(wire_rate(START) / 1000, rel=0.25)
    assert figures["reaction_ms"] is None


@pytest.mark.parametrize("name", ["random10", "step24", "jitter30"])
def test_the_same_seed_gives_the_same_rows_and_another_seed_others(name):
    first, again = (run(name, load_controller("adaptive", profile=PROFILE)) for _ in range(2))
    assert first.rows == again.rows
    assert [look.plan for look in first.looks] == [look.plan for look in again.looks]
    assert run(name, load_controller("adaptive", profile=PROFILE), seed=4).rows != first.rows


def test_what_the_feedback_says_is_lost_is_what_the_link_dropped():
    witness = Witness()
    simulation = run("random10", witness, seconds=30)
    told = [fate for report in witness.network for fate in report.lost_mask or ()]
    dropped = sum(look.dropped for look in simulation.looks)
    assert None not in told
    # Pings are dropped too, and are no packets; what is on its way at the end is not told.
    assert dropped - 30 <= sum(told) <= dropped


def test_lost_feedback_makes_fates_unknown():
    witness = Witness()
    run(parse("both", BOTH_WAYS_LOST), witness, seconds=30)
    told = [fate for report in witness.network for fate in report.lost_mask or ()]
    assert 0.05 < told.count(None) / len(told) < 0.15
    assert 0.05 < told.count(True) / len(told) < 0.15


def test_reports_carry_round_trips_delays_and_rates():
    witness = Witness()
    run("step24", witness)
    wide = [report for report in witness.network if report.source is Source.TWCC]
    calm = [report for report in wide if report.rtt_s is not None and report.rtt_s < 0.15]
    assert min(report.rtt_s for report in calm) == pytest.approx(0.1, abs=0.005)
    assert max(report.queue_delay_s or 0 for report in wide) > 1.0
    assert max(report.received_rate or 0 for report in wide) > 50_000
    gaps = [b.at - a.at for a, b in pairwise(wide) if 105 < a.at < 108]
    assert sum(gaps) / len(gaps) == pytest.approx(0.062, abs=0.01)


def test_an_outage_is_told_by_silence():
    witness = Witness()
    run("outage3", witness)
    assert not [report for report in witness.network if 108.3 < report.at < 110.9]


def test_the_receiver_is_heard_of():
    witness = Witness()
    run("random20", witness)
    shares = [report.concealed for report in witness.heard]
    assert 0.1 < sum(shares) / len(shares) < 0.25
    positions = [report.position for report in witness.heard]
    assert positions == sorted(positions)
    assert all(report.ready_s is None or report.ready_s <= PROFILE.ready_limit_s for report in witness.compute)


def test_a_silent_second_is_worth_one():
    simulation = run("outage3", seconds=12)
    assert [row.opinion for row in simulation.rows[4:6]] == [1.0, 1.0]
    assert simulation.rows[1].opinion > 4
    assert simulation.summary["p10_opinion"] == 1.0


def test_repair_is_worth_its_bits():
    wide = Rung(bitrate=16_000, bandwidth=Bandwidth.WB, frame_ms=20)
    patient = replace(PROFILE, clean_playout_delay_s=0.25)

    def figures(protection: Protection):
        controller = FixedController(profile=patient, rung=wide, protection=protection)
        return run("random10", controller, seconds=30, profile=patient).summary

    bare, copied, asked = figures(Protection()), figures(Protection(copies=(3,))), figures(Protection(nack=True))
    assert copied["concealed_share"] < 0.2 * bare["concealed_share"]
    assert asked["concealed_share"] < 0.2 * bare["concealed_share"]
    assert copied["wire_kbps"] > bare["wire_kbps"] + 12
    assert bare["wire_kbps"] + 1 < asked["wire_kbps"] < copied["wire_kbps"]
    assert copied["mean_opinion"] > bare["mean_opinion"] + 0.3


def test_a_rate_that_gives_way_is_timed():
    figures = run("step40", load_controller("adaptive", profile=PROFILE)).summary
    assert 300 <= figures["reaction_ms"] <= 1500
    assert figures["down_changes"] >= 1
    assert run("step40").summary["reaction_ms"] is None


def test_a_controller_that_fails_is_not_scored():
    class Broken(Witness):
        def plan(self, now):
            return replace(super().plan(now), reason=Reason.ERROR if now > 107 else Reason.FORCED)

    with pytest.raises(ControllerFailed, match=r"2\.2 s"):
        run("clean", Broken())


def test_a_queue_is_answered_before_the_next_plan_is_due():
    asked = []

    class Asked(Witness):
        def plan(self, now):
            asked.append(now)
            return super().plan(now)

    run("step24", Asked())
    calm = [now for now in asked if 105 <= now < 108]
    hurried = [now for now in asked if 110 <= now < 113]
    assert len(calm) == 15
    assert len(hurried) > 40


def test_a_long_wait_for_the_first_word_is_silence():
    blocked = parse("blocked", 'says = "Nothing for 3 s."\n[[step]]\nat_s = 0\nloss = 1\n[[step]]\nat_s = 3\nloss = 0')
    simulation = run(blocked, seconds=8)
    assert simulation.summary["silence_added_s"] == pytest.approx(2.5, abs=0.3)
    assert simulation.rows[0].opinion == 1.0


def test_what_is_never_heard_is_lost_and_silent():
    dead = parse("dead", 'says = "Nothing, ever."\n[[step]]\nat_s = -5\ndirection = "both"\nloss = 1')
    figures = run(dead, seconds=6).summary
    assert figures["mean_opinion"] == 1.0
    assert figures["silence_added_s"] == figures["lost_speech_s"] == 6.0
    assert figures["mean_delay_ms"] is None


def test_it_is_a_hundred_times_faster_than_life():
    began = time.process_time()
    run("random10", load_controller("adaptive", profile=PROFILE), seconds=60)
    assert 65 / (time.process_time() - began) > 100


def test_what_is_lost_of_a_pause_is_neither_lost_nor_silent():
    path, fixed = load("outage3"), Witness
    whole = simulate(path, fixed(), profile=PROFILE, seconds=12, seed=3).summary
    paused = simulate(path, fixed(), profile=PROFILE, seconds=12, seed=3, pauses=((3.5, 4.5), (8.0, 9.0))).summary
    assert whole["lost_speech_s"] - paused["lost_speech_s"] == pytest.approx(1.0, abs=0.03)
    assert whole["silence_added_s"] - paused["silence_added_s"] == pytest.approx(1.0, abs=0.03)
    assert whole["mean_opinion"] == paused["mean_opinion"]
