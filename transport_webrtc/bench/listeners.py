"""The listeners of `legato bench media`: aiortc as it comes, and two that report as a browser does, one for each
carrier."""

import asyncio
import contextlib
import json
from typing import Any

from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

from adaptive.delivery import Ack, PlayerState
from adaptive.delivery.answering import PLENTY_S, news_s, period_s
from adaptive.delivery.wire import SpeechMessage, unpack
from adaptive.ticks import TICK_RATE, to_ticks

from .. import aiortc_sctp
from ..aiortc_private import gather_on_loopback
from ..datagram_filter import LabNetwork
from .far_end import FarEnd, for_far_end, offer_more

LOSS = 0.02
"""Share of the packets to a reporting listener that are lost, so that some are asked for again."""

BITS = (1 << 64) - 1


class Plain:
    """Decodes what comes; says no more than aiortc's receiver reports."""

    def __init__(self) -> None:
        self._connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self._transceiver = self._connection.addTransceiver("audio", "recvonly")
        self._tasks: set[asyncio.Task[None]] = set()
        self._connection.createDataChannel("control")
        self._connection.on("track", self._track)
        gather_on_loopback(self._transceiver.sender, always=True)

    async def offer(self) -> str:
        """To be answered."""
        await self._connection.setLocalDescription(await self._connection.createOffer())
        return self._connection.localDescription.sdp

    async def take(self, answer: str) -> None:
        """Connects."""
        await self._connection.setRemoteDescription(RTCSessionDescription(sdp=answer, type="answer"))

    async def close(self) -> None:
        """Leaves."""
        await self._connection.close()

    def _track(self, track: Any) -> None:
        self._tasks.add(asyncio.create_task(_drain(track)))


class Reporting(Plain):
    """Takes copies, gives transport-wide feedback, asks for what is lost, and answers pings; plays nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._far: FarEnd | None = None
        self._feedback = self._connection.createDataChannel("feedback", ordered=False, maxRetransmits=0)
        self._feedback.on("message", self._ping)

    async def offer(self) -> str:
        """With all that Chromium's asks for."""
        return offer_more(await super().offer())

    async def take(self, answer: str) -> None:
        """Connects over a path that loses some packets."""
        LabNetwork(self._connection).set(up={"loss": LOSS})
        await super().take(for_far_end(answer))
        self._far = FarEnd(self._transceiver.receiver)

    async def close(self) -> None:
        """Leaves."""
        if self._far is not None:
            await self._far.close()
        await super().close()

    def _track(self, track: Any) -> None:
        """Nothing comes out of it."""

    def _ping(self, raw: str) -> None:
        message = json.loads(raw)
        if "p" in message and self._far is not None and self._feedback.readyState == "open":
            counted = [self._far.count, 0, 1000, 0, 0, 0, 0, self._far.octets, 0]
            self._feedback.send(json.dumps({"p": message["p"], "t": message["t"], "h": 0, "s": counted}))


class Ahead(Reporting):
    """Takes the data track instead of what it is offered beside it, and acknowledges as the page's player does; it
    plays on time, but decodes nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._epoch = self._largest = self._bitmap = 0
        self._arrival = self._began = 0.0
        self._utterance, self._got = 0, 0
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        """When the timer ends; uvloop's own tell that by another clock."""
        self._told = float("-inf")
        self._clock = asyncio.get_running_loop().time
        speech = self._connection.createDataChannel("speech", ordered=False, maxRetransmits=0)
        speech.on("message", self._take)

    async def take(self, answer: str) -> None:
        """Connects over a path that loses some packets."""
        await super().take(answer)
        if self._connection.sctp is not None:  # aiortc alone answers each packet at once, as nobody else does
            aiortc_sctp.keep_out_of_the_way(self._connection.sctp)
        self._again(period_s(PlayerState.PLAYING, rare=False))

    async def close(self) -> None:
        """Leaves."""
        if self._timer is not None:
            self._timer.cancel()
        await super().close()

    def _take(self, raw: bytes) -> None:
        message, now = unpack(raw), self._clock()
        self._epoch = message.epoch
        beyond = (message.number - self._largest + 0x8000) % 0x10000 - 0x8000
        if beyond > 0:
            self._bitmap = ((self._bitmap << 1 | 1) << beyond - 1) & BITS
            self._largest, self._arrival = message.number, now
        elif -64 <= beyond < 0:
            self._bitmap |= 1 << -beyond - 1
        if isinstance(message, SpeechMessage):
            self._began = self._began or now
            self._utterance = message.utterance
            self._got = max(self._got, message.position + len(message.frames) * message.ticks)
        self._again(max(0.0, self._told + news_s(rare=False) - now))

    def _again(self, wait_s: float) -> None:
        due = self._clock() + wait_s
        if self._timer is not None:
            if self._due <= due:
                return
            self._timer.cancel()
        self._due = due
        self._timer = asyncio.get_running_loop().call_later(wait_s, self._tell)

    def _tell(self) -> None:
        now, self._timer = self._clock(), None
        self._told = now
        played = min(self._got, round((now - self._began) * TICK_RATE)) if self._began else 0
        self._again(period_s(PlayerState.PLAYING, rare=self._got - played >= to_ticks(PLENTY_S)))
        if self._feedback.readyState != "open" or not self._largest:
            return
        ack = Ack(
            epoch=self._epoch,
            largest=self._largest,
            bitmap=self._bitmap,
            arrival=round(self._arrival * 1000) % 2**32,
            delay=min(0xFFFF, round((now - self._arrival) * 10_000)),
            wanted_utterance=self._utterance,
            wanted=self._got,
            played_utterance=self._utterance,
            played=played,
            buffered=min(0xFFFF, (self._got - played) // 48),
            state=PlayerState.PLAYING if self._began else PlayerState.EMPTY,
        )
        self._feedback.send(ack.pack())


async def _drain(track: Any) -> None:
    with contextlib.suppress(MediaStreamError):
        while True:
            await track.recv()
