"""A renderer that plays a recording: what sending costs is measured without what rendering costs."""

import asyncio
from collections.abc import AsyncIterator

import numpy as np

from adaptive.speech.renderer import Chunk, ClausePrepared, Rendered, RendererStatus, RenderEvent, RenderJob
from adaptive.speech.voice import Samples, SwitchPoint, VoiceInfo, Word
from adaptive.ticks import TICK_RATE, to_ticks

VOICE = "recording"
CHUNK_TICKS = to_ticks(0.25)
WORD_TICKS = to_ticks(0.35)
"""A word every so often, as in speech, so that as many events are told."""

_INFO = VoiceInfo(
    name=VOICE,
    languages=("en-US",),
    licence="none",
    rate=TICK_RATE,
    frame_samples=CHUNK_TICKS,
    tiers=("full", "light"),
    switch=SwitchPoint.CHUNK,
)


class RecordedStream:
    """The recording over and over, as far as granted, for so many seconds."""

    def __init__(self, samples: Samples, seconds: float, tier: str) -> None:
        self._chunks = [samples[at : at + CHUNK_TICKS] for at in range(0, len(samples), CHUNK_TICKS)]
        self._end = to_ticks(seconds)
        self._tier = tier
        self._granted = 0
        self._cancelled = False
        self._changed = asyncio.Event()

    def feed(self, text: str, *, final: bool) -> None:
        """The text does not matter."""

    def steer(self, *, tier: str, chunk_frames: int | None) -> None:
        """The tier is what chunks are said to be made at."""
        self._tier = tier

    def grant(self, until: int) -> None:
        """As far as the recording may be played."""
        self._granted = until
        self._changed.set()

    def cancel(self) -> None:
        """Ends it."""
        self._cancelled = True
        self._changed.set()

    async def events(self) -> AsyncIterator[RenderEvent]:
        """Each time through the recording is a clause."""
        position = clause = 0
        length = sum(map(len, self._chunks))
        while position < self._end:
            words = tuple(
                Word(text="word", start=position + at, end=position + at + WORD_TICKS)
                for at in range(0, length - WORD_TICKS, WORD_TICKS)
            )
            yield ClausePrepared(index=clause, start=position, ticks=length, text="word " * len(words), words=words)
            for samples in self._chunks:
                while position >= self._granted and not self._cancelled:
                    self._changed.clear()
                    await self._changed.wait()
                if self._cancelled:
                    return
                yield Chunk(start=position, samples=samples, tier=self._tier, frames=1, render_s=0.02, clause=clause)
                position += len(samples)
            clause += 1
        yield Rendered(ticks=position)


class RecordedRenderer:
    """Any number of streams of the same recording, float32 at 48 kHz."""

    def __init__(self, samples: Samples, seconds: float) -> None:
        self._samples = np.ascontiguousarray(samples, np.float32)
        self._seconds = seconds

    async def start(self) -> None:
        """Nothing has to be loaded."""

    async def close(self) -> None:
        """Nothing is left open."""

    def open(self, job: RenderJob) -> RecordedStream:
        """A stream; there is one voice only."""
        return RecordedStream(self._samples, self._seconds, job.tier or "full")

    def status(self) -> RendererStatus:
        """Ready at once, and fast."""
        cost = {VOICE: {"full": 0.1, "light": 0.05}}
        return RendererStatus(ready=True, workers=1, voices=(_INFO,), queue_s=0.0, cost=cost)
