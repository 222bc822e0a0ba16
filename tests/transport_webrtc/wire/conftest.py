"""A far end that takes what a browser takes, at a listener steered by a test, on real sockets in the lab's network."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription

from adaptive.codec.redundancy import unpack
from adaptive.control.plan import Bandwidth, Carrier, Plan, Protection, Reason, Rung
from adaptive.control.profiles import Profile
from adaptive.control.reports import NetworkReport
from adaptive.delivery import Flush, SpeechMessage
from adaptive.delivery.wire import unpack as unpack_ahead
from transport_webrtc import aiortc_private
from transport_webrtc.bench.far_end import FarEnd, for_far_end, offer_more
from transport_webrtc.listener import Listener
from transport_webrtc.media.block import Block

DATA_CHUNK = 0
"""RFC 9260 section 3.3.1."""
HEADERS = 28
"""Bytes of IPv4 and UDP."""
RUNG = Rung(bitrate=24_000, bandwidth=Bandwidth.FB, frame_ms=20)


@dataclass(kw_only=True)
class Steered:
    """A controller that does what the test wants, and keeps what it is told."""

    profile: Profile
    protection: Protection = field(default_factory=Protection)
    reports: list[NetworkReport] = field(default_factory=list)
    takes: list[tuple[Carrier, dict[str, bool]]] = field(default_factory=list)

    def on_network(self, report: NetworkReport) -> None:
        self.reports.append(report)

    def on_carrier(self, carrier: Carrier, **takes: bool) -> None:
        self.takes.append((carrier, takes))

    def _ignore(self, fact: object) -> None:
        """Nothing moves it."""

    on_compute = on_content = on_heard = _ignore

    def plan(self, now: float) -> Plan:
        return Plan(rung=RUNG, tier="full", reason=Reason.FORCED, protection=self.protection)


@dataclass
class Scene:
    """A listener of the server, and its far end."""

    server: Any
    listener: Listener
    controller: Steered
    far: FarEnd
    answer: str

    async def say(self, characters: int) -> None:
        """Speech of 60 ms a character, and the first of it has arrived."""
        response = await self.server.client.post(f"/v1/listen/{self.listener.id}/speak", json={"say": "a" * characters})
        assert response.status_code == 202
        await self.server.until(lambda: self.listener.sent.frames > 5)

    async def gather(self, packets: int) -> list[bytes]:
        """The next packets that arrive."""
        first = self.far.packets[-1] if self.far.packets else None
        at = len(self.far.packets)
        await self.server.until(lambda: len(self.far.packets) >= at + packets)
        assert first is None or first in self.far.packets
        return self.far.packets[at : at + packets]


Meet = Callable[..., Awaitable[Scene]]


@pytest.fixture
async def meet(serve, monkeypatch) -> AsyncIterator[Meet]:
    """Connects a far end to a server with a lab; `more` is what its offer becomes."""
    server = await serve(lab=True)
    controllers: list[Steered] = []
    left: list[tuple[RTCPeerConnection, FarEnd]] = []

    def load(name: str, *, profile: Profile) -> Steered:
        controllers.append(Steered(profile=profile))
        return controllers[-1]

    monkeypatch.setattr("transport_webrtc.listener.load_controller", load)

    async def start(*, more: Callable[[str], str] = offer_more, **options: Any) -> Scene:
        pc = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        transceiver = pc.addTransceiver("audio", "recvonly")
        aiortc_private.gather_on_loopback(transceiver.sender, always=False)
        await pc.setLocalDescription(await pc.createOffer())
        made = await server.client.post(
            "/v1/listen", content=more(pc.localDescription.sdp), headers={"Content-Type": "application/sdp"}
        )
        assert made.status_code == 201, made.text
        await pc.setRemoteDescription(RTCSessionDescription(sdp=for_far_end(made.text), type="answer"))
        far = FarEnd(transceiver.receiver, **options)
        left.append((pc, far))
        listener = server.listeners.get(made.headers["location"].rsplit("/", 1)[1])
        await server.until(lambda: listener.state == "connected")
        return Scene(server, listener, controllers[-1], far, made.text)

    yield start
    for pc, far in left:
        await far.close()
        await pc.close()


class Left:
    """What a listener's audio track let go: by RTP timestamp, the block that each packet held, and when it left."""

    def __init__(self, listener: Listener, clock: Callable[[], float]) -> None:
        self.packets: list[tuple[float, int, bytes, Block | None]] = []
        """(when, tick, payload, block)."""
        track = listener.line.track
        inner = track.watch

        def watch(tick: int, frame: bytes, payload: bytes, block: Block | None) -> None:
            self.packets.append((clock(), tick, payload, block))
            if inner is not None:
                inner(tick, frame, payload, block)

        track.watch = watch

    def blocks(self, packets: list[bytes]) -> dict[int, Block]:
        """Which of them arrived in `packets`, alone or as copies, by their ticks."""
        there = {tick for packet, offset in self._placed(packets) for tick in ticks_of(packet, offset)}
        return {tick: block for _, tick, _, block in self.packets if tick in there and block is not None}

    def within(self, packets: list[bytes]) -> list[list[tuple[int, Block]]]:
        """For each of `packets` the blocks in it, with their ticks: copies first."""
        known = {tick: block for _, tick, _, block in self.packets if block is not None}
        return [
            [(tick, known[tick]) for tick in ticks_of(packet, offset) if tick in known]
            for packet, offset in self._placed(packets)
        ]

    def _placed(self, packets: list[bytes]) -> list[tuple[bytes, int]]:
        """Each with what its timestamp is beyond the tick."""
        ticks: dict[bytes, list[int]] = {}
        for _, tick, payload, _ in self.packets:
            ticks.setdefault(payload, []).append(tick)
        pairs = Counter(
            (timestamp_of(packet) - tick) % 2**32 for packet in packets for tick in ticks.get(payload_of(packet), ())
        )
        offset = pairs.most_common(1)[0][0]
        return [(packet, offset) for packet in packets]


