"""A model of rendering: what each tier costs, how much speech is ready, and what it took."""

from collections.abc import Mapping

from adaptive.control.profiles import Profile
from adaptive.control.reports import ComputeReport, ContentReport

TIERS: Mapping[str, float] = {"full": 0.056, "mixed": 0.041, "light": 0.030}
"""Seconds of rendering per second of speech, best tier first: those of joe, measured in chunks of 36 frames."""


class Rendering:
    """Speech of one utterance that is as long as it is asked for."""

    def __init__(self, *, profile: Profile, tiers: Mapping[str, float] = TIERS) -> None:
        self._profile = profile
        self._tiers = tiers
        self._ready_s = 0.0
        self._remaining_s = 0.0
        self.spent_s = 0.0
        """Of computing so far."""

    def begin(self, seconds: float) -> None:
        """An utterance begins; what it needs at once is ready."""
        self._remaining_s = seconds
        self._ready_s = 0.0

    def step(self, elapsed_s: float, tier: str, *, sounding: bool) -> None:
        """Lets time pass: a worker renders while less than the limit is ready, the carrier takes what is due."""
        cost = self._tiers.get(tier, next(iter(self._tiers.values())))
        room_s = self._profile.ready_s - self._ready_s + (elapsed_s if sounding else 0.0)
        made_s = min(max(0.0, room_s), elapsed_s / cost, self._remaining_s)
        self.spent_s += made_s * cost
        self._remaining_s -= made_s
        self._ready_s = max(0.0, self._ready_s + made_s - (elapsed_s if sounding else 0.0))

    def compute_report(self, now: float) -> ComputeReport:
        """As the server makes it."""
        rendering = self._remaining_s > 0
        return ComputeReport(
            at=now,
            tiers=tuple(self._tiers),
            cost=dict(self._tiers),
            ready_s=self._ready_s if rendering else None,
            target_s=self._profile.ready_s,
            rendering=rendering,
            queue_s=0.0,
        )

    def content_report(self, now: float, *, sounding: bool) -> ContentReport:
        """Speech without pauses."""
        return ContentReport(at=now, sounding=sounding, remaining_s=self._remaining_s + self._ready_s)
