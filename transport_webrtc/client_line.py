"""One connection of a client, which may be one of several in its life: a peer connection and its channels."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass

from aiortc import (
    RTCBundlePolicy,
    RTCConfiguration,
    RTCIceServer,
    RTCIceTransportPolicy,
    RTCPeerConnection,
    RTCSessionDescription,
)

from . import aiortc_private, aiortc_sctp
from .client_http import ListenError
from .ear import Ear, tell

LOOK_S = 0.25
LATE_S = 0.75
"""A look that comes so much late was held up with everything else in this process, and says nothing of the path."""
SILENCE_S = 2.2
"""Nothing came for so long, by whatever way: two of the server's slowest pings."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a line tells, each with itself."""

    on_state: Callable[["ClientLine"], None]
    """The state of the connection or of its control channel changed."""
    on_control: Callable[["ClientLine", str | bytes], None]
    on_arrival: Callable[["ClientLine"], None]
    on_silence: Callable[["ClientLine", float], None]
    """Nothing came for so many seconds; told again and again."""


class ClientLine:
    """Opens once, closes once."""

    def __init__(
        self, ear: Ear, told: Told, *, servers: list[RTCIceServer], relay_only: bool, loopback: bool, speech: bool
    ) -> None:
        """`relay_only`: over a TURN server or not at all; `loopback`: the server is on this machine; `speech`: a data
        track is offered."""
        policy = RTCIceTransportPolicy.RELAY if relay_only else RTCIceTransportPolicy.ALL
        self.pc = RTCPeerConnection(
            RTCConfiguration(iceServers=servers, iceTransportPolicy=policy, bundlePolicy=RTCBundlePolicy.MAX_BUNDLE)
        )
        transceiver = self.pc.addTransceiver("audio", direction="recvonly")
        if not relay_only:
            aiortc_private.gather_on_loopback(transceiver.sender, always=loopback)
        self.receiver = transceiver.receiver
        self._ear, self._told = ear, told
        ear.listen(self.receiver)
        self.control = self.pc.createDataChannel("control")
        offered = self.pc.createDataChannel("speech", ordered=False, maxRetransmits=0) if speech else None
        self.feedback = self.pc.createDataChannel("feedback", ordered=False, maxRetransmits=0)
        ear.answer_on(self.feedback, offered)
        for channel in (self.control, self.feedback, offered):
            if channel is not None:
                channel.on("message", self._arrived)
        self.control.on("message", lambda raw: told.on_control(self, raw))
        for emitter, event in ((self.control, "open"), (self.control, "close"), (self.pc, "connectionstatechange")):
            emitter.on(event, self._changed)
        self._moved = asyncio.Event()
        self._arrived_at = 0.0
        self._packets = 0
        self._watching: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def state(self) -> str:
        """Of the connection; `closed` also where the server ended it, of which its control channel tells first."""
        return "closed" if self.control.readyState == "closed" else self.pc.connectionState

    @property
    def stands(self) -> bool:
        """Whether everything can go over it."""
        return self.state == "connected" and self.control.readyState == "open"

    @property
    def candidates(self) -> set[str]:
        """Kinds of the addresses that were offered: `host`, `srflx`, `relay`."""
        return set(re.findall(r"a=candidate:.* typ (\w+)", self.pc.localDescription.sdp))

    async def offer(self) -> str:
        """What it offers, candidates and all."""
        await self.pc.setLocalDescription(await self.pc.createOffer())
        return self.pc.localDescription.sdp

    async def answered(self, sdp: str, *, within_s: float, whole: bool) -> None:
        """Takes the answer, and returns when the connection stands, its control channel too where it is to be `whole`.
        Raises TimeoutError where that takes longer, ListenError where it cannot be, ValueError where the answer is
        none."""
        try:
            await self.pc.setRemoteDescription(RTCSessionDescription(sdp=sdp, type="answer"))
        except (ValueError, AssertionError, LookupError) as error:
            raise ValueError("The answer is no session description for WebRTC.") from error
        if self.pc.sctp is not None:
            aiortc_sctp.keep_out_of_the_way(self.pc.sctp)
        async with asyncio.timeout(within_s):
            while not (self.stands if whole else self.state == "connected"):
                if self.state in ("failed", "closed"):
                    raise ListenError("The connection to the server is lost.")
                self._moved.clear()
                await self._moved.wait()

    def watch(self) -> None:
        """From now on silence is noticed."""
        self._arrived_at = asyncio.get_running_loop().time()
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch())

    def send(self, message: str) -> None:
        """Over the channel that waits for nothing: let go where it is closed or full."""
        tell(self.feedback, message)

    async def close(self) -> None:
        """Ends it and tells nothing more; safe to repeat."""
        self._closed = True
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        await self.pc.close()

    def _changed(self) -> None:
        self._moved.set()
        if not self._closed:
            self._told.on_state(self)

    def _arrived(self, _: object = None) -> None:
        self._arrived_at = asyncio.get_running_loop().time()
        if not self._closed:
            self._told.on_arrival(self)

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        looked = loop.time()
        while True:
            await asyncio.sleep(LOOK_S)
            now = loop.time()
            if now - looked > LOOK_S + LATE_S:
                self._arrived_at = max(self._arrived_at, now - LATE_S)
            looked = now
            packets = self._ear.playout.counters.received if self._ear.hears(self.receiver) else self._packets
            if packets > self._packets:
                self._packets = packets
                self._arrived()
            if now - self._arrived_at > SILENCE_S:
                self._told.on_silence(self, now - self._arrived_at)
