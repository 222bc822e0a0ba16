"""What a native listener hears: a receiver's packets, played out on the clock and kept; pings answered as by a page."""

import asyncio
import json
from collections.abc import Callable

import numpy as np
from aiortc import RTCDataChannel, RTCRtpReceiver

from adaptive.speech.voice import Samples
from adaptive.ticks import to_ticks

from .aiortc_private import take_packets
from .playout import Playout

PULL_S = 0.02
"""Between two pulls of what came out of the playout."""
LONGEST_DELAY_S = 4.0
"""That a server may ask for (W3C webrtc-extensions, jitterBufferTarget)."""


class Ear:
    """Keeps what comes out from `started_at` on: one sample a tick of the clock, silence where nothing sounded."""

    def __init__(self, clock: Callable[[], float], *, delay_s: float | None = None) -> None:
        """`delay_s` is how long speech is held before it is played; None leaves that to the server."""
        self.started_at = clock()
        self.playout = Playout(start=self.started_at) if delay_s is None else Playout(self.started_at, delay_s)
        self._clock = clock
        self._pinned = delay_s is not None
        self._heard: list[Samples] = []
        self._pulling: asyncio.Task[None] | None = None

    def listen(self, receiver: RTCRtpReceiver) -> None:
        """Begins to play what `receiver` receives."""
        take_packets(receiver, self._packet)
        self._pulling = asyncio.create_task(self._pull())

    def answer_pings(self, channel: RTCDataChannel) -> None:
        """Answers on the feedback channel with the receiver's counters, and holds speech as long as is asked there."""
        channel.on("message", lambda raw: self._pinged(channel, raw))

    def heard(self, since: float | None = None) -> Samples:
        """What came out from `since` (None: from the beginning) until now, float32, 48 kHz, full scale ±1."""
        self._take_out()
        samples = np.concatenate(self._heard) if self._heard else np.zeros(0, np.float32)
        return samples if since is None else samples[max(0, to_ticks(since - self.started_at)) :]

    async def close(self) -> None:
        """Hears nothing more; what was heard stays."""
        if self._pulling is not None:
            self._pulling.cancel()
            await asyncio.gather(self._pulling, return_exceptions=True)
        self.playout.close()

    def _packet(self, sequence: int, timestamp: int, payload: bytes) -> None:
        self._take_out()
        self.playout.arrived(self._clock(), sequence, timestamp, payload)

    def _pinged(self, channel: RTCDataChannel, raw: str | bytes) -> None:
        received = self._clock()
        message = json.loads(raw)
        if "jbt" in message and not self._pinned:
            self.playout.delay_s = min(message["jbt"] / 1000, LONGEST_DELAY_S)
        if "p" in message and channel.readyState == "open":
            self._take_out()
            counters = self.playout.counters.as_list() if self.playout.counters.received else None
            held = round((self._clock() - received) * 1000, 2)
            channel.send(json.dumps({"p": message["p"], "t": message["t"], "h": held, "s": counters}))

    def _take_out(self) -> None:
        """Time passes: everything up to now has come out."""
        if len(block := self.playout.play(self._clock())):
            self._heard.append(block)

    async def _pull(self) -> None:
        while True:
            self._take_out()
            await asyncio.sleep(PULL_S)
