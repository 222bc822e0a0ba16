"""Numbers every RTP packet that leaves a transport, and takes transport-wide feedback out of the RTCP that comes back.

aiortc must not see that feedback: it reads every RTCP packet of type 205 as a request to send packets again.

A packet that is sent again goes out byte for byte as the first time, its number too. A new number would change the
header, which AES-GCM authenticates under a nonce made of the RTP sequence number alone (RFC 7714 section 8.1): two
different packets under one nonce give its authentication key away.
"""

from collections.abc import Callable, Iterator

from aiortc import RTCRtpSender

from adaptive.control.fates import KEEP, Fates

from .. import aiortc_private
from .twcc import RTPFB, TRANSPORT_WIDE, parse_feedback, stamp

IP_UDP_BYTES = 28
"""Of an IPv4 and a UDP header (RFC 791, RFC 768)."""
_RTCP = range(192, 224)
"""Second bytes that tell RTCP from RTP on one port (RFC 5761 section 4)."""


class TransportWide:
    """The tap on one transport, on which one stream of packets leaves. Make it before the first one does."""

    def __init__(
        self,
        sender: RTCRtpSender,
        *,
        element: int | None,
        clock: Callable[[], float],
        on_feedback: Callable[[float], None],
        on_repeat: Callable[[int], None],
    ) -> None:
        """`element`: id of the header extension; None where the listener takes none, and nothing is numbered.
        `on_feedback(now)` is called after `fates` has taken one in, `on_repeat(bytes on the wire)` when a packet
        leaves again."""
        self.fates = Fates()
        self._sender = sender
        self._element = element
        self._clock = clock
        self._on_feedback = on_feedback
        self._on_repeat = on_repeat
        self._overhead: int | None = None
        self._next = 0
        self.newest: int | None = None
        """RTP sequence number of the last packet that left for the first time."""
        self._ahead = 0
        """From an RTP sequence number to that of the transport."""
        self.broken = 0
        """Feedback packets that could not be read."""
        aiortc_private.rewrite_leaving(sender, self._leaving)
        if element is not None:
            aiortc_private.rewrite_rtcp(sender, self._came)

    def _leaving(self, data: bytes) -> bytes:
        if data[1] in _RTCP:
            return data
        if self._overhead is None:
            self._overhead = IP_UDP_BYTES + aiortc_private.srtp_tag_bytes(self._sender)
        sequence = data[2] << 8 | data[3]
        again = self.newest is not None and (self.newest - sequence & 0xFFFF) < 0x8000
        if not again:
            self.newest = sequence
            self._ahead = self._next - sequence
            self._next += 1
        number = sequence + self._ahead & 0xFFFF
        if self._element is not None:
            data = stamp(data, element=self._element, number=number)
        size = len(data) + self._overhead
        if again:
            self._on_repeat(size)
        if self._element is not None:
            if again:
                self.fates.sent_again(self._clock(), number, size=size)
            else:
                self.fates.sent(self._clock(), size=size)
        return data

    def _came(self, data: bytes) -> bytes:
        rest = []
        for start, end in packets(data):
            if data[start + 1] == RTPFB and data[start] & 0x1F == TRANSPORT_WIDE:
                self._feedback(data[start:end])
            else:
                rest.append(data[start:end])
        return b"".join(rest)

    def _feedback(self, packet: bytes) -> None:
        if int.from_bytes(packet[14:16], "big") > KEEP:  # of so many nothing is remembered; reading it has a cost
            self.broken += 1
            return
        try:
            feedback = parse_feedback(packet)
        except ValueError:
            self.broken += 1
            return
        now = self._clock()
        self.fates.feedback(now, feedback)
        self._on_feedback(now)


def packets(data: bytes) -> Iterator[tuple[int, int]]:
    """Where each RTCP packet of a compound one begins and ends (RFC 3550 section 6.1); the last may be cut off."""
    start = 0
    while start + 4 <= len(data):
        end = min(len(data), start + 4 + 4 * int.from_bytes(data[start + 2 : start + 4], "big"))
        yield start, end
        start = end