def ticks_of(packet: bytes, offset: int) -> list[int]:
    return [(timestamp_of(packet) - block.offset - offset) % 2**32 for block in unpack(payload_of(packet))]


def timestamp_of(packet: bytes) -> int:
    return int.from_bytes(packet[4:8], "big")


def payload_of(packet: bytes) -> bytes:
    return packet[16 + 4 * int.from_bytes(packet[14:16], "big") :] if packet[0] & 0x10 else packet[12:]


class LeftAhead:
    """What left for one listener on its data track: messages, by what they hold, and the datagrams that they were."""

    def __init__(self, listener: Listener) -> None:
        self.messages: list[tuple[float, SpeechMessage | Flush]] = []
        """(when, message), whole and before encryption."""
        self.sizes: list[int] = []
        """Of the datagrams that hold them, headers included, without the acknowledgements that ride along."""
        self._ours: int | None = None
        """What a datagram with a message of ours has on the wire beyond its payload: headers, less a SACK beside it."""
        transport = listener.line._peer.pc.sctp.transport
        send, clock = transport._send_data, asyncio.get_running_loop().time

        async def sent(data: bytes) -> None:
            found = [_ahead(chunk[16:]) for chunk in _chunks(data) if chunk[0] == DATA_CHUNK]
            messages = [(clock(), message) for message in found if message is not None]
            self.messages += messages
            beside = sum(len(chunk) for chunk in _chunks(data) if chunk[0] != DATA_CHUNK)
            self._ours = HEADERS - beside if messages else None
            await send(data)
            self._ours = None

        def left(datagram: bytes, _: object) -> None:
            if self._ours is not None:
                self.sizes.append(len(datagram) + self._ours)

        transport._send_data = sent
        if listener.network is not None:
            listener.network.watch(left)


def _chunks(packet: bytes) -> Iterator[bytes]:
    """Those of an SCTP packet, without their padding (RFC 9260 section 3)."""
    at = 12
    while at + 4 <= len(packet):
        length = int.from_bytes(packet[at + 2 : at + 4], "big")
        yield packet[at : at + length]
        at += -(-length // 4) * 4


def _ahead(data: bytes) -> SpeechMessage | Flush | None:
    try:
        return unpack_ahead(data)
    except ValueError:
        return None


@pytest.fixture
def ahead() -> type[LeftAhead]:
    """Watches what leaves on the data track."""
    return LeftAhead


@pytest.fixture
def left() -> type[Left]:
    """Watches what leaves."""
    return Left
