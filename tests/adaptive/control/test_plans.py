"""What every plan carries, whatever comes in; the fixed controller; controllers by name; a controller that fails."""

import logging
from importlib.metadata import EntryPoint

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.control import (
    PROFILES,
    RUNGS,
    AdaptiveController,
    Bandwidth,
    Carrier,
    ComputeReport,
    ContentReport,
    FixedController,
    HeardReport,
    NetworkReport,
    Plan,
    Protection,
    Reason,
    Rung,
    Source,
    load_controller,
    registry,
)
from adaptive.control.ahead import AHEAD_RUNGS
from adaptive.control.guard import Guarded
from adaptive.control.ladder import START

CHAT = PROFILES["voice_chat"]


def test_the_first_plan_is_the_start_with_what_the_profile_asks() -> None:
    for profile in PROFILES.values():
        plan = AdaptiveController(profile=profile).plan(100.0)
        assert (plan.rung, plan.tier, plan.reason) == (START, "full", Reason.START)
        assert plan.playout_delay_s == profile.clean_playout_delay_s
        assert plan.protection == Protection()


def test_while_nothing_changes_the_plan_is_the_same_object() -> None:
    controller = AdaptiveController(profile=CHAT)
    assert controller.plan(0.0) is controller.plan(0.1)


def test_the_tier_is_one_of_the_sounding_voices() -> None:
    controller = AdaptiveController(profile=CHAT)
    controller.plan(0.0)
    controller.on_compute(ComputeReport(at=0.1, tiers=("best", "cheap")))
    assert controller.plan(0.1).tier == "best"
    controller.on_compute(ComputeReport(at=0.2, tiers=()))
    assert controller.plan(0.2).tier == "best"


def test_the_data_track_has_lead_and_neither_playout_delay_nor_fec() -> None:
    controller = AdaptiveController(profile=CHAT)
    for n in range(40):
        controller.on_network(NetworkReport(at=n * 0.25, source=Source.FEEDBACK, rtt_s=0.05, loss=0.1, packets=12))
        plan = controller.plan(n * 0.25)
    assert plan.protection.copies
    controller.on_carrier(Carrier.DATA)
    for n in range(40):
        plan = controller.plan(10 + n * 0.1)
        assert (plan.carrier, plan.lead_s, plan.playout_delay_s) == (Carrier.DATA, CHAT.lead_s, None)
        assert plan.protection == Protection()


def test_a_top_above_the_start_is_climbed_to_only_on_facts() -> None:
    silent, heard = (AdaptiveController(profile=CHAT, start=RUNGS[3], top=RUNGS[7]) for _ in range(2))
    for n in range(100):
        heard.on_network(NetworkReport(at=n * 0.1, source=Source.FEEDBACK, rtt_s=0.05, loss=0.0, packets=5))
        plans = silent.plan(n * 0.1), heard.plan(n * 0.1)
    assert plans[0].rung.bitrate <= RUNGS[3].bitrate
    assert plans[1].rung == RUNGS[7]
    assert plans[1].reason is Reason.HEADROOM


maybe = st.none() | st.floats(0, 10, allow_nan=False)
share = st.none() | st.floats(0, 1)
events = st.one_of(
    st.builds(
        NetworkReport,
        at=st.floats(0, 60),
        source=st.sampled_from(Source),
        rtt_s=maybe,
        loss=share,
        packets=st.none() | st.integers(0, 500),
        jitter_s=maybe,
        queue_delay_s=maybe,
        received_rate=st.none() | st.floats(0, 1e6),
        sent_rate=st.none() | st.floats(0, 1e6),
        lost_mask=st.none() | st.lists(st.none() | st.booleans(), max_size=20).map(tuple),
    ),
    st.builds(
        ComputeReport,
        at=st.floats(0, 60),
        tiers=st.sampled_from([(), ("a",), ("a", "b"), ("x", "y", "z")]),
        cost=st.dictionaries(st.sampled_from("abxyz"), st.floats(0, 5), max_size=3),
        ready_s=maybe,
        target_s=maybe,
        rendering=st.booleans(),
        queue_s=maybe,
    ),
    st.builds(ContentReport, at=st.floats(0, 60), sounding=st.booleans(), remaining_s=maybe),
    st.builds(HeardReport, at=st.floats(0, 60), concealed=share, buffered_s=maybe),
    st.sampled_from(Carrier),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), events), max_size=60))
