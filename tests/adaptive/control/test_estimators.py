"""Loss, queueing, capacity, freshness and the gate, each alone."""

import itertools
import random

import pytest

from adaptive.control import NetworkReport, Source
from adaptive.control.capacity import FLOOR, CapacityEstimate
from adaptive.control.freshness import Age, Freshness
from adaptive.control.gate import Gate
from adaptive.control.loss import UNKNOWN_BURST, LossEstimate
from adaptive.control.queueing import QueueWatch


def test_loss_is_followed_fast_and_slowly() -> None:
    loss = LossEstimate()
    for n in range(12):
        loss.observe(n * 0.25, 0.1, 12)
    assert 0.09 < loss.fast < 0.1
    assert 0.02 < loss.slow < 0.03


def test_a_lost_packet_among_few_weighs_little() -> None:
    loss = LossEstimate()
    for n in range(40):
        loss.observe(n * 0.25, 1.0 if n == 20 else 0.0, 1)
        assert loss.protection() is None
    assert loss.fast < 0.06


def test_protection_comes_and_goes_at_paired_thresholds_and_the_hint_moves_in_steps() -> None:
    loss, hints = LossEstimate(), []
    for n in range(200):
        loss.observe(n * 0.25, 0.12 if n < 100 else 0.0, 12)
        protection = loss.protection()
        hints.append(protection.loss_hint if protection else 0)
    assert hints[0] == 0
    assert hints[99] == 15
    assert hints[-1] == 0
    assert sum(a != b for a, b in itertools.pairwise(hints)) <= 4
    off = hints.index(0, 100)
    assert loss.slow < 0.02
    assert off > 130


def test_bursts_are_measured_from_single_fates_and_assumed_without() -> None:
    loss = LossEstimate()
    assert loss.burst == UNKNOWN_BURST
    loss.observe(1.0, 0.3, 10, (True, True, True, False, None, False, True, False, False, False))
    assert loss.burst == 2.0


def watch_over(delays, every_s=0.25, **facts) -> tuple[QueueWatch, list[float]]:
    watch = QueueWatch()
    return watch, [n * every_s for n, delay in enumerate(delays) if watch.observe(n * every_s, delay, **facts)]


def test_a_growing_queue_is_told_at_the_second_sign() -> None:
    watch, signs = watch_over([0.05] * 20 + [0.05 + 0.06 * n for n in range(1, 9)])
    assert signs[0] == pytest.approx(21 * 0.25)
    assert watch.congested


def test_a_slow_queue_is_told_before_it_is_long() -> None:
    delays = [0.05] * 40 + [0.05 + 0.005 * n for n in range(80)]
    _, signs = watch_over(delays)
    assert delays[round(signs[0] / 0.25)] < 0.05 + 0.12


def test_a_longer_path_is_no_queue_and_neither_is_a_shorter_one() -> None:
    watch, signs = watch_over([0.05] * 20 + [0.25] * 20 + [0.02] * 20 + [0.04] * 20)
    assert signs == []
    assert not watch.suspicious


def test_after_a_longer_path_a_queue_on_top_of_it_is_seen() -> None:
    _, signs = watch_over([0.05] * 20 + [0.25] * 20 + [0.25 + 0.06 * n for n in range(6)])
    assert len(signs) >= 1


def test_one_late_answer_is_nothing_and_a_very_late_one_is_enough() -> None:
    assert watch_over(([0.05] * 10 + [0.2]) * 5)[1] == []
    assert watch_over([0.05] * 10 + [0.9])[1] == [2.5]


@pytest.mark.parametrize("seed", range(10))
def test_noise_is_learnt(seed) -> None:
    rng = random.Random(seed)
    noise = [0.05 + abs(rng.gauss(0.05, 0.03)) for _ in range(400)]
    _, signs = watch_over(noise, jitter_s=0.03)
    assert signs == []


def test_a_queue_that_drains_asks_for_nothing_more_and_ends() -> None:
    watch, signs = watch_over([0.05] * 10 + [0.3, 0.6] + [0.6 - 0.05 * n for n in range(1, 12)])
    assert len(signs) == 1
    assert not watch.congested


def test_a_delay_that_stays_although_less_is_sent_becomes_the_new_calm() -> None:
    watch, signs = watch_over([0.05] * 10 + [0.3, 0.32] + [0.31, 0.32] * 10)
    assert len(signs) == 1
    assert not watch.congested
    assert watch.excess_s < 0.02


def report(at, rtt=0.05, **facts) -> NetworkReport:
    return NetworkReport(at=at, source=Source.FEEDBACK, rtt_s=rtt, **facts)


def congested_at(received: float) -> tuple[CapacityEstimate, float]:
    capacity = CapacityEstimate()
    for n in range(12):
        rtt = 0.05 if n < 10 else 0.2 + 0.2 * (n - 10)
        capacity.observe(report(n * 0.25, rtt, received_rate=received), sending=58_400, packet_bytes=146, lossy=0.0)
    return capacity, 11 * 0.25


