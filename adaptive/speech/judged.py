"""A voice whose chunks are judged as they are decoded: a bad one is decoded again one tier higher, once.

The wrapped voice is a voice, so whatever makes speech of it knows nothing of judges. What comes out still is a function
of clause, frames and tier alone, as long as the judge is.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from ..ticks import TICK_RATE
from .judge import ChunkJudge, Fault, Spans
from .voice import PreparedClause, Samples, SwitchPoint, Voice, Word

_log = logging.getLogger(__name__)

BEGINNING = 0.6
"""Of a word: the times of its end take in the silence behind it."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A bad chunk."""

    fault: Fault
    tier: str | None
    """The better one at which it was decoded again; None where the voice has none, or cannot change to it here."""


class JudgedVoice:
    """A `Voice` that is another one, judged. `tiers` are those it may use, best first; one utterance's."""

    def __init__(self, voice: Voice, judge: ChunkJudge, *, tiers: Sequence[str]) -> None:
        self.info = voice.info
        self._finding: Finding | None = None
        self._voice = voice
        self._judge = judge
        self._tiers = tuple(tiers) if voice.info.switch is SwitchPoint.CHUNK else ()

    def prepare(self, clause: str, *, speed: float = 1.0, seed: int = 0, tier: str | None = None) -> "JudgedClause":
        """See `Voice.prepare`."""
        return JudgedClause(self._voice.prepare(clause, speed=speed, seed=seed, tier=tier), self)

    def warm(self) -> None:
        """See `Voice.warm`."""
        self._voice.warm()

    def take(self) -> Finding | None:
        """The newest bad chunk since this was asked for last; None where nothing was wrong."""
        finding, self._finding = self._finding, None
        return finding

    def decode(self, clause: PreparedClause, start: int, count: int, tier: str, tail: int) -> Samples:
        """A run of a clause, judged."""
        samples = clause.decode(start, count, tier=tier, tail=tail)
        spans = _beginnings(clause.words, start, count + tail, self.info.frame_samples, self.info.rate)
        fault = self._judge.fault(samples, info=self.info, tier=tier, sounding=spans)
        if fault is None:
            return samples
        better, again = self._above(tier), None
        if better is not None:
            try:
                again = clause.decode(start, count, tier=better, tail=tail)
            except Exception:  # whatever a voice raises; the first rendering is bad, but it is there
                _log.warning("voice %s failed at the tier %s", self.info.name, better, exc_info=True)
        self._finding = Finding(fault=fault, tier=None if again is None else better)
        return samples if again is None else again

    def _above(self, tier: str) -> str | None:
        place = self._tiers.index(tier) if tier in self._tiers else 0
        return self._tiers[place - 1] if place else None


class JudgedClause:
    """A `PreparedClause` of a judged voice."""

    def __init__(self, prepared: PreparedClause, voice: JudgedVoice) -> None:
        self.frames = prepared.frames
        self.words = prepared.words
        self._prepared = prepared
        self._voice = voice

    def decode(self, start: int, count: int, *, tier: str, tail: int = 0) -> Samples:
        """See `PreparedClause.decode`; a bad run comes at the tier above."""
        return self._voice.decode(self._prepared, start, count, tier, tail)


def _beginnings(words: Sequence[Word], start: int, count: int, frame: int, rate: int) -> Spans:
    """Of the words, in samples of a run of `count` model frames from frame `start` on."""
    first, last = start * frame, (start + count) * frame
    spans = []
    for word in words:
        begin = round(word.start * rate / TICK_RATE)
        end = round((word.start + BEGINNING * (word.end - word.start)) * rate / TICK_RATE)
        if max(begin, first) < min(end, last):
            spans.append((max(begin, first) - first, min(end, last) - first))
    return spans
