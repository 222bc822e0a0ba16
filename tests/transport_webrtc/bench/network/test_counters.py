"""Shares and delays between readings of a receiver's counters."""

import pytest

from transport_webrtc.bench.network.counters import Counters

TICKS = [
    {"at": 0.0},
    {"at": 1.0, "totalSamplesReceived": 48_000, "concealedSamples": 0, "jitterBufferDelay": 480.0,
     "jitterBufferEmittedCount": 48_000},
    {"at": 2.0, "totalSamplesReceived": 96_000, "concealedSamples": 9_600, "jitterBufferDelay": 4_080.0,
     "jitterBufferEmittedCount": 84_000},
    {"at": 3.0, "totalSamplesReceived": 144_000, "concealedSamples": 9_600, "jitterBufferDelay": 8_880.0,
     "jitterBufferEmittedCount": 132_000},
]  # fmt: skip


def test_shares_and_delays_are_those_of_the_stretch_alone() -> None:
    counters = Counters(TICKS)
    assert counters.concealed_share(1, 2) == pytest.approx(0.2)
    assert counters.concealed_share(1, 3) == pytest.approx(0.1)
    assert counters.concealed_share(1.5, 2.5) == pytest.approx(0.1), "half of each second"
    assert counters.delay_s(1, 2) == pytest.approx(0.1)
    assert dict(counters.delays_s(0, 3)) == pytest.approx({2.0: 0.1, 3.0: 0.1})
    assert dict(counters.shares(0, 3)) == pytest.approx({2.0: 0.2, 3.0: 0.0})


def test_what_was_not_read_is_not_known() -> None:
    assert Counters([]).concealed_share(0, 1) is None
    assert Counters(TICKS).grown("nackCount", 0, 3) is None
    assert Counters(TICKS).delays_s(5, 9) == []
