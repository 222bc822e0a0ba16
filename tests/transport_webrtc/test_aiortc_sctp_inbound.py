"""A peer that sends what no honest one would costs nobody but itself."""

import time

import pytest
from aiortc import RTCConfiguration, RTCPeerConnection
from aiortc.rtcsctptransport import DataChunk, SackChunk

from transport_webrtc.aiortc_sctp_inbound import AHEAD, CHUNKS_A_SECOND, FRAGMENTS, STREAMS, limit_what_comes

BEGIN, MIDDLE, WHOLE = 2, 0, 7
"""Flags of a chunk (RFC 9260 section 3.3.1), the last one unordered."""
FIRST = 5000
"""Number that is expected."""


class Association:
    """That of a server, to which nothing is connected; the clock stands unless it is moved."""

    def __init__(self):
        self.now = 1000.0
        self.pc = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.pc.createDataChannel("control")
        self.sctp = self.pc.sctp
        self.messages = 0
        self.sctp._last_received_tsn, self.sctp._last_sacked_tsn = FIRST - 1, 0
        self.sctp._receive, self.sctp._transmit = self._count, self._count
        limit_what_comes(self.sctp, clock=lambda: self.now)

    async def _count(self, *message):
        self.messages += 1

    async def data(self, number: int, *, flags: int = WHOLE, stream: int = 1, size: int = 2) -> None:
        """The chunk with that number, 1 for the first that is expected."""
        chunk = DataChunk(flags=flags)
        chunk.tsn = FIRST - 1 + number
        chunk.stream_id, chunk.stream_seq, chunk.protocol, chunk.user_data = stream, 0, 51, bytes(size)
        await self.sctp._receive_chunk(chunk)

    async def sack(self, cumulative: int, *gaps: tuple[int, int]) -> int:
        """The last number that counts as acknowledged after it."""
        chunk = SackChunk()
        chunk.cumulative_tsn, chunk.advertised_rwnd, chunk.gaps = cumulative, 100_000, list(gaps)
        await self.sctp._receive_chunk(chunk)
        return self.sctp._last_sacked_tsn

    @property
    def waiting(self) -> int:
        return sum(len(stream.reassembly) for stream in self.sctp._inbound_streams.values())


@pytest.fixture
async def association():
    one = Association()
    yield one
    await one.pc.close()


async def test_acknowledged_is_only_what_was_sent(association) -> None:
    association.sctp._local_tsn = 100
    assert await association.sack(10, (2, 3), (5, 89)) == 10, "89 after 10 is the last that was sent"
    assert await association.sack(11, (2, 89)) == 10
    assert await association.sack(11, (2, 5), (4, 6)) == 10, "blocks do not overlap"
    assert await association.sack(11, (0, 5)) == 10
    assert await association.sack(11, (6, 5)) == 10
    assert await association.sack(100) == 10
    assert await association.sack(99) == 99


async def test_an_acknowledgement_of_everything_is_no_work(association) -> None:
    """Stock makes a set of 65,535 numbers for each of as many blocks as a packet holds: 1.2 s."""
    began = time.process_time()
    for _ in range(10):
        await association.sack(0, *[(1, 65_535)] * 280)
    assert time.process_time() - began < 0.5


async def test_fragments_that_never_end_are_not_kept(association) -> None:
    for number in range(1, 2 * FRAGMENTS):
        await association.data(number, flags=BEGIN if number == 1 else MIDDLE)
    assert association.waiting == FRAGMENTS


async def test_no_more_is_kept_than_the_window_holds(association) -> None:
    for number in range(1, FRAGMENTS):
        await association.data(number, flags=BEGIN if number == 1 else MIDDLE, size=60_000)
    assert 0 < association.sctp._advertised_rwnd < 60_000


async def test_numbers_far_ahead_are_lost(association) -> None:
    """Beyond 65,535 stock cannot even say in a SACK what it has."""
    for number in (AHEAD, AHEAD + 1, 100_000, 2**31 - 1):
        await association.data(number)
    assert len(association.sctp._sack_misordered) == 1
    for number in range(1, AHEAD):
        association.now += 1 / CHUNKS_A_SECOND
        await association.data(number)
    assert not association.sctp._sack_misordered
    assert association.messages == AHEAD


async def test_streams_are_bounded(association) -> None:
    for number in range(1, 2 * STREAMS):
        await association.data(number, stream=number)
    assert len(association.sctp._inbound_streams) == STREAMS


async def test_a_flood_is_let_through_as_far_as_it_is_of_use(association) -> None:
    for number in range(1, 3 * CHUNKS_A_SECOND):
        await association.data(number)
    assert association.messages == CHUNKS_A_SECOND
    association.now += 0.5
    for number in range(CHUNKS_A_SECOND + 1, 3 * CHUNKS_A_SECOND):
        await association.data(number)
    assert association.messages == 1.5 * CHUNKS_A_SECOND


async def test_others_hear_on(server, ear) -> None:
    """Over a real connection: packets whose acknowledgement names everything."""
    one, other = ear(server), ear(server)
    await one.connect()
    await other.connect()
    sctp = one.pc.sctp
    sack = SackChunk()
    sack.cumulative_tsn, sack.gaps = sctp._last_received_tsn, [(1, 65_535)] * 280
    began = time.process_time()
    for _ in range(10):
        await sctp._send_chunk(sack)
    other.send({"say": "Heard.", "id": "o"})
    await other.told("finished", id="o")
    assert time.process_time() - began < 4, "stock takes 12 s"
    assert (await one.snapshot())["state"] == "connected"
