"""What the listener is asked to hold."""

from itertools import pairwise

import pytest

from adaptive.control import PROFILES, Arrival, HeardReport
from adaptive.control.lateness import Lateness
from adaptive.control.playout import EVERY_S, UNNEEDED_S, PlayoutDelay

CHAT = PROFILES["voice_chat"]


def speaking() -> PlayoutDelay:
    playout = PlayoutDelay(CHAT)
    playout.sounding(0.0, True)
    return playout


def test_what_is_needed_is_asked_at_once_within_the_profile() -> None:
    playout = speaking()
    assert playout.decide(0.0, 0.06) == CHAT.clean_playout_delay_s
    assert playout.decide(0.1, 0.18) == 0.18
    assert playout.decide(0.2, 1.0) == CHAT.playout_delay_s
    assert playout.decide(0.3, 0.0) == CHAT.playout_delay_s


def test_in_speech_it_is_lowered_late_and_step_by_step() -> None:
    playout = speaking()
    playout.decide(0.0, 0.18)
    asked = [(t / 10, playout.decide(t / 10, 0.06)) for t in range(1, 200)]
    lowered = [(at, after) for (_, before), (at, after) in pairwise(asked) if after != before]
    assert [at for at, _ in lowered] == pytest.approx(
        [UNNEEDED_S, UNNEEDED_S + EVERY_S, UNNEEDED_S + 2 * EVERY_S], abs=0.15
    )
    assert [after for _, after in lowered] == [0.14, 0.1, 0.06]


def test_in_two_seconds_of_silence_it_is_lowered_at_once() -> None:
    playout = speaking()
    playout.decide(5.0, 0.3)
    playout.sounding(6.0, False)
    assert playout.decide(7.9, 0.06) == 0.3
    assert playout.decide(8.0, 0.06) == 0.06


def arrivals(delays_ms) -> list[Arrival]:
    return [Arrival(n * 0.02, delay / 1000, 140) for n, delay in enumerate(delays_ms)]


def test_lateness_is_told_from_few_packets_on_and_forgotten() -> None:
    lateness = Lateness()
    lateness.add(0.0, arrivals([0, 50] * 5), rate=None)
    assert lateness.spread_s is None
    lateness.add(1.0, arrivals([0, 50] * 50), rate=None)
    assert lateness.spread_s == pytest.approx(1.3 * 0.05)
    for second in range(2, 60):
        lateness.add(second, arrivals([0] * 50), rate=None)
    assert lateness.spread_s == 0.0


def test_packets_that_a_narrow_path_lets_through_slowly_are_not_late() -> None:
    lateness = Lateness()
    lateness.add(0.0, arrivals([0] * 100), rate=None)
    lateness.add(0.1, arrivals([28] * 100), rate=40_000)
    assert lateness.spread_s == 0.0


def test_late_packets_raise_it_by_a_step(world) -> None:
    w = world().run(5)
    for _ in range(2):
        w.give(HeardReport(at=w.now, concealed=0.2))
    w.run(6)
    assert w.plan.playout_delay_s == CHAT.clean_playout_delay_s + 0.04
    w.run(10, loss=0.2)
    before = w.plan.playout_delay_s
    w.give(HeardReport(at=w.now, concealed=0.2))
    w.give(HeardReport(at=w.now, concealed=0.2))
    assert w.run(10.1).plan.playout_delay_s == before
