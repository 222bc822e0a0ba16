"""What a receiver counts, under the names of W3C webrtc-stats' `RTCInboundRtpStreamStats`. Pure."""

from dataclasses import dataclass

from adaptive.ticks import TICK_RATE

SILENT_AFTER = TICK_RATE * 60 // 1000
"""Ticks of concealment after which it is silence."""


class Extender:
    """Counts on beyond the few bits that a wire format has for a number."""

    def __init__(self, bits: int) -> None:
        self._size = 1 << bits
        self._newest: int | None = None

    def extend(self, value: int) -> int:
        """The number nearest to the newest one that ends in the bits of `value`."""
        if self._newest is None:
            self._newest = value + self._size
            return self._newest
        step = (value - self._newest + self._size // 2) % self._size - self._size // 2
        extended = self._newest + step
        self._newest = max(self._newest, extended)
        return extended


@dataclass(kw_only=True)
class ReceiveCounters:
    """Counts since the first packet."""

    received: int = 0
    """Packets, those that came too late or twice included."""
    octets: int = 0
    """In their payloads."""
    discarded: int = 0
    """Packets that came too late, twice or broken."""
    jitter_s: float = 0.0
    """Interarrival jitter (RFC 3550 section 6.4.1)."""
    total: int = 0
    """Samples that came out."""
    concealed: int = 0
    """Samples made up where something should have sounded."""
    silent: int = 0
    """Those of them that were silence."""
    repaired: int = 0
    """Samples of lost packets that came out of copies inside other packets."""
    skipped: int = 0
    """Quiet samples left out to get back to the wanted delay."""
    emitted: int = 0
    """Samples that came out of packets."""
    waited_ms: float = 0.0
    """Summed over `emitted`: how long each was in the buffer."""
    _earlier: tuple[int, int] = (0, 0)
    """Of the streams before: packets received and lost."""
    _first: int | None = None
    _last: int = 0
    _newest: tuple[float, int] | None = None

    @property
    def lost(self) -> int:
        """Packets expected and never received; copies received twice take from it (RFC 3550 section 6.4.1)."""
        received, lost = self._earlier
        return lost if self._first is None else lost + self._last - self._first + 1 - (self.received - received)

    def restart(self) -> None:
        """Another stream begins, with numbers and times of its own; the counts go on."""
        self._earlier = self.received, self.lost
        self._first = self._newest = None

    def arrived(self, now: float, sequence: int, timestamp: int, size: int) -> None:
        """A packet; sequence number and timestamp are extended."""
        self.received += 1
        self.octets += size
        if self._first is None:
            self._first = self._last = sequence
        if self._newest is not None and sequence > self._last:
            change = abs((now - self._newest[0]) - (timestamp - self._newest[1]) / TICK_RATE)
            self.jitter_s += (change - self.jitter_s) / 16
        if self._newest is None or sequence > self._last:
            self._newest = now, timestamp
        self._first, self._last = min(self._first, sequence), max(self._last, sequence)

    def made_up(self, ticks: int, *, repaired: int) -> None:
        """A run of samples that were made up, and of samples that copies gave back."""
        self.concealed += ticks
        self.silent += max(0, ticks - SILENT_AFTER)
        self.repaired += repaired

    def played(self, ticks: int, waited_s: float) -> None:
        """Samples of a packet that was `waited_s` in the buffer."""
        self.emitted += ticks
        self.waited_ms += ticks * waited_s * 1000

    def as_list(self) -> list[int]:
        """packetsReceived, packetsLost, jitter (µs), concealedSamples, totalSamplesReceived, jitterBufferDelay (ms),
        jitterBufferEmittedCount, bytesReceived, silentConcealedSamples: the `s` of a feedback answer."""
        return [
            self.received,
            self.lost,
            round(self.jitter_s * 1e6),
            self.concealed,
            self.total,
            round(self.waited_ms),
            self.emitted,
            self.octets,
            self.silent,
        ]
