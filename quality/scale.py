"""What opinion the distances of a stretch of speech stand for, on the fullband scale of ITU-T G.107.2.

A stretch has a usual distance, that of coding and bandwidth: the median. Frames much less alike than the median frame
are damage: what loss and concealment made of them. The first is an equipment impairment Ie, the second takes the place
of packet loss in the E-model's Ie,eff. The four constants are `quality.calibrate`'s, which says how far to trust them.
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
DAMAGE_FROM, DAMAGE_OVER = 0.05, 0.2
"""A frame less alike than the median frame by the first is damaged a little, by both together wholly."""
SHARPNESS = 2.0
"""Per dB: how suddenly a growing usual distance begins to be heard."""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A stretch of speech in three numbers."""

    frames: int
    """Of speech, 16 ms each."""
    usual_db: float
    """The median spectral distance."""
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
    less = np.median(nsim) - nsim - DAMAGE_FROM
    return Summary(
        frames=len(lsd),
        usual_db=float(np.median(lsd)),
        damage=float(np.clip(less / DAMAGE_OVER, 0, 1).mean()),
    )


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The map from distances to opinions."""

    least_ie: float
    """Impairment of the best coding."""
    slope: float
    """Impairment per dB of usual distance, far above `knee_db`."""
    knee_db: float
    robustness: float
    """Damage that takes away half of what coding left: the E-model's Bpl, as a share."""

    def opinion(self, found: Summary) -> float:
        """1..4.5."""
        above = math.log1p(math.exp(SHARPNESS * (found.usual_db - self.knee_db))) / SHARPNESS
        ie = min(FULLBAND.worst, max(0.0, self.least_ie + self.slope * above))
        lost = (FULLBAND.worst - ie) * found.damage / (found.damage + self.robustness)
        return FULLBAND.opinion(FULLBAND.base - ie - lost)


@lru_cache(maxsize=1)
def calibrated() -> Scale:
    """The scale that was measured."""
    return Scale(**json.loads(CONSTANTS.read_text())["scale"])
