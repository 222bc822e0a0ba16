"""Opus, loss and repair without a network."""

import numpy as np
import pytest

from adaptive.codec.opus import OpusEncoder
from adaptive.control.opinion import residual_loss
from adaptive.control.plan import Bandwidth, Protection, Rung
from quality.lab.coded import LOOKAHEAD, Coded, drops, left

RUNG = Rung(bitrate=24_000, bandwidth=Bandwidth.FB, frame_ms=20)


def speech() -> np.ndarray:
    """A tone that swells, so that a shift shows."""
    ticks = np.arange(48_000)
    return (np.sin(ticks / 24) * (0.1 + 0.2 * np.sin(ticks / 3000) ** 2)).astype(np.float32)


def test_what_is_heard_is_aligned_and_as_long_as_what_was_said() -> None:
    said = (np.random.default_rng(1).standard_normal(48_000) / 8).astype(np.float32)
    got = Coded(said, Rung(bitrate=96_000, bandwidth=Bandwidth.FB, frame_ms=20)).heard()
    assert len(got) == len(said)
    scores = [float(np.dot(got[100:-100], np.roll(said, lag)[100:-100])) for lag in range(-40, 41)]
    assert abs(int(np.argmax(scores)) - 40) <= 2
    encoder = OpusEncoder()
    assert encoder.lookahead == LOOKAHEAD
    encoder.close()


def test_a_copy_repairs_unless_it_is_lost_too() -> None:
    lost = [False, True, True, False, False, True]
    assert left(lost) == lost
    assert left(lost, Protection(copies=(1,))) == [False, True, False, False, False, True]
    assert left(lost, Protection(copies=(2,))) == [False, False, False, False, False, True]
    assert left(lost, Protection(copies=(1, 2))) == [False, False, False, False, False, True]


@pytest.mark.parametrize("distance", [1, 3, 6])
def test_what_stays_lost_is_what_the_controller_reckons_with(distance: int) -> None:
    lost = drops(60_000, loss=0.1, burst=3)
    protection = Protection(copies=(distance,))
    share = sum(left(lost, protection)) / len(lost)
    assert share == pytest.approx(residual_loss(0.1, 3, protection), rel=0.12)


def test_loss_is_heard_and_repair_takes_it_away() -> None:
    said = speech()
    coded = Coded(said, RUNG)
    clean = coded.heard()
    bad = coded.heard(drops(coded.packets, loss=0.3, seed=1))
    assert np.abs(bad - clean).max() > 0.02
    repaired = Coded(said, RUNG, protection=Protection(copies=(1,))).heard([False, True])
    assert np.array_equal(repaired[:-960], clean[:-960]), "the last packet has no copy behind it"
    wide = Rung(bitrate=24_000, bandwidth=Bandwidth.WB, frame_ms=20)
    fec = Coded(said, wide, protection=Protection(fec=True, loss_hint=20)).heard([False, False, True])
    plain = Coded(said, wide).heard([False, False, True])
    assert np.abs(fec - said).mean() < np.abs(plain - said).mean()


def test_a_list_may_be_wanted_with_just_its_share() -> None:
    for seed in range(5):
        assert sum(drops(200, loss=0.1, burst=5, seed=seed, within=0.005)) in (19, 20, 21)
    with pytest.raises(ValueError, match="No list of 3 packets"):
        drops(3, loss=0.1, within=0.01)
