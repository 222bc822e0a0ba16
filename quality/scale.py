"""What opinion the distances of a stretch of speech stand for, on the fullband scale of ITU-T G.107.2.

How unlike the median frame is, is of coding and bandwidth. Frames less alike than that, where something was lost, are
damage: what concealment made of them. The first is an equipment impairment Ie. The second takes the place of packet
loss and adds up with it: damage is measured in what is heard, and costs as much where coding left little (the Ie,eff of
ITU-T G.107.2, whose loss is of packets, makes it cost less; with it the scale errs by .03 more, measured). The five
constants are `quality.calibrate`'s, which says how far to trust them. The
similarity alone serves for both: it tells neighbouring rates apart in two seconds of speech, where the spectral
distance errs at times.
"""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from adaptive.control.emodel import FULLBAND
from adaptive.ticks import to_ticks

from .estimate import HOP, WINDOW, Compared

CONSTANTS = Path(__file__).parent / "scale.json"
LEAST_FRAMES = 40
"""Of speech, two thirds of a second: less says nothing."""
RUIN = 0.2
"""A frame less alike than the median frame by this is wholly damaged, by less in proportion."""
RECOVERY = to_ticks(0.1)
"""Ticks behind something lost until a decoder is itself again."""
SHARPNESS = 100.0
"""How suddenly unlikeness that grows begins to be heard."""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A stretch of speech in a few numbers."""

    frames: int
    """Of speech, 16 ms each."""
    distance_db: float
    """The median spectral distance."""
    unlike: float
    """How far the median frame is from being alike: 1 − similarity."""
    damage: float
    """Share of the speech that was damaged, 0..1."""


def summary(pieces: Iterable[Compared], lost: Sequence[tuple[int, int]] = ()) -> Summary | None:
    """Of what was compared; None where there was too little speech in it.

    `lost`: first and last-but-one sample of what had to be made up. Coding alone makes single frames unlike, which is
    no damage: that is looked for there and shortly after.
    """
    kept = list(pieces)
    if not kept:
        return None
    active, lsd, nsim = (np.concatenate([getattr(p, name) for p in kept]) for name in ("active", "lsd", "nsim"))
    if active.sum() < LEAST_FRAMES:
        return None
    hurt = _hurt(len(active), lost)[active]
    lsd, nsim = lsd[active], nsim[active]
    alike = float(np.median(nsim))
    less = np.where(hurt, alike - nsim, 0)
    return Summary(
        frames=len(lsd),
        distance_db=float(np.median(lsd)),
        unlike=1 - alike,
        damage=float(np.clip(less / RUIN, 0, 1).mean()),
    )


def _hurt(count: int, lost: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    """Which of the frames hold something that was lost, or what follows it."""
    hurt = np.zeros(count, np.bool_)
    for start, end in lost:
        hurt[max(0, (start - WINDOW) // HOP + 1) : -(-(end + RECOVERY) // HOP)] = True
    return hurt


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The map from distances to opinions."""

    least_ie: float
    """Impairment of the best coding."""
    slope: float
    """Impairment per unlikeness, far above `knee`."""
    knee: float
    robustness: float
    """Damage, to the power of `growth`, that takes away half of the scale: the E-model's Bpl, as a share."""
    growth: float
    """Of what damage takes away with damage; under 1 the first of it costs most."""

    def opinion(self, found: Summary) -> float:
        """1..4.5."""
        above = math.log1p(math.exp(SHARPNESS * (found.unlike - self.knee))) / SHARPNESS
        ie = min(FULLBAND.worst, max(0.0, self.least_ie + self.slope * above))
        damage = found.damage**self.growth
        lost = FULLBAND.worst * damage / (damage + self.robustness)
        return FULLBAND.opinion(FULLBAND.base - ie - lost)


@lru_cache(maxsize=1)
def calibrated() -> Scale:
    """The scale that was measured."""
    return Scale(**json.loads(CONSTANTS.read_text())["scale"])
