"""When a change is heard least."""

from adaptive.control import ContentReport
from adaptive.control.moments import NEAR_S, Moments


def ahead(*pauses, at=10.0, sounding=True) -> Moments:
    moments = Moments()
    moments.observe(ContentReport(at=at, sounding=sounding, pauses=pauses))
    return moments


def test_without_a_pause_near_it_is_now() -> None:
    assert Moments().come(0.0, "tier")
    assert ahead().come(10.0, "tier")
    assert ahead((0.9, 1.2)).come(10.0, "tier")
    assert ahead((0.2, 0.25)).come(10.0, "tier"), "too short a pause"
    assert ahead((0.2, 0.4), sounding=False).come(10.0, "tier")


def test_a_pause_that_is_near_is_waited_for() -> None:
    moments = ahead((0.3, 0.5))
    assert not moments.come(10.0, "tier")
    assert not moments.come(10.2, "tier")
    assert moments.come(10.3, "tier")


def test_a_pause_that_moves_away_is_not_waited_for_for_ever() -> None:
    moments = ahead((0.5, 0.8))
    assert not moments.come(10.0, "tier")
    moments.observe(ContentReport(at=10.4, sounding=True, pauses=((0.5, 0.8),)))
    assert moments.come(10.4, "tier") or moments.come(10.0 + NEAR_S, "tier")


def test_each_kind_of_change_waits_for_itself() -> None:
    moments = ahead((0.3, 0.5))
    assert not moments.come(10.0, "tier")
    moments.forget("tier")
    assert not moments.come(10.1, "bandwidth")
    assert moments.come(10.35, "tier")
