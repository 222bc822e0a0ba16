import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quality.lab import Fate, Link, LinkSettings


def carry(link: Link[int], offers: list[tuple[float, int]]) -> dict[int, list[float]]:
    """Offers (time, size) in turn and asks at every time the link names: arrival times by number of the offer."""
    arrived: dict[int, list[float]] = {}

    def drain(until: float) -> None:
        while (at := link.next_time()) is not None and at <= until:
            for item in link.due(at):
                arrived.setdefault(item, []).append(at)

    for n, (now, size) in enumerate(offers):
        drain(now)
        link.offer(now, size, n)
    drain(1e9)
    return arrived


def every(gap_s: float, count: int, size: int = 200) -> list[tuple[float, int]]:
    return [(n * gap_s, size) for n in range(count)]


def test_nothing_set_does_nothing() -> None:
    link: Link[str] = Link()
    assert link.offer(5.0, 1200, "a") is Fate.CARRIED
    assert link.next_time() == 5.0
    assert link.due(5.0) == ["a"]
    assert link.next_time() is None


def test_delay_is_exact() -> None:
    arrived = carry(Link(LinkSettings(delay_ms=60)), every(0.02, 100))
    assert all(arrived[n] == [pytest.approx(n * 0.02 + 0.06)] for n in range(100))


@pytest.mark.parametrize(
    ("kind", "mean", "deviation"),
    [("normal", 0.1, 0.01), ("uniform", 0.1, 0.01 / 3**0.5), ("pareto", 0.1 + 0.01 / 1.5, None)],
)
def test_jitter_has_its_mean_and_deviation(kind: str, mean: float, deviation: float | None) -> None:
    link: Link[int] = Link(LinkSettings(delay_ms=100, jitter_ms=10, jitter=kind, reorder=True), seed=2)
    delays = [at[0] - n * 0.02 for n, at in carry(link, every(0.02, 5000)).items()]
    assert statistics.mean(delays) == pytest.approx(mean, abs=0.001)
    if deviation is not None:
        assert statistics.pstdev(delays) == pytest.approx(deviation, rel=0.05)


def test_packets_overtake_only_where_they_may() -> None:
    def order(reorder: bool) -> list[int]:
        link: Link[int] = Link(LinkSettings(delay_ms=50, jitter_ms=30, reorder=reorder), seed=1)
        return list(carry(link, every(0.005, 500)))

    assert order(False) == list(range(500))
    assert order(True) != list(range(500))


def test_a_shorter_delay_does_not_let_later_packets_overtake() -> None:
    link: Link[str] = Link(LinkSettings(delay_ms=200))
    link.offer(0.0, 200, "slow")
    link.set(delay_ms=0, now=0.1)
    link.offer(0.1, 200, "fast")
    assert link.due(0.15) == []
    assert link.due(0.2) == ["slow", "fast"]


@pytest.mark.parametrize("kbps", [24, 100, 1000])
def test_a_full_bottleneck_passes_its_rate(kbps: float) -> None:
    link: Link[int] = Link(LinkSettings(rate_kbps=kbps))
    gap = 200 * 8 / (kbps * 1000) / 2
    arrived = carry(link, every(gap, 5000))
    times = sorted(at[0] for at in arrived.values())
    assert (len(times) - 1) * 200 * 8 / (times[-1] - times[0]) == pytest.approx(kbps * 1000, rel=0.05)


def test_a_waiting_packet_waits_for_those_before_it_and_the_account_says_so() -> None:
    link: Link[int] = Link(LinkSettings(rate_kbps=80, overhead_bytes=28))
    for n in range(10):
        link.offer(0.0, 972, n)
    flow = link.flow(0.0)
    assert flow.queue_delay_ms == pytest.approx(1000)
    assert flow.queue_bytes == 10_000
    assert flow.capacity_kbps == 80
    assert link.due(0.55) == [0, 1, 2, 3, 4]
    assert link.flow(0.55).queue_delay_ms == pytest.approx(450)
    assert link.due(2.0) == [5, 6, 7, 8, 9]
    assert link.flow(2.0).queue_delay_max_ms == pytest.approx(1000)


