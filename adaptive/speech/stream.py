"""An utterance being rendered: text in, chunks of 48 kHz samples out, at the tier asked for chunk by chunk.

Nothing here waits, sleeps or knows a process: whoever owns a stream feeds it and asks for its next chunk. The first
chunks are small so that speech begins soon; they grow because decoding a chunk costs its context too.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from ..audio.resampling import StreamingResampler
from ..audio.seams import ramp
from ..ticks import TICK_RATE, to_ticks
from .clause import EDGE_S, ClauseStream
from .renderer import Chunk, ClausePrepared, Noticed, Rendered, RenderEvent
from .routing import Part, Router
from .spoken import SpokenClause, SpokenReader
from .text import PAUSE_SENTENCE_S, pause_after
from .voice import PreparedClause, Samples, SwitchPoint, Voice, VoiceInfo
from .voices.limits import FASTEST, SLOWEST

FIRST_CHUNK_S = 0.104
"""Speech in the first chunk, as whole model frames; silence before it, as far as it is expected, comes on top. So it
holds the 60 ms with which a player begins, and what its encoder and its taker look ahead (18 ms) and round off (20)."""
RAMP = (1, 2, 4, 6)
"""Lengths of the first chunks as multiples of the first; the last one stays."""
TIERS = {"full": 0.0, "fp32": 0.0, "fp16": 0.3, "bf16": 0.4, "mixed": 1.0, "light": 2.0}
"""Names of tiers that have an order among all voices, and how far each is below the best."""


def nearest_tier(info: VoiceInfo, tier: str) -> str:
    """The voice's tier that is closest to `tier` in the order of `TIERS`; its best for a name without order."""
    if tier in info.tiers or tier not in TIERS:
        return tier if tier in info.tiers else info.tiers[0]
    known = [own for own in info.tiers if own in TIERS]
    return min(known, key=lambda own: abs(TIERS[own] - TIERS[tier]), default=info.tiers[0])


def _frame_s(info: VoiceInfo) -> float:
    """Of a model frame."""
    return info.frame_samples / info.rate


def _lengthened(samples: Samples, added: int) -> Samples:
    """With silence behind it, or with so much less of what it ends in, fallen to silence there."""
    if added >= 0:
        return np.concatenate([samples, np.zeros(added, dtype=np.float32)])
    kept, falling = samples[:added].copy(), ramp(to_ticks(EDGE_S))[::-1]
    kept[-len(falling) :] *= falling
    return kept


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Where a clause was put and how it was cut."""

    skipped: int
    """Model frames at its front that were not decoded."""
    lead: int
    """Samples left out at its front, at the voice's rate: the silence before speech."""
    pause: int
    """Ticks of silence added behind it; below zero, so many of its own were taken away."""
    lengths: tuple[int, ...]
    """Model frames of each run that was decoded."""


