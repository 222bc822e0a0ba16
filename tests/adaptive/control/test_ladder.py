"""What a rung costs on the wire."""

from itertools import pairwise

import pytest

from adaptive.control import RUNGS, Bandwidth, Protection, Rung, expected, wire_rate
from adaptive.control.ladder import LOWEST, SAFE, START, with_fec, without_fec


def test_overhead_is_26_13_and_9_kilobits() -> None:
    for frame_ms, overhead in ((20, 26_400), (40, 13_200), (60, 8_800)):
        rung = Rung(bitrate=20_000, bandwidth=Bandwidth.WB, frame_ms=frame_ms)
        assert wire_rate(rung) == pytest.approx(20_000 + overhead)


def test_each_rung_costs_more_than_the_one_below_and_is_no_worse() -> None:
    for lower, upper in pairwise(RUNGS):
        assert wire_rate(lower) < wire_rate(upper)
        assert expected(lower) <= expected(upper) + 0.03
        assert not (lower.bandwidth is Bandwidth.FB and upper.bandwidth is Bandwidth.WB)
    assert [str(rung) for rung in (LOWEST, SAFE, START)] == ["12k WB 60ms", "16k WB 40ms", "32k FB 20ms"]


def test_a_copy_costs_its_payload_and_a_header() -> None:
    rung = Rung(bitrate=16_000, bandwidth=Bandwidth.WB, frame_ms=20)
    assert wire_rate(rung, Protection(copies=(6,))) - wire_rate(rung) == pytest.approx(16_000 + 4 * 8 * 50)
    assert wire_rate(rung, Protection(fec=True, loss_hint=10)) == wire_rate(rung)


def test_what_is_sent_again_costs_its_share() -> None:
    nack = Protection(nack=True)
    assert wire_rate(START, nack, loss=0.1) == pytest.approx(1.1 * wire_rate(START))
    assert wire_rate(START, loss=0.1) == wire_rate(START, nack) == wire_rate(START)


def test_fec_takes_fullband_below_32_kilobits_and_gives_it_back() -> None:
    narrowed = with_fec(RUNGS[4])
    assert (narrowed.bandwidth, narrowed.bitrate) == (Bandwidth.WB, 24_000)
    assert without_fec(narrowed) == RUNGS[4]
    assert with_fec(START) == START == without_fec(START)
    assert with_fec(RUNGS[0]) == RUNGS[0]
