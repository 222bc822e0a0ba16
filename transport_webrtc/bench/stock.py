"""aiortc's own way to send audio: PCM frames from a track, paced as its `AudioStreamTrack` is, encoded by aiortc."""

import asyncio
import time
from fractions import Fraction

import numpy as np
from aiortc import MediaStreamTrack
from aiortc.mediastreams import AUDIO_PTIME, MediaStreamError
from av import AudioFrame

from adaptive.speech.voice import Samples
from adaptive.ticks import TICK_RATE

from ..media.sending import Lateness

_FRAME = round(AUDIO_PTIME * TICK_RATE)
_TIME_BASE = Fraction(1, TICK_RATE)


class StockTrack(MediaStreamTrack):
    """Speech as mono 16-bit frames of 20 ms, over and over; lateness is measured against its own schedule."""

    kind = "audio"

    def __init__(self, samples: Samples) -> None:
        super().__init__()
        pcm = (np.clip(samples, -1, 1) * 32_767).astype(np.int16)
        self._frames = [pcm[at : at + _FRAME].tobytes() for at in range(0, len(pcm) - _FRAME + 1, _FRAME)]
        self._start: float | None = None
        self._timestamp = 0
        self.lateness = Lateness()
        self.packets = 0

    async def recv(self) -> AudioFrame:
        """The next frame, when it is due by `time.time()`, as in aiortc/mediastreams.py."""
        if self.readyState != "live":
            raise MediaStreamError
        if self._start is None:
            self._start = time.time()
        else:
            self._timestamp += _FRAME
            due = self._start + self._timestamp / TICK_RATE
            await asyncio.sleep(due - time.time())
            self.lateness.add(time.time() - due)
        frame = AudioFrame(format="s16", layout="mono", samples=_FRAME)
        frame.planes[0].update(self._frames[self.packets % len(self._frames)])
        frame.pts, frame.sample_rate, frame.time_base = self._timestamp, TICK_RATE, _TIME_BASE
        self.packets += 1
        return frame
