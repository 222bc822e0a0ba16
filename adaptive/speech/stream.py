"""An utterance being rendered: text in, chunks of 48 kHz samples out, at the tier asked for chunk by chunk.

Nothing here waits, sleeps or knows a process: whoever owns a stream feeds it and asks for its next chunk. The first
chunks are small so that speech begins soon; they grow because decoding a chunk costs its context too.
"""

from collections import deque
from dataclasses import replace
from time import perf_counter

import numpy as np

from ..ticks import to_ticks
from .clause import ClauseStream
from .renderer import Chunk, ClausePrepared, Rendered, RenderEvent
from .text import ClauseSplitter, pause_after, speakable
from .voice import SwitchPoint, Voice, VoiceInfo

FIRST_CHUNK_S = 0.104
"""Length of the first chunk, as whole model frames."""
RAMP = (1, 1, 2, 4, 6)
"""Lengths of the first chunks as multiples of the first; the last one stays."""
TIERS = ("full", "mixed", "light")
"""Names of tiers that have an order among all voices, best first."""


def nearest_tier(info: VoiceInfo, tier: str) -> str:
    """The voice's tier that is closest to `tier` in the order of `TIERS`; its best for a name without order."""
    if tier in info.tiers or tier not in TIERS:
        return tier if tier in info.tiers else info.tiers[0]
    known = [own for own in info.tiers if own in TIERS]
    return min(known, key=lambda own: abs(TIERS.index(own) - TIERS.index(tier)), default=info.tiers[0])


class SpeechStream:
    """One utterance. Deterministic: what comes out depends on the texts, the voice, the arguments and the tiers."""

    def __init__(self, voice: Voice, *, speed: float = 1.0, seed: int = 0) -> None:
        self.position = 0
        """Tick at which the next chunk begins."""
        self.done = False
        """`Rendered` came out; nothing more will."""
        self._voice = voice
        self._speed = speed
        self._seed = seed
        self._splitter = ClauseSplitter()
        self._texts: deque[str] = deque()
        self._final = False
        self._clause: ClauseStream | None = None
        self._text = ""
        self._announced = False
        self._index = -1
        self._prepared = 0
        self._chunks = 0
        self._tier: str | None = None
        self._first_frames = max(1, round(FIRST_CHUNK_S * voice.info.rate / voice.info.frame_samples))

    def feed(self, text: str, *, final: bool) -> None:
        """Adds text, cut anywhere; `final` closes it. Raises ValueError once it is closed."""
        self._texts.extend(clause for clause in self._splitter.feed(text, final) if speakable(clause))
        self._final = final

    def next(self, *, tier: str, chunk_frames: int | None = None) -> list[RenderEvent]:
        """Renders at most one chunk and returns what came of it, in order; an empty list asks for more text.

        `tier` holds from this chunk on where the voice can, else from the next clause on or not at all.
        `chunk_frames` model frames is the longest a chunk may be; None leaves it to the ramp. A chunk that would
        leave a few frames over takes them along. Errors of the voice come through.
        """
        started = perf_counter()
        events: list[RenderEvent] = []
        while not events and (self._clause is not None or self._prepare()):
            self._steer(tier)
            events = self._render(started, chunk_frames)
        if self._clause is None and self._final and not self._texts and not self.done:
            self.done = True
            events.append(Rendered(ticks=self.position))
        return events

    def _prepare(self) -> bool:
        """Prepares the next clause that has frames; False where there is no text for one."""
        while self._texts:
            text = self._texts[0]
            prepared = self._voice.prepare(text.strip(), speed=self._speed, seed=self._seed + self._prepared)
            self._texts.popleft()  # only now, so that a voice that failed may be asked again
            self._prepared += 1
            if prepared.frames:
                self._clause, self._text, self._announced = ClauseStream(prepared, self._voice.info), text, False
                if self._voice.info.switch is SwitchPoint.CLAUSE:
                    self._tier = None
                return True
        return False

    def _steer(self, tier: str) -> None:
        if self._tier is None or self._voice.info.switch is SwitchPoint.CHUNK:
            self._tier = nearest_tier(self._voice.info, tier)

    def _render(self, started: float, chunk_frames: int | None) -> list[RenderEvent]:
        """The clause's next chunk, with the news of the clause before its first; nothing of a clause that is silent."""
        clause, tier = self._clause, self._tier
        assert clause is not None
        assert tier is not None
        samples, frames = np.zeros(0, dtype=np.float32), 0
        while clause.left and not len(samples):
            count = self._length(clause.left, chunk_frames)
            samples = clause.next(count, tier)
            frames += count
        events: list[RenderEvent] = []
        if not self._announced and len(samples):
            self._announced = True
            self._index += 1
            events.append(self._news(clause))
        pause = 0
        if not clause.left:
            self._clause = None
            if len(samples):
                added = self._pause(clause.trailing)
                samples = np.concatenate([samples, np.zeros(added, dtype=np.float32)])
                pause = min(clause.trailing + added, len(samples))
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
                )
            )
            self._chunks += 1
            self.position += len(samples)
        return events

    def _length(self, left: int, chunk_frames: int | None) -> int:
        """Model frames of the next chunk: by the ramp, by what was asked for, and never leaving a small rest."""
        first = self._first_frames
        if self._chunks < len(RAMP):
            length = min(first * RAMP[self._chunks], chunk_frames or left)
        else:
            length = chunk_frames or first * RAMP[-1]
        return left if left - length <= first // 2 else max(1, length)

    def _pause(self, silent: int) -> int:
        """Ticks of silence to add after a clause that ends with `silent` of its own; none after the last one."""
        if self._final and not self._texts:
            return 0
        return max(0, to_ticks(pause_after(self._text)) - silent)

    def _news(self, clause: ClauseStream) -> ClausePrepared:
        return ClausePrepared(
            index=self._index,
            start=self.position,
            ticks=clause.ticks,
            text=self._text.strip(),
            words=tuple(
                replace(word, start=word.start + self.position, end=word.end + self.position) for word in clause.words
            ),
        )
