"""What opinion the distances of a stretch of speech stand for, on the fullband scale of ITU-T G.107.2.

How unlike the median frame is, is of coding and bandwidth. Frames much less alike than that are damage: what loss and
concealment made of them. The first is an equipment impairment Ie, the second takes the place of packet loss in the
E-model's Ie,eff. The four constants are `quality.calibrate`'s, which says how far to trust them. The similarity alone
serves for both: it tells neighbouring rates apart in two seconds of speech, where the spectral distance errs at times.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from adaptive.control.emodel import FULLBAND

from .estimate import Compared

CONSTANTS = Path(__file__).parent / "scale.json"
LEAST_FRAMES = 40
"""Of speech, two thirds of a second: less says nothing."""
DAMAGE_FROM, DAMAGE_OVER = 0.1, 0.1
"""A frame less alike than the median frame by the first is damaged a little, by both together wholly."""
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


def summary(pieces: Iterable[Compared]) -> Summary | None:
    """Of what was compared; None where there was too little speech in it."""
    kept = list(pieces)
    if not kept:
        return None
    active, lsd, nsim = (np.concatenate([getattr(p, name) for p in kept]) for name in ("active", "lsd", "nsim"))
    if active.sum() < LEAST_FRAMES:
        return None
    lsd, nsim = lsd[active], nsim[active]
    alike = float(np.median(nsim))
    less = alike - nsim - DAMAGE_FROM
    return Summary(
        frames=len(lsd),
        distance_db=float(np.median(lsd)),
        unlike=1 - alike,
        damage=float(np.clip(less / DAMAGE_OVER, 0, 1).mean()),
    )


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The map from distances to opinions."""

    least_ie: float
    """Impairment of the best coding."""
    slope: float
    """Impairment per unlikeness, far above `knee`."""
    knee: float
    robustness: float
    """Damage that takes away half of what coding left: the E-model's Bpl, as a share."""

    def opinion(self, found: Summary) -> float:
        """1..4.5."""
        above = math.log1p(math.exp(SHARPNESS * (found.unlike - self.knee))) / SHARPNESS
        ie = min(FULLBAND.worst, max(0.0, self.least_ie + self.slope * above))
        lost = (FULLBAND.worst - ie) * found.damage / (found.damage + self.robustness)
        return FULLBAND.opinion(FULLBAND.base - ie - lost)


@lru_cache(maxsize=1)
def calibrated() -> Scale:
    """The scale that was measured."""
    return Scale(**json.loads(CONSTANTS.read_text())["scale"])
