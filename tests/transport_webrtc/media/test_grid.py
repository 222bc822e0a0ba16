"""Deadlines are absolute and RTP time is the wall clock."""

import pytest

from transport_webrtc.media.grid import Grid


def test_a_tick_is_due_at_its_place_from_the_anchor():
    assert Grid(5.0).due(48_000) == 6.0


@pytest.mark.parametrize(("now", "tick"), [(4.0, 960), (5.0, 960), (5.0201, 1_920), (5.04, 1_920), (5.0401, 2_880)])
def test_the_first_place_that_is_not_past(now, tick):
    assert Grid(5.0).first(960, now) == tick


@pytest.mark.parametrize(("now", "tick"), [(4.0, 960), (5.0399, 960), (5.0401, 1_920), (5.3, 14_400)])
def test_the_last_place_that_is_due(now, tick):
    assert Grid(5.0).last(960, now) == tick
