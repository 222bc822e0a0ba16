"""What a native listener hears: both carriers, played out on the clock and kept; pings answered as by a page."""

import asyncio
import json
from collections.abc import Callable

import numpy as np
from aiortc import RTCDataChannel, RTCRtpReceiver

from adaptive.control.plan import Carrier
from adaptive.speech.voice import Samples
from adaptive.ticks import to_ticks

from .aiortc_private import take_packets
from .playing import Player
from .playout import Gap, Playout

PULL_S = 0.01
"""Between two pulls of what came out, which is when acknowledgements leave, too."""
LONGEST_DELAY_S = 4.0
"""That a server may ask for (W3C webrtc-extensions, jitterBufferTarget)."""
WAITING_BYTES = 4_096
"""With more of them waiting on the feedback channel, what is told would be old when it arrives."""


class Ear:
    """Keeps what comes out from `started_at` on: one sample a tick of the clock, silence where nothing sounded."""

    def __init__(self, clock: Callable[[], float], *, delay_s: float | None = None) -> None:
        """`delay_s` is how long speech on the audio track is held before it is played; None leaves that to the
        server."""
        self.started_at = clock()
        self.playout = Playout(start=self.started_at) if delay_s is None else Playout(self.started_at, delay_s)
        """Of the audio track."""
        self.player = Player(self.started_at)
        """Of the data track."""
        self._clock = clock
        self._pinned = delay_s is not None
        self._heard: tuple[list[Samples], list[Samples]] = ([], [])
        self._pulling: asyncio.Task[None] | None = None
        self._receiver: RTCRtpReceiver | None = None
        self._feedback: RTCDataChannel | None = None
        self._carriers: list[tuple[float, Carrier]] = []

    def listen(self, receiver: RTCRtpReceiver) -> None:
        """Begins to play what `receiver` receives; of several the first, until `move` says otherwise."""
        take_packets(receiver, lambda *packet: self._packet(receiver, *packet))
        if self._receiver is None:
            self._receiver = receiver
            self._pulling = asyncio.create_task(self._pull())

    def answer_on(self, feedback: RTCDataChannel, speech: RTCDataChannel | None = None) -> None:
        """Answers pings on `feedback` with the receiver's counters, and holds speech as long as is asked there; plays
        what comes on `speech`, and acknowledges it on `feedback`."""
        if self._feedback is None:
            self._feedback = feedback
        feedback.on("message", lambda raw: self._pinged(feedback, raw))
        if speech is not None:
            speech.on("message", self._ahead)

    def move(self, receiver: RTCRtpReceiver, feedback: RTCDataChannel) -> None:
        """Another connection goes on with the speech: `receiver` is played, and acknowledgements go to `feedback`. What
        was sent ahead plays on."""
        if receiver is self._receiver:
            return
        self._take_out()
        self._receiver, self._feedback = receiver, feedback
        self.playout.restart()

    def hears(self, receiver: RTCRtpReceiver) -> bool:
        """Whether it is that one which is played."""
        return receiver is self._receiver

    def carried(self, carrier: str) -> None:
        """From now on that carrier has the speech."""
        if carrier != self.carrier:
            self._carriers.append((self._clock(), Carrier(carrier)))

    @property
    def now(self) -> float:
        """On the clock given; the time from which on something asked for now may be heard."""
        return self._clock()

    @property
    def carrier(self) -> Carrier:
        """What has the speech now."""
        return self._carriers[-1][1] if self._carriers else Carrier.AUDIO

    @property
    def gaps(self) -> list[Gap]:
        """What did not come out of what was sent, in the order of time: of each carrier while it had the speech."""
        audio = [gap for gap in self.playout.gaps if self._carrier_at(gap.at) is Carrier.AUDIO]
        return sorted([*audio, *self.player.gaps], key=lambda gap: gap.at)

    def heard(self, since: float | None = None) -> Samples:
        """What came out from `since` (None: from the beginning) until now, float32, 48 kHz, full scale ±1."""
        self._take_out()
        audio, data = (np.concatenate(blocks) if blocks else np.zeros(0, np.float32) for blocks in self._heard)
        ticks = min(len(audio), len(data))  # the audio track is ahead of the clock by the rest of a frame
        samples = audio[:ticks] + data[:ticks]
        return samples if since is None else samples[max(0, to_ticks(since - self.started_at)) :]

    async def close(self) -> None:
        """Hears nothing more; what was heard stays."""
        if self._pulling is not None:
            self._pulling.cancel()
            await asyncio.gather(self._pulling, return_exceptions=True)
        self.playout.close()
        self.player.close()

    def _packet(self, receiver: RTCRtpReceiver, sequence: int, timestamp: int, payload: bytes) -> None:
        if receiver is not self._receiver:
            return
        self._take_out()
        self.playout.arrived(self._clock(), sequence, timestamp, payload)

    def _ahead(self, raw: str | bytes) -> None:
        now = self._take_out()
        if isinstance(raw, bytes):
            if not self.player.messages.received:
                self.carried(Carrier.DATA)
            self.player.take(now, raw)
            self._acknowledge(now)

    def _pinged(self, feedback: RTCDataChannel, raw: str | bytes) -> None:
        received = self._clock()
        message = json.loads(raw)
        if "jbt" in message and not self._pinned:
            self.playout.delay_s = min(message["jbt"] / 1000, LONGEST_DELAY_S)
        if "p" in message:
            self._take_out()
            counters = self.playout.counters.as_list() if self.playout.counters.received else None
            held = round((self._clock() - received) * 1000, 2)
            tell(feedback, json.dumps({"p": message["p"], "t": message["t"], "h": held, "s": counters}))

    def _take_out(self) -> float:
        """Time passes: everything up to now has come out. Returns now."""
        now = self._clock()
        for blocks, block in zip(self._heard, (self.playout.play(now), self.player.play(now)), strict=True):
            if len(block):
                blocks.append(block)
        return now

    def _acknowledge(self, now: float) -> None:
        if (ack := self.player.ack(now)) is not None and self._feedback is not None:
            tell(self._feedback, ack)

    def _carrier_at(self, at: float) -> Carrier:
        before = [carrier for since, carrier in self._carriers if since <= at]
        return before[-1] if before else Carrier.AUDIO

    async def _pull(self) -> None:
        while True:
            self._acknowledge(self._take_out())
            await asyncio.sleep(PULL_S)


def tell(feedback: RTCDataChannel, message: str | bytes) -> None:
    """What is of use only at once: it is let go where the channel is closed or full."""
    if feedback.readyState == "open" and feedback.bufferedAmount <= WAITING_BYTES:
        feedback.send(message)