def test_congestion_cuts_to_a_share_of_what_arrived_and_drains_the_queue() -> None:
    capacity, _ = congested_at(50_000)
    assert capacity.rate == pytest.approx(0.85 * 50_000)
    assert capacity.congested
    assert capacity.budget is not None
    assert 0.5 * capacity.rate <= capacity.budget < 0.9 * capacity.rate


def test_while_a_queue_stands_what_arrives_is_the_capacity() -> None:
    capacity, at = congested_at(50_000)
    capacity.observe(report(at + 0.1, 0.5, received_rate=30_000), sending=58_400, packet_bytes=146, lossy=0.0)
    assert capacity.rate == pytest.approx(0.95 * 30_000)


def test_the_estimate_never_falls_below_the_lowest_rung() -> None:
    assert congested_at(3_000)[0].rate == FLOOR


def test_it_grows_by_eight_percent_a_second_to_half_more_than_was_tried() -> None:
    capacity, at = congested_at(30_000)
    capacity.observe(report(at + 1, 0.05), sending=20_800, packet_bytes=156, lossy=0.0)
    assert not capacity.congested
    capacity.grow(at + 1, tested=20_800)
    capacity.grow(at + 2, tested=20_800)
    assert capacity.rate == pytest.approx(25_500 * 1.08)
    capacity.grow(at + 60, tested=20_800)
    assert capacity.rate == pytest.approx(1.5 * 20_800 + 10_000)
    capacity.grow(at + 61, tested=2_000)
    assert capacity.rate == pytest.approx(1.5 * 20_800 + 10_000)


def test_it_does_not_grow_in_congestion_nor_without_facts() -> None:
    capacity, at = congested_at(30_000)
    capacity.grow(at, tested=58_400)
    capacity.grow(at + 5, tested=58_400)
    assert capacity.rate == pytest.approx(25_500)
    capacity.observe(report(at + 5, 0.05), sending=20_800, packet_bytes=156, lossy=0.0)
    capacity.grow(at + 9, tested=58_400, fresh=False)
    assert capacity.rate == pytest.approx(25_500)


def test_without_delays_twice_less_arriving_than_was_sent_is_congestion() -> None:
    capacity = CapacityEstimate()
    for n in range(2):
        assert capacity.rate is None
        facts = {"received_rate": 28_000, "sent_rate": 58_000, "packets": 12, "loss": 0.0}
        capacity.observe(
            NetworkReport(at=n * 0.25, source=Source.FEEDBACK, **facts), sending=58_400, packet_bytes=146, lossy=0.0
        )
    assert capacity.rate == pytest.approx(0.85 * 28_000)


def test_a_better_source_silences_the_others_while_it_is_fresh() -> None:
    fresh = Freshness()
    assert fresh.accept(report(1.0))
    assert not fresh.accept(NetworkReport(at=2.0, source=Source.RTCP, rtt_s=0.1))
    assert fresh.accept(NetworkReport(at=4.5, source=Source.RTCP, rtt_s=0.1))
    assert fresh.accept(NetworkReport(at=5.0, source=Source.TWCC, queue_delay_s=0.0))
    assert not fresh.accept(report(5.1))


def test_what_is_older_than_the_newest_is_left_out() -> None:
    fresh = Freshness()
    assert fresh.accept(report(2.0))
    assert not fresh.accept(report(1.9))


def test_ages_follow_the_usual_gap_of_rare_sources() -> None:
    often, seldom = Freshness(), Freshness()
    for n in range(6):
        often.accept(report(n * 0.25))
        seldom.accept(NetworkReport(at=n * 7.0, source=Source.RTCP, rtt_s=0.1))
    assert [often.age(1.25 + s) for s in (1, 2, 4, 9)] == [Age.FRESH, Age.FROZEN, Age.SAFE, Age.LOWEST]
    assert [seldom.age(35 + s) for s in (9, 12, 20, 30)] == [Age.FRESH, Age.FROZEN, Age.SAFE, Age.LOWEST]


def test_a_failed_rise_doubles_the_wait_there_and_a_held_one_is_forgiven() -> None:
    gate, now, waits = Gate(), 0.0, []
    for _ in range(6):
        gate.rose(now, 3)
        gate.fell(now + 2)
        now += 2
        assert gate.ceiling(now) == 2
        waits.append(next(s for s in range(100) if gate.ceiling(now + s) is None))
        now += waits[-1]
    assert waits == [8, 16, 32, 60, 60, 60]
    gate.rose(now, 3)
    gate.held(now + 8, 3)
    gate.fell(now + 20)
    assert gate.ceiling(now + 20) is None


def test_a_fall_long_after_a_rise_was_not_its_fault() -> None:
    gate = Gate()
    gate.rose(0.0, 3)
    gate.fell(9.0)
    assert gate.ceiling(9.0) is None
    assert not gate.open(12.9)
    assert gate.open(13.0)