class SpeechStream:
    """One utterance. Deterministic: what comes out depends on the texts, the voice, the arguments and the tiers."""

    def __init__(
        self,
        voice: Voice,
        *,
        speed: float = 1.0,
        seed: int = 0,
        placements: Sequence[Placement] = (),
        others: Sequence[Voice] = (),
    ) -> None:
        """`others` speak the clauses whose language `voice` does not.

        `placements` of an earlier stream of the same text puts and cuts its clauses as they were there, so that
        both can be compared tick by tick: how much silence a clause has at its ends depends a little on its tier,
        and the rounding noise of a low tier on where it was cut."""
        self.position = 0
        """Tick at which the next chunk begins."""
        self.done = False
        """`Rendered` came out; nothing more will."""
        self.placements: list[Placement] = []
        """Of the clauses that ended so far, in order, silent ones too."""
        self._given = tuple(placements)
        self._chosen = self._voice = voice
        """The voice of the utterance, and that of the clause in work."""
        self._router = Router(voice, others)
        self._speed = speed
        self._seed = seed
        self._reader = SpokenReader()
        self._texts: deque[Part] = deque()
        self._notices: list[RenderEvent] = []
        self._final = False
        self._clause: ClauseStream | None = None
        self._text = SpokenClause(text="")
        self._announced = False
        self._lengths: list[int] = []
        self._index = -1
        self._prepared = 0
        self._chunks = 0
        self._tiers: dict[str, str] = {}
        """Of each voice, the one that it speaks at or spoke at last."""
        self._resamplers = {voice.info.rate: StreamingResampler(voice.info.rate, TICK_RATE)}

    def feed(self, text: str, *, final: bool) -> None:
        """Adds text, cut anywhere; `final` closes it. Raises ValueError once it is closed."""
        for read in self._reader.feed(text, final):
            if isinstance(read, SpokenClause):
                self._texts += self._router.parts(read)
            else:
                self._notices.append(Noticed(message=read.message))
        self._final = final

    def next(self, *, tier: str, chunk_frames: int | None = None) -> list[RenderEvent]:
        """Renders at most one chunk and returns what came of it, in order; an empty list asks for more text.

        `tier` holds from this chunk on where the voice can, else from the next clause on or not at all.
        `chunk_frames` model frames of the chosen voice is the most that a chunk may hold of speech; None leaves it to
        the ramp. A chunk that would leave a few frames over takes them along. Errors of the voice come through.
        """
        started = perf_counter()
        events, self._notices = self._notices, []
        while not events and (self._clause is not None or self._prepare(tier)):
            self._steer(tier)
            events = self._render(started, chunk_frames)
        if self._clause is None and self._final and not self._texts and not self.done:
            self.done = True
            events.append(Rendered(ticks=self.position))
        return events

    def _prepare(self, tier: str) -> bool:
        """Prepares the next clause that has frames; False where there is no text for one."""
        while self._texts:
            self._voice, text = self._texts[0]
            prepared = self._ask(text, tier)
            self._texts.popleft()  # only now, so that a voice that failed may be asked again
            self._prepared += 1
            if prepared.frames:
                given = self._given_placement()
                skipped, lead = (given.skipped, given.lead) if given else (None, None)
                self._clause = ClauseStream(
                    prepared,
                    self._voice.info,
                    self._resampler(),
                    speed=self._speed_of(text),
                    skipped=skipped,
                    lead=lead,
                )
                self._text, self._announced = text, False
                return True
        return False

    def _ask(self, clause: SpokenClause, tier: str) -> PreparedClause:
        """The clause from its voice, which is told the tier at which it begins."""
        text, seed = clause.text.strip(), self._seed + self._prepared
        info = self._voice.info
        if info.name not in self._tiers or info.switch is not SwitchPoint.LOAD:
            self._tiers[info.name] = nearest_tier(info, tier)
        return self._voice.prepare(text, speed=self._speed_of(clause), seed=seed, tier=self._tiers[info.name])

    def _speed_of(self, clause: SpokenClause) -> float:
        return self._speed if clause.rate == 1.0 else min(max(self._speed * clause.rate, SLOWEST), FASTEST)

    def _resampler(self) -> StreamingResampler:
        """From the rate of the clause's voice."""
        rate = self._voice.info.rate
        if rate not in self._resamplers:
            self._resamplers[rate] = StreamingResampler(rate, TICK_RATE)
        return self._resamplers[rate]

    def _steer(self, tier: str) -> None:
        info = self._voice.info
        if info.switch is SwitchPoint.CHUNK:
            self._tiers[info.name] = nearest_tier(info, tier)

    def _render(self, started: float, chunk_frames: int | None) -> list[RenderEvent]:
        """The clause's next chunk, with the news of the clause before its first; nothing of a clause that is silent."""
        clause, tier = self._clause, self._tiers[self._voice.info.name]
        assert clause is not None
        samples, frames = np.zeros(0, dtype=np.float32), 0
        while clause.left and not len(samples):
            count = self._length(clause, chunk_frames)
            samples = clause.next(count, tier)
            self._lengths.append(count)
            frames += count
        events: list[RenderEvent] = []
        if not self._announced and len(samples):
            self._announced = True
            self._index += 1
            events.append(self._news(clause))
        pause = 0
        if not clause.left:
            self._clause = None
            added = self._pause(clause.trailing, len(samples)) if len(samples) else 0
            samples = _lengthened(samples, added)
            pause = min(clause.trailing + added, len(samples))
            self.placements.append(
                Placement(skipped=clause.skipped, lead=clause.lead or 0, pause=added, lengths=tuple(self._lengths))
            )
            self._lengths.clear()
        if len(samples):
            events.append(
                Chunk(
                    start=self.position,
                    samples=samples,
                    tier=tier,
                    frames=frames,
                    render_s=perf_counter() - started,
                    clause=self._index,
                    pause_after=pause,
                    voice=None if self._voice is self._chosen else self._voice.info.name,
                )
            )
            self._chunks += 1
            self.position += len(samples)
        return events

    def _length(self, clause: ClauseStream, chunk_frames: int | None) -> int:
        """Model frames of the next chunk: by the ramp, by what was asked for, and never leaving a small rest."""
        if given := self._given_placement():
            return given.lengths[len(self._lengths)]
        frame_s = _frame_s(self._voice.info)
        left, silent, first = clause.left, clause.silent, max(1, round(FIRST_CHUNK_S / frame_s))
        if chunk_frames is not None and self._voice is not self._chosen:
            chunk_frames = max(1, round(chunk_frames * _frame_s(self._chosen.info) / frame_s))
        if self._chunks < len(RAMP):
            length = min(first * RAMP[self._chunks], chunk_frames or left)
        else:
            length = chunk_frames or first * RAMP[-1]
        length = max(1, length) + silent
        return left if left - length <= first // 2 else length

    def _pause(self, silent: int, length: int) -> int:
        """Ticks of silence to add after a clause, or below zero to take away: it ends with `silent` of its own, and of
        its last chunk of `length` ticks something is kept."""
        if given := self._given_placement():
            return given.pause
        last = self._final and not self._texts
        if (asked := self._text.pause_s) is not None:
            wanted = to_ticks(asked)
        else:
            wanted = min(silent, to_ticks(PAUSE_SENTENCE_S)) if last else to_ticks(pause_after(self._text.text))
        return max(wanted - silent, min(0, to_ticks(EDGE_S) - length))

    def _given_placement(self) -> Placement | None:
        """Of the clause in work."""
        index = len(self.placements)
        return self._given[index] if index < len(self._given) else None

    def _news(self, clause: ClauseStream) -> ClausePrepared:
        return ClausePrepared(
            index=self._index,
            start=self.position,
            ticks=clause.ticks,
            text=self._text.text.strip(),
            words=tuple(
                replace(word, start=word.start + self.position, end=word.end + self.position) for word in clause.words
            ),
        )
