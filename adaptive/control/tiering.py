"""The tier axis: what the machine affords, what the rung lets through, and when a change is heard least."""

from .compute import TierChoice, worth_computing
from .moments import Moments
from .plan import Reason, Rung
from .profiles import Weights
from .reports import ComputeReport

FIRST_TIER = "full"
"""Named in plans before the sounding voice has said what its tiers are."""


class Tiering:
    """The tier of one listener: an index into the sounding voice's tiers, 0 being the best."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._choice = TierChoice()
        self._tiers: tuple[str, ...] = ()
        self._tier = 0

    @property
    def name(self) -> str:
        """As plans name it."""
        return self._tiers[self._tier] if self._tiers else FIRST_TIER

    @property
    def chunk_frames(self) -> int | None:
        """Model frames in a chunk, where those that the stream chooses itself are too long or too dear."""
        return self._choice.chunk_frames

    def observe(self, report: ComputeReport) -> None:
        """Cost and readiness."""
        self._choice.observe(report)

    def meet(self, rung: Rung) -> None:
        """Another voice has other tiers: it begins at the best that is allowed."""
        if self._choice.tiers != self._tiers:
            self._tiers = self._choice.tiers
            self._tier = self._best(rung)

    def worth(self, rung: Rung) -> float:
        """Of the best tier for a rung, for a chunk: precision that is heard, less what it costs."""
        return self._worth(self._best(rung), rung)

    def _best(self, rung: Rung, *, better: int = 0) -> int:
        """Of those that the machine affords, and `better` more."""
        allowed = range(self._choice.index - better, max(1, len(self._tiers)))
        return max(allowed, key=lambda index: (self._worth(index, rung), index), default=self._choice.index)

    def _worth(self, index: int, rung: Rung) -> float:
        if index >= len(self._tiers):
            return -self._weights.tier * index
        return -self._lost(index, worth_computing(rung, len(self._tiers))) - self._weights.compute * (
            self._choice.cost(index) or 0.0
        )

    def _lost(self, index: int, through: int) -> float:
        """Points of opinion by which a tier sounds worse than the best that the rung lets `through`, as judged; by the
        number of tiers between them where it was not."""
        if index <= through:
            return 0.0
        own, best = self._choice.loss(index), self._choice.loss(through)
        if own is None or best is None:
            return self._weights.tier * (index - through)
        return max(0.0, own - best)

    def fall(self, now: float, rung: Rung, moments: Moments, *, apart: bool, why: Reason) -> Reason | None:
        """Down: at once where rendering is too slow, else in the next pause, `apart` from other changes, for the reason
        for which the rung fell."""
        slow = self._choice.fall(now)
        best = self._best(rung)
        if best <= self._tier:
            moments.forget("lower tier")
            return None
        if not slow and not (apart and moments.come(now, "lower tier")):
            return None
        moments.forget("lower tier")
        self._tier = best
        return Reason.COMPUTE if slow else why

    def rise(self, now: float, rung: Rung, moments: Moments) -> Reason | None:
        """Up, in the next pause: where the rung lets more through again, or one step where there is plenty ready."""
        tries = self._tier == self._choice.index and self._choice.may_rise(now)
        best = self._best(rung, better=int(tries))
        if best >= self._tier:
            moments.forget("higher tier")
            return None
        if not moments.come(now, "higher tier"):
            return None
        moments.forget("higher tier")
        if tries:
            self._choice.rise(now)
        self._tier = best
        return Reason.HEADROOM if tries else Reason.RECOVERED