def test_the_queue_drops_from_its_tail_what_it_cannot_hold() -> None:
    link: Link[int] = Link(LinkSettings(rate_kbps=8, queue_bytes=3000))
    fates = [link.offer(0.0, 1000, n) for n in range(5)]
    assert fates == [Fate.CARRIED] * 3 + [Fate.OVERFLOWED] * 2
    assert link.due(10.0) == [0, 1, 2]
    assert link.flow(10.0).overflow_packets == 2


def test_steps_change_the_rate_in_the_middle_of_a_packet() -> None:
    link: Link[str] = Link(LinkSettings(steps=((0, 80), (1, 8), (2, 80))), start=0.0)
    link.offer(0.95, 1000, "a")
    assert link.next_time() == pytest.approx(1.0 + 4000 / 8000)
    link.offer(0.95, 1000, "b")
    assert link.due(3.0) == ["a", "b"]
    assert link.flow(3.0).queue_delay_max_ms == pytest.approx((2.0 + 4000 / 80000 - 0.95) * 1000)


def test_a_step_to_nothing_holds_packets_until_capacity_returns() -> None:
    link: Link[str] = Link(LinkSettings(steps=((0, 80), (1, 0), (4, 80))), start=0.0)
    link.offer(2.0, 1000, "a")
    assert link.next_time() == pytest.approx(4.1)
    forever: Link[str] = Link(LinkSettings(steps=((0, 0),)))
    forever.offer(0.0, 1000, "a")
    assert forever.next_time() is None
    assert forever.flow(1.0).queue_delay_ms is None
    forever.set(now=5.0, steps=())
    assert forever.due(5.0) == ["a"]


def test_a_changed_rate_holds_for_the_rest_of_the_packet_in_service() -> None:
    link: Link[str] = Link(LinkSettings(rate_kbps=8))
    link.offer(0.0, 1000, "a")
    link.offer(0.0, 1000, "b")
    link.set(now=0.5, rate_kbps=80)
    assert link.next_time() == pytest.approx(0.55)
    link.set(now=0.525, rate_kbps=8)
    assert link.next_time() == pytest.approx(0.525 + 0.25)
    link.set(now=0.6, rate_kbps=None)
    assert link.due(0.6) == ["a", "b"]


def test_a_trace_passes_1504_bytes_an_opportunity_and_wastes_what_nobody_uses() -> None:
    link: Link[str] = Link(LinkSettings(trace=(10, 20, 30)), start=0.0)
    link.offer(0.001, 752, "a")
    link.offer(0.001, 752, "b")
    link.offer(0.001, 1600, "c")
    link.offer(0.012, 1408, "d")
    link.offer(0.012, 100, "e")
    assert carry_on(link) == [(0.01, ["a", "b"]), (0.03, ["c", "d"]), (0.04, ["e"])]
    link.offer(0.0605, 1504, "third cycle")
    assert carry_on(link) == [(0.07, ["third cycle"])]


def carry_on(link: Link[str]) -> list[tuple[float, list[str]]]:
    arrived = []
    while (at := link.next_time()) is not None:
        if items := link.due(at):
            arrived.append((round(at, 6), items))
    return arrived


def test_a_trace_has_its_mean_rate_over_many_cycles() -> None:
    trace = tuple(sorted([0, 3, 3, 9, 14, 40, 41, 77, 77, 100]))
    link: Link[int] = Link(LinkSettings(trace=trace, queue_bytes=60_000), start=0.0)
    arrived = carry(link, every(0.004, 10_000, size=700))
    times = sorted(at[0] for at in arrived.values())
    rate = len(times) * 700 * 8 / (times[-1] - times[0])
    assert rate == pytest.approx(len(trace) * 1504 * 8 / 0.1, rel=0.05)
    assert link.flow(40.0).capacity_kbps == pytest.approx(rate / 1000, rel=0.05)


