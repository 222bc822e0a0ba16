"""aiortc's SCTP kept out of the way of speech that is sent ahead: for one association, never for a class.

What is in flight is limited by who sends, from its own acknowledgements. Left alone, SCTP in aiortc 1.16 halves its
window on every loss, waits 2 to 8 s after a bad one, and answers each packet with one of its own (measured: 80 kb/s at
20 % loss, with a hole of 3.4 s).
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable

from aiortc import RTCSctpTransport
from aiortc.rtcsctptransport import SCTP_MAX_PACKET_LENGTH, Chunk, DataChunk, SackChunk

WINDOW_BYTES = 65_536
"""The congestion window is never below: more than speech ever has in flight."""
LONGEST_TIMEOUT_S, NARROW_TIMEOUT_S = 1.0, 3.0
"""Of the timer T3. aiortc measures round trips on chunks that were acknowledged long before; and a shorter one than
stock allows expires in vain on slow links (measured). On a narrow path what waits in its queue would go again every
second, and be a quarter of what passes (measured at 12 kb/s)."""
FORWARD_GAP_S = 0.1
"""Between two FORWARD-TSN (RFC 3758), which stock sends with every SACK until one is answered; and a round trip, before
which none can be answered, but no longer than `LONGEST_TIMEOUT_S`."""
SACK_GAP_S, NARROW_SACK_GAP_S = 0.15, 0.8
"""Between two SACKs; a peer waits at least 400 ms before it takes something as lost (dcSCTP, rto_min). On a narrow
path, where it waits longer, they would take as much as the speech: each has 93 bytes on the wire."""
RIDE_S = 0.1
"""For data that goes the same way a SACK waits so long, half of what a receiver may wait (RFC 9260 section 6.2)."""
COMMON_HEADER_BYTES = 12
"""Of an SCTP packet (RFC 9260 section 3.1)."""
RIDES_WITH_BYTES = 1100
"""Of data with which a SACK fits into a packet, unless it tells of very many gaps."""

NEEDED = (
    ("_update_rto", ("R",), "the timeout of data channels is limited there"),
    ("_transmit", (), "the window of data channels is kept open there"),
    ("_send_sack", (), "acknowledgements of data channels are spaced there"),
    ("_send_chunk", ("chunk",), "acknowledgements ride along with data there"),
    ("_update_advanced_peer_ack_point", (), "what was given up on data channels is told there"),
    ("_t3_expired", (), "what arrived is kept from going again there"),
)
"""Methods, their parameters, and why they are needed."""
NEEDED_ATTRIBUTES = (
    "_rto",
    "_srtt",
    "_cwnd",
    "_forward_tsn_chunk",
    "_sack_needed",
    "_association_state",
    "_sent_queue",
)


def keep_out_of_the_way(sctp: RTCSctpTransport) -> Callable[[bool], None]:
    """Tunes one association, before or while it is used; call it once. Returns what is told whether the path is
    narrow."""
    limit_timeout = _limit_timeout(sctp)
    _pass_over_what_arrived(sctp)
    _space_forwards(sctp)
    space_sacks = _space_sacks(sctp)

    def narrow(is_narrow: bool) -> None:
        limit_timeout(NARROW_TIMEOUT_S if is_narrow else LONGEST_TIMEOUT_S)
        space_sacks(NARROW_SACK_GAP_S if is_narrow else SACK_GAP_S)

    return narrow


class _Spaced:
    """Runs something at most once in so many seconds, at once where the last time is long enough ago."""

    def __init__(self, gap_s: float, run: Callable[[], Awaitable[None]]) -> None:
        self.gap_s = gap_s
        self._run = run
        self._at = float("-inf")
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def waits(self) -> bool:
        """It will be run."""
        return self._timer is not None

    def early(self, *, least_s: float = 0.0) -> bool:
        """Whether it is too soon, also by another measure; it is then run in time."""
        wait = self._at + max(self.gap_s, least_s) - asyncio.get_running_loop().time()
        if wait > 0:
            self.ask(wait)
        return wait > 0

    def ask(self, wait_s: float) -> None:
        """It is run so long from now, and never too soon, unless it was asked for before."""
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(max(wait_s, self._at + self.gap_s - loop.time()), self._late)

    def done(self) -> None:
        """It was run just now, and is not due any more."""
        self._at = asyncio.get_running_loop().time()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self._timer = None
        self._task = asyncio.ensure_future(self._safely(self._at))

    async def _safely(self, before: float) -> None:
        if self._at != before:
            return  # it was run meanwhile
        with contextlib.suppress(ConnectionError):  # the connection may have gone meanwhile
            await self._run()


def _limit_timeout(sctp: RTCSctpTransport) -> Callable[[float], None]:
    update: Callable[[float], None] = sctp._update_rto
    longest_s = LONGEST_TIMEOUT_S
    sctp._rto = min(sctp._rto, longest_s)

    def limited(R: float) -> None:
        update(R)
        sctp._rto = min(sctp._rto, longest_s)

    def limit(seconds: float) -> None:
        nonlocal longest_s
        if seconds > longest_s:
            sctp._rto = max(sctp._rto, seconds)  # until a round trip is measured again
        longest_s = seconds
        sctp._rto = min(sctp._rto, longest_s)

    sctp._update_rto = limited  # type: ignore[method-assign]
    return limit


def _pass_over_what_arrived(sctp: RTCSctpTransport) -> None:
    """What the peer has is neither sent again nor waited for.

    Stock sends all of it again when T3 expires, and moves the peer over one hole of what was given up a round trip,
    so that at 20 % loss the holes pile up and T3 expires every second (measured: 130 kb/s of nothing but that).
    """
    advance: Callable[[], None] = sctp._update_advanced_peer_ack_point
    expired: Callable[[], None] = sctp._t3_expired

    def advanced() -> None:
        queue = sctp._sent_queue
        settled = list(itertools.takewhile(lambda chunk: chunk._abandoned or chunk._acked, queue))
        while settled and not settled[-1]._abandoned:
            settled.pop()
        for _ in settled:
            queue.popleft()
        queue.extendleft(chunk for chunk in reversed(settled) if chunk._abandoned)
        advance()

    def expire() -> None:
        expired()
        for chunk in sctp._sent_queue:
            if chunk._acked:
                chunk._retransmit = False

    sctp._update_advanced_peer_ack_point = advanced  # type: ignore[method-assign]
    sctp._t3_expired = expire  # type: ignore[method-assign]


def _space_forwards(sctp: RTCSctpTransport) -> None:
    """Also keeps the window open, as that has to be done at the same place. A FORWARD-TSN that comes too soon is made
    anew in time: dropped for good, a full window might have to wait for T3."""
    transmit: Callable[[], Awaitable[None]] = sctp._transmit

    async def again() -> None:
        if sctp._association_state == RTCSctpTransport.State.ESTABLISHED:
            sctp._update_advanced_peer_ack_point()
            await sctp._transmit()

    spaced = _Spaced(FORWARD_GAP_S, again)

    async def transmitted() -> None:
        sctp._cwnd = max(sctp._cwnd, WINDOW_BYTES)
        if sctp._forward_tsn_chunk is not None:
            if spaced.early(least_s=min(sctp._srtt or 0.0, LONGEST_TIMEOUT_S)):
                sctp._forward_tsn_chunk = None
            else:
                spaced.done()
        await transmit()

    sctp._transmit = transmitted  # type: ignore[method-assign]


def _space_sacks(sctp: RTCSctpTransport) -> Callable[[float], None]:
    """One that waits rides along with the next data, in front of it (RFC 9260 section 6.10): a packet less."""
    send: Callable[[], Awaitable[None]] = sctp._send_sack
    send_chunk: Callable[[Chunk], Awaitable[None]] = sctp._send_chunk
    rider: DataChunk | None = None

    async def again() -> None:
        if sctp._association_state == RTCSctpTransport.State.ESTABLISHED:
            spaced.done()
            await send()

    spaced = _Spaced(SACK_GAP_S, again)

    async def sent() -> None:
        sctp._sack_needed = False
        spaced.ask(RIDE_S)

    async def sent_chunk(chunk: Chunk) -> None:
        nonlocal rider
        if isinstance(chunk, DataChunk) and spaced.waits and len(chunk.user_data) <= RIDES_WITH_BYTES:
            spaced.done()
            rider = chunk
            await send()
        elif isinstance(chunk, SackChunk) and rider is not None:
            together, rider = _Together(chunk, rider), None
            if together.fits:
                await send_chunk(together)
            else:
                await send_chunk(chunk)
                await send_chunk(together.last)
        else:
            await send_chunk(chunk)

    def space(gap_s: float) -> None:
        spaced.gap_s = gap_s

    sctp._send_sack = sent  # type: ignore[method-assign]
    sctp._send_chunk = sent_chunk  # type: ignore[method-assign]
    return space


class _Together(Chunk):
    """Two chunks that share a packet."""

    def __init__(self, first: Chunk, last: Chunk) -> None:
        self.last = last
        self._bytes = bytes(first) + bytes(last)

    @property
    def fits(self) -> bool:
        return len(self._bytes) <= SCTP_MAX_PACKET_LENGTH - COMMON_HEADER_BYTES

    def __bytes__(self) -> bytes:
        return self._bytes
