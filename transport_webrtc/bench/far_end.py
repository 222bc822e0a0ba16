"""The far end of a bench: an aiortc connection that asks for what a browser asks for, and reports as one does.

It takes RED, gives transport-wide feedback every 62 ms and asks for what is missing again, all of which aiortc's own
receiver does not know. It plays nothing.
"""

import asyncio
import contextlib
import time
from collections.abc import Sequence

from aiortc import RTCRtpReceiver

from ..aiortc_private import take_rtp
from ..feedback import twcc
from ..receive_counters import Extender
from ..signalling import capabilities
from ..signalling.capabilities import Capabilities

RED, EXTENSION = 63, 3
"""Payload type and header extension id that Chromium offers."""
FEEDBACK_S = 0.062
"""Between two feedback packets (measured in Chromium while speech is sent at 20 ms)."""
REFERENCE_S, STEP_S = 0.064, 0.000_25
LARGE, PER_CHUNK = 2, 7
"""Of the wire format of transport-wide feedback: see `feedback.twcc`."""
GENERIC_NACK = 1
KEPT = 2048
"""Packets remembered."""


def offer_more(offer: str) -> str:
    """aiortc's offer with RED and transport-wide feedback for its Opus."""
    found = capabilities.read(offer)
    if found is None:
        raise ValueError("The offer has no Opus.")
    opus = f"a=rtpmap:{found.opus} opus/48000/2"
    more = [
        f"a=rtcp-fb:{found.opus} transport-cc",
        f"a=rtpmap:{RED} red/48000/2",
        f"a=fmtp:{RED} {found.opus}/{found.opus}",
        f"a=extmap:{EXTENSION} {twcc.URI}",
    ]
    return offer.replace(opus, "\r\n".join([opus, *more]), 1)


def for_far_end(answer: str) -> str:
    """The answer as aiortc takes it: Opus alone."""
    found = capabilities.read(answer)
    if found is None:
        raise ValueError("The answer has no Opus.")
    plain = Capabilities(opus=found.opus, fmtp=found.fmtp, red=None, transport_wide=None)
    return capabilities.for_aiortc(answer, plain)


class FarEnd:
    """Takes the packets of `receiver` instead of aiortc. Make it once the answer is set."""

    def __init__(self, receiver: RTCRtpReceiver, *, asks: bool = True) -> None:
        """`asks`: what is missing is asked for again, once."""
        self.packets: list[bytes] = []
        """As they arrived, decrypted, header and payload; the newest `KEPT`."""
        self._asks = asks
        self.count = self.octets = 0
        """Packets that came, and the bytes in them."""
        self._numbers = Extender(16)
        self._arrived: dict[int, float] = {}
        """When a packet arrived first, by its number."""
        self._fresh: list[int] = []
        """Numbers of which nothing was told yet."""
        self._newest = -1
        self._settled: int | None = None
        """Everything before this number was told, and asked for where it was missing."""
        self._behind = 0
        """From a packet's number to its RTP sequence number."""
        self._ssrc = bytes(4)
        self._reports = 0
        self._send = take_rtp(receiver, self._packet)
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Says nothing more."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def ask_again(self, sequences: Sequence[int]) -> None:
        """One NACK (RFC 4585 section 6.2.1) for packets by their RTP sequence numbers."""
        body = b"".join((number & 0xFFFF).to_bytes(2, "big") + bytes(2) for number in sequences)
        await self._send(_rtcp(GENERIC_NACK, self._ssrc, body))

    def _packet(self, data: bytes) -> None:
        self.packets.append(data)
        del self.packets[:-KEPT]
        self.count += 1
        self.octets += len(data)
        self._ssrc = data[8:12]
        number = number_of(data)
        if number is None:
            return
        self._behind = (data[2] << 8 | data[3]) - number
        number = self._numbers.extend(number)
        if self._settled is None:
            self._settled = number
        if number not in self._arrived:
            self._arrived[number] = time.monotonic()
            self._arrived.pop(number - KEPT, None)
            self._fresh.append(number)
            self._newest = max(self._newest, number)

    async def _run(self) -> None:
        with contextlib.suppress(ConnectionError):
            while True:
                await asyncio.sleep(FEEDBACK_S)
                if self._settled is None or not self._fresh:
                    continue
                await self._send(self._feedback(min(self._settled, *self._fresh), self._newest))
                missing = [n for n in range(self._settled, self._newest + 1) if n not in self._arrived]
                self._settled = self._newest + 1
                self._fresh.clear()
                if missing and self._asks:
                    await self.ask_again([n + self._behind for n in missing])

    def _feedback(self, first: int, last: int) -> bytes:
        """What became of packets `first` to `last`: chunks of two bits a packet, deltas of two bytes."""
        times = [self._arrived.get(number) for number in range(first, last + 1)]
        began = next(at for at in times if at is not None)
        reference = int(began / REFERENCE_S)
        before = round(reference * REFERENCE_S / STEP_S)
        chunks = deltas = b""
        for at in range(0, len(times), PER_CHUNK):
            states = (LARGE if time is not None else 0 for time in times[at : at + PER_CHUNK])
            bits = sum(state << 2 * (PER_CHUNK - 1 - place) for place, state in enumerate(states))
            chunks += (0xC000 | bits).to_bytes(2, "big")
        for arrived in times:
            if arrived is not None:
                steps = round(arrived / STEP_S)
                deltas += max(-(1 << 15), min((1 << 15) - 1, steps - before)).to_bytes(2, "big", signed=True)
                before = steps
        head = (first & 0xFFFF).to_bytes(2, "big") + len(times).to_bytes(2, "big")
        head += (reference & 0xFFFFFF).to_bytes(3, "big") + bytes((self._reports & 0xFF,))
        self._reports += 1
        body = head + chunks + deltas
        return _rtcp(twcc.TRANSPORT_WIDE, self._ssrc, body + bytes(-len(body) % 4))


def number_of(packet: bytes) -> int | None:
    """The transport-wide number in an RTP packet's header (RFC 8285 section 4.2), if it has one."""
    if packet[12:14] != b"\xbe\xde":
        return None
    at, end = 16, 16 + 4 * int.from_bytes(packet[14:16], "big")
    while at < end:
        if not packet[at]:
            at += 1
            continue
        length = (packet[at] & 0x0F) + 1
        if packet[at] >> 4 == EXTENSION:
            return int.from_bytes(packet[at + 1 : at + 1 + length], "big")
        at += 1 + length
    return None


def _rtcp(kind: int, ssrc: bytes, body: bytes) -> bytes:
    """A feedback packet about `ssrc` (RFC 4585 section 6.1)."""
    words = (8 + len(body)) // 4
    return bytes((0x80 | kind, twcc.RTPFB)) + words.to_bytes(2, "big") + bytes(4) + ssrc + body
