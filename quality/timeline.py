"""Whether speech flows that is made while it is heard: underruns on a timeline of the chunks' arrivals.

A listener plays from the first chunk on and waits wherever the next is not there yet. Every wait is an underrun, and
shifts all that follows. What was recorded at the other end is `quality.continuity`'s.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

THRESHOLDS_S = (0.05, 0.1, 0.2)
"""Underruns up to 50 ms pass for a speaker's own pauses, up to 100 ms they are noticed at most, 200 ms is a gap."""


@dataclass(frozen=True, kw_only=True)
class Underrun:
    """A wait of the listener."""

    at_s: float
    """In the utterance."""
    seconds: float


@dataclass(kw_only=True)
class Timeline:
    """One utterance's chunks as they arrive, in order."""

    lead_s: float = 0.0
    """How much the listener waits before it plays, from the first arrival on."""
    underruns: list[Underrun] = field(default_factory=list, init=False)
    _began_at: float | None = field(default=None, init=False)
    """When its first sample would have been played, all waits counted."""

    def arrived(self, start_s: float, now: float) -> None:
        """The chunk that begins at `start_s` of the utterance is there at `now`, in seconds on any clock."""
        if self._began_at is None:
            self._began_at = now - start_s + self.lead_s
        late_s = now - (self._began_at + start_s)
        if late_s > 0:
            self.underruns.append(Underrun(at_s=start_s, seconds=late_s))
            self._began_at += late_s

    @property
    def largest_s(self) -> float:
        """The longest wait; 0 where there was none."""
        return max((underrun.seconds for underrun in self.underruns), default=0.0)

    @property
    def total_s(self) -> float:
        """All waits together."""
        return sum(underrun.seconds for underrun in self.underruns)


def of(arrivals: Iterable[tuple[float, float]], *, lead_s: float = 0.0) -> Timeline:
    """The timeline of (start in the utterance, arrival), both in seconds, in the order of arrival."""
    timeline = Timeline(lead_s=lead_s)
    for start_s, now in arrivals:
        timeline.arrived(start_s, now)
    return timeline


def uninterrupted(
    largest_s: Sequence[float | None], *, over_s: Sequence[float] = THRESHOLDS_S
) -> dict[float, float | None]:
    """For each threshold the share of utterances whose largest underrun is no longer.

    An utterance that was not measured, None, is not in the share; where none was, it is None.
    """
    known = [value for value in largest_s if value is not None]
    return {limit: sum(value <= limit for value in known) / len(known) if known else None for limit in over_s}