def test_a_delay_trace_is_followed() -> None:
    link: Link[int] = Link(LinkSettings(delay_trace=((0, 10), (1, 200), (2, 20)), reorder=True), start=0.0)
    arrived = carry(link, [(0.5, 100), (1.5, 100), (2.5, 100), (99.0, 100)])
    assert [round((arrived[n][0] - at) * 1000) for n, at in enumerate((0.5, 1.5, 2.5, 99.0))] == [10, 200, 20, 20]


def test_duplicates_arrive_twice_and_are_counted_apart() -> None:
    link: Link[int] = Link(LinkSettings(duplicate=0.1), seed=5)
    arrived = carry(link, every(0.02, 5000))
    twice = sum(len(at) == 2 for at in arrived.values())
    assert twice / 5000 == pytest.approx(0.1, abs=0.015)
    assert (link.flow(200.0).delivered_packets, link.flow(200.0).duplicate_packets) == (5000, twice)


def test_a_refused_change_changes_nothing() -> None:
    link: Link[int] = Link(LinkSettings(delay_ms=10))
    with pytest.raises(ValueError, match="loss must be"):
        link.set(delay_ms=50, loss=2)
    assert link.settings == LinkSettings(delay_ms=10)


def test_time_that_runs_backwards_counts_as_the_latest_seen() -> None:
    link: Link[str] = Link(LinkSettings(delay_ms=10))
    link.offer(1.0, 100, "a")
    link.offer(0.5, 100, "b")
    assert link.due(0.2) == []
    assert link.due(1.01) == ["a", "b"]


settings_of_links = st.builds(
    LinkSettings,
    delay_ms=st.floats(0, 300),
    jitter_ms=st.floats(0, 100),
    jitter=st.sampled_from(["normal", "uniform", "pareto"]),
    reorder=st.booleans(),
    loss=st.floats(0, 0.5),
    burst=st.floats(1, 6),
    duplicate=st.floats(0, 0.5),
    rate_kbps=st.none() | st.floats(8, 2000),
    queue_bytes=st.integers(1504, 40_000),
    overhead_bytes=st.integers(0, 60),
    trace=st.just(()) | st.lists(st.integers(1, 300), min_size=1, max_size=30).map(lambda times: tuple(sorted(times))),
    steps=st.just(())
    | st.lists(st.tuples(st.floats(0, 3), st.floats(0, 500)), min_size=1, max_size=5).map(
        lambda steps: (*sorted(steps), (4.0, 100.0))
    ),
)


@settings(max_examples=80, deadline=None)
@given(
    first=settings_of_links,
    second=settings_of_links,
    gaps=st.lists(st.tuples(st.floats(0, 0.1), st.integers(1, 1500)), min_size=1, max_size=120),
    seed=st.integers(0, 1000),
)
def test_every_packet_is_delivered_lost_or_dropped_exactly_once(
    first: LinkSettings, second: LinkSettings, gaps: list[tuple[float, int]], seed: int
) -> None:
    link: Link[int] = Link(first, seed=seed)
    fates: list[Fate] = []
    arrived: list[int] = []
    now = 0.0
    for n, (gap, size) in enumerate(gaps):
        now += gap
        if n == len(gaps) // 2:
            link.set(now=now, **{name: getattr(second, name) for name in second.__dataclass_fields__})
        fates.append(link.offer(now, size, n))
        arrived += link.due(now)
        flow = link.flow(now)
        assert flow.offered_packets == n + 1
        assert flow.delivered_packets + flow.lost_packets + flow.overflow_packets + flow.transit_packets == n + 1
        assert flow.queue_bytes >= 0
    while (at := link.next_time()) is not None:
        assert at >= now
        now = at
        arrived += link.due(now)
    assert set(arrived) == {n for n, fate in enumerate(fates) if fate is Fate.CARRIED}
    assert all(arrived.count(n) in (1, 2) for n in set(arrived))
    flow = link.flow(now)
    assert (flow.lost_packets, flow.overflow_packets) == (fates.count(Fate.LOST), fates.count(Fate.OVERFLOWED))
    assert (flow.transit_packets, flow.queue_bytes) == (0, 0)
    assert len(arrived) == flow.delivered_packets + flow.duplicate_packets
    if not (first.reorder or second.reorder):
        assert arrived == sorted(arrived)
