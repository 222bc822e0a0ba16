"""What a peer may have aiortc's SCTP do for it: one association, never a class.

aiortc 1.16 believes what it is told. Of a SACK whose gap blocks overlap it makes every number that they name (measured:
1.3 s for a packet of 1,200 bytes, in which nobody hears anything), it keeps fragments far beyond the window that it
advertised, and sorts all numbers that came out of order at each chunk.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiortc import RTCSctpTransport
from aiortc.rtcsctptransport import Chunk, DataChunk, SackChunk

from .inbox import TokenBucket

CHUNKS_A_SECOND = 1_000
"""And packets, each counted alone; a listener sends some 50. What is beyond is dropped as a full network would."""
AHEAD = 1_024
"""Numbers that a chunk may be ahead of the last one before which nothing is missing: the largest message that is taken
is cut into 228."""
FRAGMENTS = 512
"""That may wait for the rest of their messages, on all streams together."""
STREAMS = 64
"""On which something came and which were not closed: four times the channels that are taken."""
SERIAL = 1 << 32

NEEDED = (
    ("_handle_data", ("data",), "packets are counted there, and unreadable ones dropped"),
    ("_receive_chunk", ("chunk",), "chunks that claim what cannot be are dropped there"),
)
"""Methods, their parameters, and why they are needed."""
NEEDED_ATTRIBUTES = ("_advertised_rwnd", "_inbound_streams", "_last_received_tsn", "_local_tsn")


def limit_what_comes(sctp: RTCSctpTransport, *, clock: Callable[[], float]) -> None:
    """Drops what comes too fast, or claims what cannot be. Call it once, before the association is used; `clock` gives
    monotonic seconds."""
    handle: Callable[[bytes], Awaitable[None]] = sctp._handle_data
    receive: Callable[[Chunk], Awaitable[None]] = sctp._receive_chunk
    packets, chunks = TokenBucket(CHUNKS_A_SECOND), TokenBucket(CHUNKS_A_SECOND)

    async def handled(data: bytes) -> None:
        if packets.take(clock()):
            await handle(data)

    async def received(chunk: Chunk) -> None:
        if chunks.take(clock()) and _believable(sctp, chunk):
            await receive(chunk)

    sctp._handle_data = handled  # type: ignore[method-assign]
    sctp._receive_chunk = received  # type: ignore[method-assign]


def _believable(sctp: RTCSctpTransport, chunk: Chunk) -> bool:
    if isinstance(chunk, SackChunk):
        return _acknowledges_what_was_sent(sctp, chunk)
    return not isinstance(chunk, DataChunk) or _has_room(sctp, chunk)


def _acknowledges_what_was_sent(sctp: RTCSctpTransport, chunk: SackChunk) -> bool:
    """Its gap blocks follow each other (RFC 9260 section 3.3.4) and end where what was sent does."""
    sent = (sctp._local_tsn - 1 - chunk.cumulative_tsn) % SERIAL
    before = 0
    for first, last in chunk.gaps:
        if not before < first <= last <= sent:
            return False
        before = last
    return sent < SERIAL // 2


def _has_room(sctp: RTCSctpTransport, chunk: DataChunk) -> bool:
    """RFC 9260 section 6.2: what the advertised window does not hold may be dropped."""
    streams, last = sctp._inbound_streams, sctp._last_received_tsn
    ahead = 0 if last is None else (chunk.tsn - last) % SERIAL
    if AHEAD < ahead < SERIAL // 2 or len(chunk.user_data) > sctp._advertised_rwnd:
        return False
    if chunk.stream_id not in streams and len(streams) >= STREAMS:
        return False
    return sum(len(stream.reassembly) for stream in streams.values()) < FRAGMENTS
