"""What was heard decides: a bounded correction, learned while a listener listens, of the opinion expected of a way.

Expectations come of tables; estimates of what was really heard come now and then, each some tenths off. A way that is
heard worse or better than expected is valued so, within limits, and forgotten again, so that it gets another chance.
Part of what is learned is of the listener, or of the voice, and holds for every way. Pure.
"""

import math
from dataclasses import dataclass

from .plan import Protection, Rung

LIMIT = 0.4
"""The most that is added to an opinion, or taken away: an estimate may be wrong for good, and a table is no guess."""
DEAD = 0.15
"""A difference up to here is the estimate's: it is off by some .3 (`python -m quality.calibrate`), half of that for one
voice all the time. Of a larger one only what is beyond counts, so that ways that are as good are left alone."""
WEIGHT = 0.4
"""Of a new estimate against what was known."""
COMMON = 0.5
"""Share of what is learned that holds for every way."""
FORGET_S = 60.0
"""After that time without an estimate e times less is left."""
KEEP = 32
"""Ways remembered."""


@dataclass(frozen=True, kw_only=True)
class _Learned:
    at: float
    value: float

    def now(self, now: float) -> float:
        return self.value * math.exp(-max(0.0, now - self.at) / FORGET_S)

    def towards(self, now: float, value: float) -> "_Learned":
        before = self.now(now)
        return _Learned(at=now, value=before + WEIGHT * (value - before))


_NOTHING = _Learned(at=0.0, value=0.0)


class Correction:
    """One listener's."""

    def __init__(self) -> None:
        self._common = _NOTHING
        self._own: dict[tuple[Rung, Protection], _Learned] = {}

    def heard(self, at: float, rung: Rung, protection: Protection, *, measured: float, expected: float) -> None:
        """An estimate of what was heard under this way, and what was expected of it, both without delay, 1..4.5."""
        beyond = max(0.0, abs(measured - expected) - DEAD)
        difference = math.copysign(min(LIMIT, beyond), measured - expected)
        way = (rung, protection)
        self._common = self._common.towards(at, COMMON * difference)
        own = self._own.pop(way, _NOTHING)
        if len(self._own) >= KEEP:
            del self._own[next(iter(self._own))]
        self._own[way] = own.towards(at, difference - self._common.now(at))

    def of(self, now: float, rung: Rung, protection: Protection) -> float:
        """To be added to the opinion expected of this way; at most `LIMIT` up or down."""
        own = self._own.get((rung, protection), _NOTHING)
        return min(LIMIT, max(-LIMIT, self._common.now(now) + own.now(now)))
