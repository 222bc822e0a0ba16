"""The process of a native sender: answers offers, sends silence, and plays the clip when it is told to.

Requests are lines of JSON on stdin, each answered by a line on stdout: {"offer": SDP}, {"go": true}, {"leave": true}.
"""

import asyncio
import json
import sys
import time
from fractions import Fraction
from typing import Any

import numpy as np
from aiortc import MediaStreamTrack, RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AUDIO_PTIME, MediaStreamError
from av import AudioFrame
from av.packet import Packet

from adaptive.audio.wav import read_wav
from adaptive.codec.opus import OpusEncoder
from adaptive.control.plan import Bandwidth
from adaptive.speech.voice import Samples
from adaptive.ticks import TICK_RATE

FIXED_BITRATE = 24_000
_FRAME = round(AUDIO_PTIME * TICK_RATE)
_TIME_BASE = Fraction(1, TICK_RATE)


class ClipTrack(MediaStreamTrack):
    """Silence, then the clip, then silence, in frames of 20 ms, paced as aiortc's `AudioStreamTrack` is."""

    kind = "audio"

    def __init__(self, clip: Samples) -> None:
        super().__init__()
        self._clip = clip
        self._place: int | None = None
        self._start: float | None = None
        self._timestamp = 0
        self.begun: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._asked = False

    def go(self) -> None:
        """The next frame is the clip's first."""
        self._asked = True

    async def recv(self) -> AudioFrame | Packet:
        """The next frame, when it is due by `time.time()`, as in aiortc/mediastreams.py."""
        if self.readyState != "live":
            raise MediaStreamError
        if self._start is None:
            self._start = time.time()
        else:
            self._timestamp += _FRAME
            await asyncio.sleep(self._start + self._timestamp / TICK_RATE - time.time())
        return self.framed(self._next(), self._timestamp)

    def framed(self, samples: Samples, timestamp: int) -> AudioFrame | Packet:
        """16-bit mono, which aiortc encodes: stereo, 96 kb/s."""
        frame = AudioFrame(format="s16", layout="mono", samples=_FRAME)
        frame.planes[0].update((np.clip(samples, -1, 1) * 32_767).astype(np.int16).tobytes())
        frame.pts, frame.sample_rate, frame.time_base = timestamp, TICK_RATE, _TIME_BASE
        return frame

    def _next(self) -> Samples:
        if self._place is None:
            if not self._asked:
                return np.zeros(_FRAME, np.float32)
            self._place = 0
            self.begun.set_result(time.time())
        samples = self._clip[self._place : self._place + _FRAME]
        self._place += _FRAME
        return np.pad(samples, (0, _FRAME - len(samples)))


class FixedTrack(ClipTrack):
    """The same as Opus of its own: mono, fullband, without protection, whatever happens."""

    def __init__(self, clip: Samples) -> None:
        super().__init__(clip)
        self._encoder = OpusEncoder()
        self._encoder.configure(bitrate=FIXED_BITRATE, bandwidth=Bandwidth.FB)

    def framed(self, samples: Samples, timestamp: int) -> AudioFrame | Packet:
        """A packet, which aiortc sends as it is."""
        packet = Packet(self._encoder.encode(np.ascontiguousarray(samples, np.float32)))
        packet.pts, packet.time_base = timestamp, _TIME_BASE
        return packet


class Serving:
    """One connection after the other."""

    def __init__(self, kind: str, clip: Samples) -> None:
        self._make = FixedTrack if kind == "fixed" else ClipTrack
        self._clip = clip
        self._connection: RTCPeerConnection | None = None
        self._track: ClipTrack | None = None

    async def do(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answers a request."""
        if "offer" in request:
            self._connection, self._track = RTCPeerConnection(RTCConfiguration(iceServers=[])), self._make(self._clip)
            self._connection.addTrack(self._track)
            await self._connection.setRemoteDescription(RTCSessionDescription(sdp=request["offer"], type="offer"))
            await self._connection.setLocalDescription(await self._connection.createAnswer())
            return {"answer": self._connection.localDescription.sdp}
        if "go" in request and self._track is not None:
            self._track.go()
            return {"at": await self._track.begun}
        if "leave" in request and self._connection is not None:
            await self._connection.close()
            self._connection = None
        return {}


async def serve(kind: str, wav: str) -> None:
    """Until stdin ends."""
    samples, _ = read_wav(wav)
    serving, loop = Serving(kind, samples), asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps(await serving.do(json.loads(line))), flush=True)


if __name__ == "__main__":
    asyncio.run(serve(*sys.argv[1:]))
