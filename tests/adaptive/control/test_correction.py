"""Bounded, learned from a few estimates, forgotten."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.control.correction import DEAD, FORGET_S, KEEP, LIMIT, Correction
from adaptive.control.plan import Bandwidth, Protection, Rung

RUNG = Rung(bitrate=24_000, bandwidth=Bandwidth.FB, frame_ms=20)
PLAIN, COPIES = Protection(), Protection(copies=(3,))


def told(measured: float, expected: float = 3.5, *, times: int = 6, every_s: float = 10.0) -> tuple[Correction, float]:
    correction, now = Correction(), 0.0
    for _ in range(times):
        now += every_s
        correction.heard(now, RUNG, PLAIN, measured=measured, expected=expected)
    return correction, now


def test_nothing_heard_corrects_nothing() -> None:
    assert Correction().of(12.0, RUNG, PLAIN) == 0.0


@pytest.mark.parametrize("difference", [-DEAD, -0.05, 0.1, DEAD])
def test_what_an_estimate_may_err_by_corrects_nothing(difference: float) -> None:
    correction, now = told(3.5 + difference)
    assert correction.of(now, RUNG, PLAIN) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("difference", [-0.3, -0.1, 0.2])
def test_it_comes_to_what_was_heard_beyond_that_in_a_few_estimates(difference: float) -> None:
    beyond = DEAD if difference > 0 else -DEAD
    correction, now = told(3.5 + difference + beyond)
    assert correction.of(now, RUNG, PLAIN) == pytest.approx(difference, abs=0.25 * abs(difference))
    once, at = told(3.5 + difference + beyond, times=1)
    assert 0 < once.of(at, RUNG, PLAIN) / difference < 0.8, "one estimate is not believed at once"


def test_a_way_heard_worse_than_expected_loses_against_those_not_heard() -> None:
    correction, now = told(3.0)
    lost = correction.of(now, RUNG, PLAIN)
    assert lost < correction.of(now, RUNG, COPIES) < 0
    assert lost < correction.of(now, replace(RUNG, bitrate=16_000), PLAIN) < 0


@given(st.lists(st.tuples(st.floats(1, 4.5), st.floats(1, 4.5), st.booleans(), st.floats(0, 100)), max_size=40))
def test_it_is_bounded_whatever_is_heard(heard: list[tuple[float, float, bool, float]]) -> None:
    correction, now = Correction(), 0.0
    for measured, expected, copies, passed_s in heard:
        now += passed_s
        correction.heard(now, RUNG, COPIES if copies else PLAIN, measured=measured, expected=expected)
        for protection in (PLAIN, COPIES, Protection(nack=True)):
            assert abs(correction.of(now, RUNG, protection)) <= LIMIT


def test_it_is_forgotten() -> None:
    correction, now = told(1.5)
    assert correction.of(now, RUNG, PLAIN) < -0.3
    assert abs(correction.of(now + 5 * FORGET_S, RUNG, PLAIN)) < 0.01


def test_a_few_ways_are_remembered_and_the_newest_among_them() -> None:
    correction = Correction()
    for distance in range(1, 2 * KEEP):
        correction.heard(float(distance), RUNG, Protection(copies=(distance,)), measured=3.0, expected=3.5)
    now = 2.0 * KEEP
    unheard = correction.of(now, RUNG, Protection(copies=(1,)))
    assert correction.of(now, RUNG, Protection(copies=(2 * KEEP - 1,))) < unheard
    assert unheard == correction.of(now, RUNG, Protection(copies=(99,)))
