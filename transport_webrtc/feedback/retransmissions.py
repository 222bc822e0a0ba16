"""Which packets are sent again when the listener asks for them (NACK, RFC 4585 section 6.2.1). aiortc keeps them."""

from collections import deque
from collections.abc import Callable

from aiortc import RTCRtpSender

from .. import aiortc_private

WINDOW_S = 0.5
MOST_PER_WINDOW = 25
"""As many as are new in that time at 20 ms, so that repair at most doubles the rate: libwebrtc's retransmission rate
limiter (modules/rtp_rtcp) allows as much over the same window."""
LEAST_GAP_S = 0.02
"""Between two sendings of one packet, where the round trip is shorter or not known."""
NEVER = 128
"""Of such packets remembered: as many packets as aiortc keeps."""
ROUND_TRIPS = 0.8
"""A packet asked for again sooner than this after it was sent again is still on its way."""


class Retransmissions:
    """Answers the requests that come for one sender, or ignores them while `wanted` is false."""

    def __init__(
        self,
        sender: RTCRtpSender,
        *,
        clock: Callable[[], float],
        rtt_s: Callable[[], float | None],
        newest: Callable[[], int | None],
    ) -> None:
        """`newest()` is the RTP sequence number of the last packet that left; None before the first."""
        self.wanted = False
        self.asked = 0
        """Packets asked for, each time."""
        self._sender = sender
        self._clock = clock
        self._rtt_s = rtt_s
        self._newest = newest
        self._never: deque[int] = deque(maxlen=NEVER)
        """Packets that fade out what was cut off: once they left, nobody needs them."""
        self._again: deque[tuple[float, int]] = deque(maxlen=MOST_PER_WINDOW)
        """When which sequence number was let through."""
        aiortc_private.ask_before_retransmission(sender, self._allow)

    def forget(self) -> None:
        """What was sent until now is never sent again, nor is the next packet, in which it fades out."""
        aiortc_private.forget_sent(self._sender)
        if (newest := self._newest()) is not None:
            self._never.append(newest + 1 & 0xFFFF)

    def _allow(self, sequence: int) -> bool:
        self.asked += 1
        if not self.wanted or sequence in self._never:
            return False
        now = self._clock()
        gap = max(LEAST_GAP_S, ROUND_TRIPS * (self._rtt_s() or 0.0))
        if len(self._again) == MOST_PER_WINDOW and now - self._again[0][0] < WINDOW_S:
            return False
        if any(number == sequence and now - at < gap for at, number in self._again):
            return False
        self._again.append((now, sequence))
        return True
