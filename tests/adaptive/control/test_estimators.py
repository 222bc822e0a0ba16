"""Loss, queueing, capacity, freshness and the gate, each alone."""

import random

import pytest

from adaptive.control import Arrival, NetworkReport, Source
from adaptive.control.arrivals import Arrivals
from adaptive.control.capacity import FLOOR, USED, CapacityEstimate
from adaptive.control.freshness import Age, Freshness
from adaptive.control.gate import Gate
from adaptive.control.gradient import Trendline, rises, slope
from adaptive.control.loss import OUTAGE_PACKETS, PRIOR_BURST, Gilbert, LossEstimate
from adaptive.control.queueing import QueueWatch


def test_loss_is_followed_fast_and_slowly_and_known_at_once_where_nothing_came_before() -> None:
    loss = LossEstimate()
    for n in range(12):
        loss.observe(n * 0.25, 0.1, 12)
    assert 0.06 < loss.fast < 0.1
    assert 0.08 < loss.slow < 0.1
    for n in range(12, 400):
        loss.observe(n * 0.25, 0.0, 12)
    for n in range(400, 408):
        loss.observe(n * 0.25, 0.1, 12)
    assert 0.05 < loss.fast < 0.1
    assert 0.01 < loss.slow < 0.025


def test_one_lost_packet_is_not_planned_for() -> None:
    loss = LossEstimate()
    for n in range(60):
        loss.observe(n * 0.25, 0.2 if n == 20 else 0.0, 5)
    assert loss.share < 0.005
    assert loss.known == 300


def test_ten_seconds_without_loss_end_it() -> None:
    loss = LossEstimate()
    for n in range(100):
        loss.observe(n * 0.1, 0.1, 5, (True, False, False, False, False) * (n % 2) or (False,) * 5)
    assert loss.share == pytest.approx(0.1, abs=0.02)
    for n in range(100, 202):
        loss.observe(n * 0.1, 0.0, 5, (False,) * 5)
    assert loss.share == 0.0


def test_bursts_are_fitted_on_single_fates_and_assumed_without() -> None:
    loss = LossEstimate()
    assert loss.burst == PRIOR_BURST
    rng = random.Random(1)
    for n in range(200):
        run = rng.randint(2, 6)
        loss.observe(n * 0.5, run / 25, 25, (True,) * run + (False,) * (25 - run))
    assert loss.burst == pytest.approx(4.0, abs=0.4)
    for n in range(200, 260):
        loss.observe(n * 0.5, 0.1, 20, (True, *(False,) * 9) * 2)
    assert loss.burst == pytest.approx(1.0, abs=0.1)


