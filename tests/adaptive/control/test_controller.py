"""The controller on a path of virtual time: what must hold, as steps of what the network does."""

from itertools import pairwise

import pytest

from adaptive.control import RUNGS, Bandwidth, Carrier, NetworkReport, Protection, Reason, Source, wire_rate
from adaptive.control.ladder import START

SEEDS = range(5)
NONE = Protection()
BEFORE = (START, "full")
"""32 kb/s fullband at 20 ms, and the best tier."""


def state(plan):
    return plan.rung, plan.tier


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("delay_s", [0.01, 0.05])
def test_ten_bad_seconds_move_everything_within_three_and_all_is_back_within_twenty_five(world, seed, delay_s) -> None:
    w = world(seed=seed).run(10, delay_s=delay_s)
    assert state(w.plan) == BEFORE
    w.run(20, capacity=28_000, loss=0.05).run(50, capacity=None, loss=0.0)
    fell = w.first(lambda p: wire_rate(p.rung) <= 26_000 and p.rung.bandwidth is Bandwidth.WB, after=10)
    assert fell <= 13
    assert w.first(lambda p: p.tier != "full", after=10) <= 13
    assert w.between(fell, fell + 1)[0].plan.reason is Reason.CONGESTED
    back = w.first(lambda p: state(p) == BEFORE, after=20)
    assert back <= 42
    assert all(state(entry.plan) == BEFORE for entry in w.between(back, 50))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_narrow_path_is_not_overfilled_from_one_report_after_the_first_sign(world, seed) -> None:
    w = world(seed=seed).run(10, capacity=100_000).run(16, capacity=30_000)
    sign = next(at for at, r in w.reports if isinstance(r, NetworkReport) and at > 10 and r.rtt_s > 0.1)
    after = [r for at, r in w.reports if isinstance(r, NetworkReport) and at > sign]
    fell = w.first(lambda p: wire_rate(p.rung) <= 30_000, after=10)
    assert fell <= sign + 0.25 + after[0].rtt_s
    assert all(wire_rate(e.plan.rung) <= 30_000 for e in w.between(fell, 16))
    assert w.between(15.9, 16)[0].queue_s < 0.1


def test_recovery_takes_less_than_twenty_seconds(world) -> None:
    w = world().run(10, capacity=30_000).run(40, capacity=None)
    assert w.first(lambda p: state(p) == BEFORE, after=10.5) <= 30


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("loss", [0.05, 0.1, 0.2])
def test_random_loss_is_protected_against_and_the_rate_stays(world, loss, wide) -> None:
    w = world(seed=3, wide=wide).run(10).run(40, loss=loss)
    before = wire_rate(START)
    assert all(e.plan.rung.bandwidth is Bandwidth.FB for e in w.log)
    assert all(wire_rate(e.plan.rung, e.plan.protection, loss=loss) >= before for e in w.log), "no less is sent"
    protected = w.first(lambda p: p.protection != NONE, after=10)
    assert protected <= 13
    after = w.between(protected, 40)
    assert all(e.plan.protection.copies or e.plan.protection.nack for e in after)
    assert not any(e.plan.protection.fec for e in after)
    assert after[0].plan.reason is Reason.LOSS
    w.run(70, loss=0.0)
    assert w.plan.protection == NONE
    assert state(w.plan) == BEFORE


@pytest.mark.parametrize("loss", [0.05, 0.1, 0.2])
def test_where_copies_are_not_taken_the_encoder_makes_them(world, loss) -> None:
    w = world()
    w.controller.on_carrier(Carrier.AUDIO, red=False, nack=False)
    w.run(10).run(40, loss=loss)
    protections = [e.plan.protection for e in w.between(20, 40)]
    assert all(p.fec and p.loss_hint >= 10 and not p.copies and not p.nack for p in protections)
    w.run(70, loss=0.0)
    assert w.plan.protection == NONE


@pytest.mark.parametrize("jitter_s", [0.0, 0.01, 0.03])
def test_without_loss_there_is_never_protection(world, jitter_s) -> None:
    w = world().run(10).run(30, jitter_s=jitter_s).run(40, capacity=45_000).run(60, capacity=None)
    assert not any(e.plan.protection.fec or e.plan.protection.loss_hint for e in w.log)
    assert not any(e.plan.protection != NONE for e in w.between(0, 30))


def test_single_lost_packets_bring_no_protection(world) -> None:
    w = world()
    for second in range(1, 30):
        w.run(second).run(second + 0.02, loss=1.0).run(second + 0.03, loss=0.0)
    assert not any(e.plan.protection.fec for e in w.log)


@pytest.mark.parametrize("seed", SEEDS)
def test_jitter_and_a_longer_path_are_no_congestion(world, seed) -> None:
    w = world(seed=seed).run(10).run(25, jitter_s=0.03).run(40, jitter_s=0.0, delay_s=0.15).run(60, delay_s=0.01)
    assert {state(e.plan) for e in w.log} == {BEFORE}


@pytest.mark.parametrize("profile", ["voice_chat", "narration", "navigation"])
def test_never_two_rises_within_four_seconds(world, profile) -> None:
    w = world(profile, seed=3)
    for n, (capacity, loss) in enumerate(
        [(None, 0), (28e3, 0.05), (None, 0.02), (40e3, 0), (None, 0), (30e3, 0.1)] * 3
    ):
        w.run(12 * (n + 1), capacity=capacity, loss=loss)
    rises = w.rises()
    assert len(rises) > 3
    assert min(b - a for a, b in pairwise(rises)) > 3.95


def test_one_axis_rises_at_a_time(world) -> None:
    w = world().run(10).run(20, capacity=28_000, loss=0.05).run(60, capacity=None, loss=0.0)
    for before, after in pairwise(w.between(14, 60)):
        up = (after.plan.rung.bitrate > before.plan.rung.bitrate) + (after.plan.tier != before.plan.tier)
        assert up <= 1


