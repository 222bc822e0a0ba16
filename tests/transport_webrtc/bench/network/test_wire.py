"""Rates and the moment of getting under a capacity, on packets whose times and sizes are known."""

import numpy as np
import pytest

from transport_webrtc.bench.network.wire import Wire, under_capacity_after


def packets(*parts: tuple[float, float, float], every_s: float = 0.02) -> list[list[float | None]]:
    """(start, end, kb/s) after one another, as packets of 20 ms."""
    return [
        [at, kbps * 1000 / 8 * every_s, 0.0]
        for start, end, kbps in parts
        for at in np.arange(start, end - every_s / 2, every_s).round(6)
    ]


def test_rates_are_those_that_were_sent() -> None:
    wire = Wire.of(packets((0, 5, 60)), packets((0, 5, 20)))
    assert wire.kbps(0, 5) == pytest.approx(80)
    times, rates = wire.rates(0, 5)
    assert rates == pytest.approx(np.full(len(rates), 80), rel=0.05)
    assert (times[0], times[-1]) == pytest.approx((0.25, 4.75))


@pytest.mark.parametrize("reaction_s", [0.2, 0.5, 1.3])
def test_under_is_when_the_sender_went_under(reaction_s: float) -> None:
    wire = Wire.of(packets((-1, 3 + reaction_s, 60), (3 + reaction_s, 10, 25)))
    assert under_capacity_after(wire, 3, 9, 40) == pytest.approx(reaction_s, abs=0.1)


def test_coming_back_above_counts_as_never_having_been_under() -> None:
    wire = Wire.of(packets((-1, 3.2, 60), (3.2, 5, 25), (5, 6, 60), (6, 10, 25)))
    assert under_capacity_after(wire, 3, 9, 40) == pytest.approx(3.0, abs=0.15)


def test_one_that_does_not_yield_is_never_under() -> None:
    assert under_capacity_after(Wire.of(packets((-1, 10, 60))), 3, 9, 40) is None


def test_one_that_never_was_above_is_under_at_once() -> None:
    assert under_capacity_after(Wire.of(packets((-1, 10, 38))), 3, 9, 40) == 0


def test_one_packet_more_than_passes_is_no_excess() -> None:
    """Packets of 60 ms at 39 kb/s: windows of half a second hold 8 or 9 of them, 37 or 42 kb/s."""
    wire = Wire.of(packets((-1, 10, 39), every_s=0.06))
    _, rates = wire.rates(3, 9)
    assert max(rates) > 40
    assert under_capacity_after(wire, 3, 9, 40) == 0


def test_what_comes_after_the_capacity_is_back_does_not_count() -> None:
    wire = Wire.of(packets((-1, 3.2, 60), (3.2, 9, 25), (9, 12, 90)))
    assert under_capacity_after(wire, 3, 9, 40) == pytest.approx(0.2, abs=0.1)


def test_silence_is_under() -> None:
    assert under_capacity_after(Wire.of([]), 3, 9, 40) == 0