def test_an_outage_is_no_loss() -> None:
    loss = LossEstimate()
    loss.observe(0.0, 0.0, 50, (False,) * 50)
    loss.observe(1.0, 1.0, 60, (True,) * 60)
    loss.observe(2.0, 0.0, 50, (False,) * 50)
    assert loss.share == loss.fast == 0.0
    loss.observe(3.0, 0.2, 50, (True,) * (OUTAGE_PACKETS // 2) + (False,) * 40)
    assert loss.share > 0.02


def test_a_gilbert_channel_remembers() -> None:
    assert Gilbert(share=0.1, burst=1 / 0.9).memory == pytest.approx(0.0)
    assert Gilbert(share=0.1, burst=3).memory == pytest.approx(1 - 1 / 3 - 1 / 27)
    assert Gilbert(share=1.0, burst=1).memory == 1.0


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


def test_a_line_and_whether_it_rises_for_certain() -> None:
    assert slope([(0, 1), (1, 3), (2, 5)]) == pytest.approx(2)
    assert slope([(1, 1), (1, 3)]) == 0
    assert rises([(0.02 * n, 0.01 * n) for n in range(4)])
    assert not rises([(0.02 * n, 0.001 * n) for n in range(4)])
    assert not rises([(0.0, 0.0), (0.02, 0.05), (0.04, 0.02), (0.06, 0.06)])


def test_the_trend_line_tells_a_slow_queue_from_noise() -> None:
    rng = random.Random(4)
    trend, first = Trendline(), None
    for n in range(500):
        queue = max(0.0, 0.06 * (n - 250) * 0.02)
        trend.add(n * 0.02, queue + abs(rng.gauss(0, 0.002)))
        if n % 3 == 0 and trend.update() and first is None:
            first = n
    assert first is not None
    assert 250 < first < 300


def behind(capacity: float, *, before_s: float = 2.0, seconds: float = 1.0, size: int = 142) -> list[Arrival]:
    """Packets every 20 ms, from some moment on behind a bottleneck."""
    arrivals, busy = [], 0.0
    for n in range(round((before_s + seconds) / 0.02)):
        at = n * 0.02
        if at < before_s:
            arrivals.append(Arrival(at, 0.0, size))
        else:
            busy = max(busy, at) + 8 * size / capacity
            arrivals.append(Arrival(at, busy - at, size))
    return arrivals


def test_a_fast_queue_is_told_from_its_first_packets_and_so_is_how_it_empties() -> None:
    known = Arrivals()
    told = None
    for arrival in behind(40_000):
        known.add([arrival])
        if told is None and known.growing(0.01):
            told = arrival
    assert told is not None
    assert 2.0 < told.sent_at < 2.1
    emptying = known.emptying(0.01)
    assert emptying is not None
    assert emptying.tells
    assert emptying.rate == pytest.approx(40_000, rel=0.01)


def test_where_nothing_passes_any_more_nothing_is_told_until_that_lasts() -> None:
    known, told = Arrivals(), []
    for arrival in behind(8_000, seconds=4.0):
        known.add([arrival])
        if known.growing(0.01):
            told.append(arrival.sent_at + arrival.delay_s)
    assert told[0] > 2.0 + 2.0


@pytest.mark.parametrize("seed", range(5))
def test_late_packets_are_no_queue(seed) -> None:
    rng = random.Random(seed)
    known, last, told = Arrivals(), 0.0, 0
    for n in range(3000):
        at = n * 0.02
        last = max(last, at + max(0.0, rng.gauss(0.05, 0.03)))
        known.add([Arrival(at, last - at, 142)])
        told += n > 100 and known.growing(0.05 + 2 * known.jitter_s)
    assert told <= 3


def report(at, rtt=0.05, **facts) -> NetworkReport:
    return NetworkReport(at=at, source=Source.FEEDBACK, rtt_s=rtt, **facts)


def observe(capacity, *reports) -> CapacityEstimate:
    for r in reports:
        capacity.observe(r, sending=58_400, packet_bytes=146, lossy=0.0)
    return capacity


def congested_at(received: float) -> tuple[CapacityEstimate, float]:
    delays = [0.05] * 10 + [0.2, 0.4]
    reports = [report(n * 0.25, rtt, received_rate=received) for n, rtt in enumerate(delays)]
    return observe(CapacityEstimate(), *reports), 11 * 0.25


def test_congestion_cuts_to_what_arrived_and_drains_the_queue() -> None:
    capacity, _ = congested_at(50_000)
    assert capacity.rate == pytest.approx(0.95 * 50_000)
    assert capacity.congested
    assert capacity.budget is not None
    assert 0.5 * capacity.rate <= capacity.budget < 0.9 * capacity.rate


def test_packets_tell_the_capacity_within_a_quarter_second() -> None:
    capacity, arrivals = CapacityEstimate(), behind(40_000)
    for n in range(0, len(arrivals), 3):
        newest = arrivals[n : n + 3]
        observe(
            capacity,
            NetworkReport(
                at=newest[-1].sent_at + newest[-1].delay_s + 0.05,
                source=Source.TWCC,
                queue_delay_s=newest[-1].delay_s,
                sent_rate=56_800,
                arrivals=tuple(newest),
            ),
        )
        if capacity.rate is not None:
            break
    assert newest[-1].sent_at < 2.15
    assert capacity.rate == pytest.approx(0.95 * 40_000, rel=0.02)


def test_while_a_queue_stands_what_arrives_is_the_capacity() -> None:
    capacity, at = congested_at(50_000)
    observe(capacity, report(at + 0.1, 0.5, received_rate=30_000))
    assert capacity.rate == pytest.approx(0.95 * 30_000)


def test_the_estimate_never_falls_below_the_lowest_rung() -> None:
    assert congested_at(3_000)[0].rate == FLOOR


def test_it_grows_by_eight_percent_a_second_to_half_more_than_was_tried() -> None:
    capacity, at = congested_at(30_000)
    observe(capacity, report(at + 1, 0.05))
    assert not capacity.congested
    capacity.grow(at + 1, tested=20_800)
    capacity.grow(at + 2, tested=20_800)
    assert capacity.rate == pytest.approx(28_500 * 1.08)
    capacity.grow(at + 60, tested=20_800)
    assert capacity.rate == pytest.approx(1.5 * 20_800 + 10_000)
    capacity.grow(at + 61, tested=2_000)
    assert capacity.rate == pytest.approx(1.5 * 20_800 + 10_000)


def test_it_does_not_grow_in_congestion_nor_without_facts() -> None:
    capacity, at = congested_at(30_000)
    capacity.grow(at, tested=58_400)
    capacity.grow(at + 5, tested=58_400)
    assert capacity.rate == pytest.approx(28_500)
    observe(capacity, report(at + 5, 0.05))
    capacity.grow(at + 9, tested=58_400, fresh=False)
    assert capacity.rate == pytest.approx(28_500)


def test_what_was_carried_may_be_sent_until_the_next_cut() -> None:
    capacity, at = congested_at(30_000)
    observe(capacity, report(at + 1, 0.05))
    assert capacity.budget == pytest.approx(USED * 28_500)
    capacity.prove(46_000)
    assert capacity.budget == capacity.rate == 46_000
    capacity.cut(at + 5, 40_000, 0.05)
    assert capacity.budget == pytest.approx(USED * 38_000)


def test_without_delays_twice_less_arriving_than_was_sent_is_congestion() -> None:
    capacity = CapacityEstimate()
    for n in range(2):
        assert capacity.rate is None
        facts = {"received_rate": 28_000, "sent_rate": 58_000, "packets": 12, "loss": 0.0}
        observe(capacity, NetworkReport(at=n * 0.25, source=Source.FEEDBACK, **facts))
    assert capacity.rate == pytest.approx(0.95 * 28_000)


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
        gate.rose(now, 45_000)
        gate.fell(now + 2)
        now += 2
        assert gate.ceiling(now) == 45_000
        waits.append(next(s for s in range(100) if gate.ceiling(now + s) is None))
        now += waits[-1]
    assert waits == [8, 16, 32, 60, 60, 60]
    gate.rose(now, 45_000)
    gate.held(now + 8, 45_000)
    gate.fell(now + 20)
    assert gate.ceiling(now + 20) is None


def test_a_fall_long_after_a_rise_was_not_its_fault() -> None:
    gate = Gate()
    gate.rose(0.0, 45_000)
    gate.fell(9.0)
    assert gate.ceiling(9.0) is None
    assert not gate.open(12.9)
    assert gate.open(13.0)