def test_under_a_square_wave_changes_become_rare(world) -> None:
    w = world()
    for n in range(48):
        w.run(5 * (n + 1), capacity=100_000 if n % 2 == 0 else 30_000)
    first, last = w.falls(0, 80), w.falls(160, 240)
    assert len(first) >= 2
    assert len(last) <= len(first) / 2
    assert max(e.queue_s for e in w.log) < 1.5


@pytest.mark.parametrize("capacity", [28_000, 40_000, 64_000])
def test_on_a_steady_narrow_path_probing_becomes_rare(world, capacity) -> None:
    w = world().run(180, capacity=capacity)
    assert len(w.falls(90, 180)) <= 4
    assert sorted(e.queue_s for e in w.between(30, 180))[1200] < 0.2


def test_the_same_reports_give_the_same_plans(world) -> None:
    w = world(seed=5).run(10).run(20, capacity=28_000, loss=0.05).run(40, capacity=None, jitter_s=0.02)
    again = world().controller
    replay = iter(w.reports)
    at, report = next(replay)
    for entry in w.log:
        while at <= entry.at:
            getattr(again, f"on_{type(report).__name__.removesuffix('Report').lower()}")(report)
            at, report = next(replay, (float("inf"), None))
        assert again.plan(entry.at) == entry.plan


def test_a_slow_model_falls_to_a_tier_it_can_afford_before_speech_runs_out(world) -> None:
    w = world(cost={"full": 1.2, "mixed": 0.7, "light": 0.4}).run(40)
    assert w.first(lambda p: p.tier == "mixed", after=0) < 7
    assert w.between(0, 40)[-1].plan.tier == "mixed"
    assert next(e.plan.reason for e in w.log if e.plan.tier == "mixed") is Reason.COMPUTE
    assert {e.plan.rung for e in w.log} == {START}


def test_a_model_that_slows_down_for_a_while_comes_back(world) -> None:
    w = world(cost={"full": 0.3, "mixed": 0.2, "light": 0.1}).run(5)
    w.cost = {"full": 1.5, "mixed": 1.2, "light": 0.6}
    w.run(15)
    assert w.plan.tier == "light"
    assert min(r.ready_s for at, r in w.reports if type(r).__name__ == "ComputeReport") > 0
    w.cost = {"full": 0.3, "mixed": 0.2, "light": 0.1}
    w.run(45)
    assert w.plan.tier == "full"
    assert w.plan.reason is Reason.HEADROOM


def test_no_reports_at_all_hold_the_start_and_then_fall_as_stale(world) -> None:
    w = world(feedback=False).run(30)
    assert {state(e.plan) for e in w.between(0, 7)} == {BEFORE}
    assert w.plan.rung == RUNGS[0]
    safe = w.first(lambda p: p.rung == RUNGS[2], after=0)
    assert 8 <= safe < w.first(lambda p: p.rung == RUNGS[0], after=0) <= 14
    assert w.plan.reason is Reason.STALE


def test_an_outage_freezes_then_falls_and_comes_back_without_taking_it_for_loss(world) -> None:
    w = world().run(10).run(20, silent=True).run(50, silent=False)
    assert {state(e.plan) for e in w.between(10, 12.5)} == {BEFORE}
    assert 13 <= w.first(lambda p: p.rung == RUNGS[2], after=10) <= 13.3
    assert 18 <= w.first(lambda p: p.rung == RUNGS[0], after=10) <= 18.3
    assert w.first(lambda p: state(p) == BEFORE, after=20) <= 42
    assert not any(e.plan.protection.fec for e in w.log)


def test_round_trips_alone_are_enough(world) -> None:
    def rtt_alone(report):
        return NetworkReport(at=report.at, source=Source.FEEDBACK, rtt_s=report.rtt_s)

    w = world(see=rtt_alone).run(10).run(20, capacity=28_000).run(50, capacity=None)
    assert w.first(lambda p: wire_rate(p.rung) < 28_000, after=10) <= 14
    assert state(w.plan) == BEFORE


def test_receiver_reports_alone_are_enough(world) -> None:
    seen = [0.0]

    def rtcp(report):
        if report.at - seen[0] < 5:
            return None
        seen[0] = report.at
        return NetworkReport(at=report.at, source=Source.RTCP, rtt_s=report.rtt_s, loss=report.loss, packets=250)

    w = world(see=rtcp).run(60)
    assert {state(e.plan) for e in w.log} == {BEFORE}
    w.run(100, capacity=28_000)
    assert w.first(lambda p: wire_rate(p.rung) < 28_000, after=60) <= 75


def test_one_way_delays_alone_are_enough(world) -> None:
    def twcc(report):
        return NetworkReport(at=report.at, source=Source.TWCC, queue_delay_s=report.queue_delay_s)

    w = world(see=twcc).run(10).run(20, capacity=28_000).run(50, capacity=None)
    assert w.first(lambda p: wire_rate(p.rung) < 28_000, after=10) <= 12
    assert state(w.plan) == BEFORE


def test_a_policer_without_a_queue_is_found_by_its_loss(world) -> None:
    w = world().run(10).run(60, capacity=30_000, queue_bytes=600)
    assert w.first(lambda p: wire_rate(p.rung) <= 30_000, after=10) <= 15
    assert sum(wire_rate(e.plan.rung) <= 31_000 for e in w.between(15, 60)) > 300


def test_while_nothing_sounds_a_low_estimate_fades(world) -> None:
    w = world().run(10, capacity=28_000)
    w.sounding = False
    w.run(35, capacity=None)
    assert state(w.plan) == BEFORE
