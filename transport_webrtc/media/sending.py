"""What a carrier has sent, and how late."""

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any

OVERHEAD_BYTES = 62
"""Of a packet on the wire beyond its payload: IPv4 and UDP 28 (RFC 791, RFC 768), RTP 12 (RFC 3550), header extensions
12 (mid and transport-wide number, RFC 8285), SRTP tag 10 (RFC 3711)."""

WINDOW_S = 0.5
"""The sent rate is that of the last window of at least this length."""

_EDGES = [0.00005 * 1.1**step for step in range(128)]
"""Upper edges of the histogram in seconds: 50 µs to 9 s, each a tenth above the one before."""


class Lateness:
    """Seconds behind the deadline, as a histogram: bounded memory, percentiles at most a tenth too high."""

    def __init__(self) -> None:
        self._counts = [0] * (len(_EDGES) + 1)
        self.count = 0
        self.highest_s = 0.0

    @classmethod
    def together(cls, parts: "Iterable[Lateness]") -> "Lateness":
        """Several as one."""
        whole = cls()
        for part in parts:
            whole._counts = [a + b for a, b in zip(whole._counts, part._counts, strict=True)]
            whole.count += part.count
            whole.highest_s = max(whole.highest_s, part.highest_s)
        return whole

    def add(self, seconds: float) -> None:
        """One packet; early counts as in time."""
        self._counts[bisect_left(_EDGES, seconds)] += 1
        self.count += 1
        if seconds > self.highest_s:
            self.highest_s = seconds

    def percentile(self, percent: float) -> float | None:
        """Seconds that `percent` of the packets do not exceed; None before the first one."""
        if not self.count:
            return None
        left = self.count * percent / 100
        for edge, count in zip(_EDGES, self._counts, strict=False):
            left -= count
            if left <= 0:
                return min(edge, self.highest_s)
        return self.highest_s


class Sending:
    """Counts of one carrier, from its first packet on."""

    def __init__(self) -> None:
        self.packets = 0
        self.frames = 0
        """Packets with speech in them; the others hold silence."""
        self.bytes = 0
        """Payload, copies included."""
        self.copy_bytes = 0
        """Of earlier frames that travel again inside later packets, with a header each."""
        self.repeats = 0
        """Packets sent again because the listener asked for them."""
        self.repeat_bytes = 0
        """On the wire."""
        self.source_errors = 0
        """Frames sent as silence because the source of speech raised."""
        self.encoder_errors = 0
        self.stalls = 0
        """Times the process was held up for so long that frames were left out."""
        self.lateness = Lateness()
        self.sent_rate: float | None = None
        """bit/s on the wire over the last window; None before the first one has passed."""
        self._window_at: float | None = None
        self._window_bytes = 0

    @property
    def wire_bytes(self) -> int:
        """Everything sent, with IP and UDP."""
        return self.bytes + self.packets * OVERHEAD_BYTES + self.repeat_bytes

    def repeated(self, size: int) -> None:
        """A packet of `size` bytes on the wire left once more."""
        self.repeats += 1
        self.repeat_bytes += size
        self._window_bytes += size

    def sent(self, now: float, size: int, *, copies: int = 0, speech: bool, late_s: float) -> None:
        """A packet of `size` bytes of payload, `copies` of them earlier frames, left at `now`, `late_s` after it was
        due."""
        if self._window_at is None:
            self._window_at = now
        elif now - self._window_at >= WINDOW_S:
            self.sent_rate = self._window_bytes * 8 / (now - self._window_at)
            self._window_at, self._window_bytes = now, 0
        self.packets += 1
        self.frames += speech
        self.bytes += size
        self.copy_bytes += copies
        self._window_bytes += size + OVERHEAD_BYTES
        self.lateness.add(late_s)

    def as_dict(self) -> dict[str, Any]:
        """For the listener's snapshot."""
        return {
            "packets": self.packets,
            "frames": self.frames,
            "bytes": self.bytes,
            "copy_bytes": self.copy_bytes,
            "repeats": self.repeats,
            "kbps": None if self.sent_rate is None else round(self.sent_rate / 1000, 1),
            "late_p50_ms": _ms(self.lateness.percentile(50)),
            "late_p99_ms": _ms(self.lateness.percentile(99)),
            "stalls": self.stalls,
            "errors": self.source_errors + self.encoder_errors,
        }


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 2)
