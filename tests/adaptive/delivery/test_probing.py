"""What a path carries is found by two sizes of probes."""

import random
from collections.abc import Callable

import pytest

from adaptive.control.reports import NARROW_PATH
from adaptive.delivery.probing import EVERY_S, LARGE_BYTES, SMALL_BYTES, Probing

CLOCK_MS = 2**32 - 5_000
MESSAGE_COST = 93


def probe(
    probing: Probing, until: float, extra_s: Callable[[float, int], float | None], *, start: float = 0.0
) -> list[int]:
    """Answers come 50 ms after what is sent arrives, which is 50 ms and `extra_s(now, bytes)` later; None is lost."""
    now, number, sizes = start, 0, []
    while now < until:
        number += 1
        size = probing.ask(now, number)
        sizes.append(size)
        extra = extra_s(now, size)
        if extra is not None:
            arrives = now + 0.05 + extra
            back = arrives + 0.05
            probing.answered(back, largest=number, arrival=(CLOCK_MS + round(arrives * 1000)) % 2**32)
            now = back
        now = max(now + 0.001, probing.next_time())
    return sizes


@pytest.mark.parametrize("kbps", [8, 12, 24, 48])
def test_a_narrow_path_is_measured(kbps: float) -> None:
    probing = Probing()
    probe(probing, 4.0, lambda _, size: (size + MESSAGE_COST) * 8 / (kbps * 1000))
    assert probing.rate == pytest.approx(kbps * 1000, rel=0.05)


def test_a_wide_path_is_not_measured_any_further() -> None:
    probing = Probing()
    sizes = probe(probing, 30.0, lambda _, size: 0.001)
    assert probing.rate == NARROW_PATH
    assert len(sizes) <= 2 * (30 / EVERY_S + 2)
    assert sizes.count(SMALL_BYTES) == sizes.count(LARGE_BYTES)


def test_jitter_is_not_taken_for_a_narrow_path() -> None:
    chance = random.Random(4)
    probing, found = Probing(), []
    for begin in range(200):
        probe(probing, 3.0 * begin + 2.9, lambda _, size: max(0.0, chance.gauss(0.05, 0.03)), start=3.0 * begin)
        found.append(probing.rate)
    assert sum(rate < NARROW_PATH for rate in found if rate is not None) <= 4


def test_what_is_lost_is_asked_again() -> None:
    chance = random.Random(1)
    probing = Probing()
    probe(probing, 20.0, lambda _, size: None if chance.random() < 0.4 else (size + MESSAGE_COST) * 8 / 12_000)
    assert probing.rate == pytest.approx(12_000, rel=0.05)


def test_a_change_is_found_within_five_seconds_and_only_when_seen_twice() -> None:
    probing = Probing()
    probe(probing, 9.0, lambda _, size: 0.001)
    at: list[float] = []

    def extra(now: float, size: int) -> float:
        at.append(now)
        return (size + MESSAGE_COST) * 8 / 12_000

    probe(probing, 14.0, extra, start=9.0)
    assert probing.rate is not None
    assert probing.rate < 14_000
    single = Probing()
    probe(single, 30.0, lambda now, _: 0.4 if 10 < now < 13 else 0.001)
    assert single.rate == NARROW_PATH


def test_speech_ends_a_probe() -> None:
    probing = Probing()
    probing.ask(0.0, 7)
    probing.forget()
    assert not probing.answered(0.1, largest=7, arrival=0)
    assert probing.ask(5.0, 8) == SMALL_BYTES


def test_an_answer_that_comes_late_counts_and_is_waited_for_longer() -> None:
    probing = Probing()
    for number, size in ((1, SMALL_BYTES), (2, LARGE_BYTES)):
        at = number / 2
        assert probing.ask(at, number) == size
        if size == SMALL_BYTES:
            probing.answered(at + 0.1, largest=number, arrival=round((at + 0.05) * 1000))
    assert probing.next_time() == 2.5
    assert probing.ask(2.5, 3) == SMALL_BYTES
    assert probing.next_time() == 5.5
    assert probing.answered(3.0, largest=2, arrival=2950)
    assert probing.rate == pytest.approx(4800 / 1.9, rel=0.01), "it stood in a queue: that is no wide path"
    assert probing.waits_s(3.0) == 0.5
