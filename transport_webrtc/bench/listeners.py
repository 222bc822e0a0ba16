"""The listeners of `legato bench media`: aiortc as it comes, and one that reports as a browser does."""

import asyncio
import contextlib
import json
from typing import Any

from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

from ..aiortc_private import gather_on_loopback
from ..datagram_filter import LabNetwork
from .far_end import FarEnd, for_far_end, offer_more

LOSS = 0.02
"""Share of the packets to a reporting listener that are lost, so that some are asked for again."""


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


async def _drain(track: Any) -> None:
    with contextlib.suppress(MediaStreamError):
        while True:
            await track.recv()