def test_whatever_is_reported_in_whatever_order_the_plan_is_one_that_can_be_carried_out(steps) -> None:
    controller, now, tiers = AdaptiveController(profile=CHAT), 0.0, {"full"}
    for wait, event in steps:
        now += wait
        name = "carrier" if isinstance(event, Carrier) else type(event).__name__.removesuffix("Report").lower()
        getattr(controller, f"on_{name}")(event)
        if isinstance(event, ComputeReport) and event.tiers:
            tiers = set(event.tiers)
        plan = controller.plan(now)
        assert plan.reason in set(Reason) - {Reason.ERROR}
        ladder = AHEAD_RUNGS[:6] if plan.carrier is Carrier.DATA else RUNGS[:8]
        assert (plan.rung.bitrate, plan.rung.frame_ms) in {(r.bitrate, r.frame_ms) for r in ladder}
        assert plan.tier in tiers
        assert bool(plan.protection.loss_hint) == plan.protection.fec
        assert not plan.protection.fec or plan.rung.bitrate >= 24_000
        assert plan.playout_delay_s is None or plan.playout_delay_s <= CHAT.playout_delay_s


class Breaking:
    """A controller whose every move fails once `broken` is set."""

    broken = False

    def __getattr__(self, name):
        if name.startswith("on_") and self.broken:
            raise RuntimeError(f"{name} is broken")
        return lambda report: None

    def plan(self, now):
        if self.broken:
            raise ZeroDivisionError("the decision is broken")
        return Plan(rung=RUNGS[2], tier="mixed", reason=Reason.STEADY)


def test_when_a_controller_fails_the_last_plan_holds_with_the_reason_error(caplog) -> None:
    inner = Breaking()
    guarded = Guarded(inner, safe=Plan(rung=RUNGS[0], tier="full", reason=Reason.START))
    assert guarded.plan(0.0).reason is Reason.STEADY
    inner.broken = True
    with caplog.at_level(logging.ERROR):
        for n in range(5):
            guarded.on_network(NetworkReport(at=float(n), source=Source.RTCP))
            guarded.on_carrier(Carrier.DATA)
            plan = guarded.plan(float(n))
    assert (plan.rung, plan.tier, plan.reason) == (RUNGS[2], "mixed", Reason.ERROR)
    assert len(caplog.records) == 3
    assert "the decision is broken" in caplog.text
    inner.broken = False
    assert guarded.plan(9.0).reason is Reason.STEADY


def test_a_controller_that_fails_from_the_start_leaves_the_safe_plan() -> None:
    inner = Breaking()
    inner.broken = True
    plan = Guarded(inner, safe=Plan(rung=RUNGS[0], tier="full", reason=Reason.START)).plan(0.0)
    assert (plan.rung, plan.reason) == (RUNGS[0], Reason.ERROR)


def test_the_fixed_controller_changes_nothing_but_carrier_and_the_name_of_the_best_tier() -> None:
    protection = Protection(fec=True, loss_hint=20)
    fixed = FixedController(profile=CHAT, rung=RUNGS[3], protection=protection)
    fixed.on_network(NetworkReport(at=0.0, source=Source.TWCC, rtt_s=9.0, loss=1.0, packets=50))
    fixed.on_compute(ComputeReport(at=0.0, tiers=("best", "cheap"), cost={"best": 9.0}, ready_s=0.0, rendering=True))
    plan = fixed.plan(100.0)
    assert (plan.rung, plan.protection, plan.tier, plan.reason) == (RUNGS[3], protection, "best", Reason.FORCED)
    fixed.on_carrier(Carrier.DATA)
    assert (fixed.plan(0.0).lead_s, fixed.plan(0.0).playout_delay_s) == (CHAT.lead_s, None)
    named = FixedController(profile=CHAT, tier="cheap")
    named.on_compute(ComputeReport(at=0.0, tiers=("best", "cheap")))
    assert named.plan(0.0).tier == "cheap"


def test_controllers_are_found_by_name() -> None:
    assert isinstance(load_controller("adaptive", profile=CHAT), AdaptiveController)
    assert isinstance(load_controller("fixed", profile=CHAT), FixedController)
    assert load_controller("fixed:24000", profile=CHAT).plan(0.0).rung == Rung(
        bitrate=24_000, bandwidth=Bandwidth.FB, frame_ms=20
    )
    protected = load_controller("fixed:32000+fec", profile=CHAT).plan(0.0)
    assert protected.protection == Protection(fec=True, loss_hint=10)


@pytest.mark.parametrize(
    "name", ["nonesuch", "fixed:", "fixed:fast", "fixed:24000+red", "fixed:1", "adaptive:24000", ""]
)
def test_what_there_is_not_is_refused_in_a_sentence(name) -> None:
    with pytest.raises(ValueError, match=r"^[A-Z].*\.$"):
        load_controller(name, profile=CHAT)


def test_other_distributions_add_controllers(monkeypatch) -> None:
    point = EntryPoint(name="mine", group=registry.GROUP, value="adaptive.control.fixed:FixedController")

    def points(**wanted):
        return [p for p in [point] if all(getattr(p, key) == value for key, value in wanted.items())]

    monkeypatch.setattr(registry, "entry_points", points)
    assert isinstance(load_controller("mine", profile=CHAT), FixedController)
    assert registry.available() == ("adaptive", "fixed", "mine")
