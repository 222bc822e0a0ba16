"""What became of every packet sent: numbered on its way out, judged when transport-wide feedback comes back. Pure.

A packet that a feedback says was not received is only believed to be lost once packets sent after it have arrived
(three of them, as in RFC 9002 section 6.1.1), because under reordering a later feedback reports it as received. A
packet that no feedback speaks of, because the feedback itself was lost, is unknown: it is neither lost nor arrived.
"""

from bisect import insort
from collections import deque
from dataclasses import dataclass

from .reports import Arrival, NetworkReport, Source

PACKET_THRESHOLD = 3
"""Later packets that must have arrived before one is lost (RFC 9002 section 6.1.1)."""
KEEP = 2048
"""Packets remembered: 40 s at 20 ms."""
CLOCK_S = 0.002
"""By how much arrival times and the drift of two clocks may be wrong."""
WINDOW_S = 0.5
LEAST_SPAN_S = 0.2
"""Over which rates are told, and the least for which one is."""
BASE_WINDOW_S = 30.0
"""The lowest one-way delay of this long is taken as the path without a queue; clocks drift, routes change."""


@dataclass(frozen=True, kw_only=True)
class Feedback:
    """What a listener says of a run of packets, on its own clock."""

    base: int
    """Number (16 bits) of the first packet it speaks of."""
    number: int
    """Of the feedback itself (8 bits)."""
    reference: int
    """Reference time, signed 24 bits, in 64 ms of the listener's clock."""
    arrivals_us: tuple[int | None, ...]
    """Per packet: microseconds after the reference time, or None where it was not received."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fate:
    """What is known of one packet."""

    known: bool
    """It arrived, or is lost for certain."""
    delay_s: float | None = None
    """From when it was first sent until it arrived, even if only the second sending did, above the path's lowest; None
    where it did not arrive."""


@dataclass(kw_only=True, slots=True)
class _Packet:
    sent_at: float
    size: int
    repeat: bool
    arrived_s: float | None = None
    covered: bool = False
    lost: bool = False
    """What arrived was sent again after the first one was lost."""
    repeated_at: float | None = None
    """When it was first sent again, unchanged."""


class _Window:
    """The bytes of the last half second."""

    def __init__(self) -> None:
        self._packets: deque[tuple[float, int]] = deque()
        """(at, bytes), in the order of time."""
        self._bytes = 0

    def add(self, at: float, size: int) -> None:
        """Packets may come a little out of order."""
        if self._packets and at < self._packets[-1][0]:
            insort(self._packets, (at, size))
        else:
            self._packets.append((at, size))
        self._bytes += size
        self._forget(self._packets[-1][0] - WINDOW_S)

    def rate_until(self, now: float) -> float | None:
        """bit/s over the half second before `now`; None where there was nothing."""
        self._forget(now - WINDOW_S)
        return 8 * self._bytes / WINDOW_S if self._packets else None

    def rate_between(self) -> float | None:
        """bit/s from the first packet to the last; None where they are too near each other to tell."""
        if not self._packets or (span := self._packets[-1][0] - self._packets[0][0]) < LEAST_SPAN_S:
            return None
        return 8 * (self._bytes - self._packets[0][1]) / span

    def _forget(self, before: float) -> None:
        while self._packets and self._packets[0][0] < before:
            self._bytes -= self._packets.popleft()[1]


class _Unwrap:
    """Extends a counter of a few bits to one without bounds."""

    def __init__(self, bits: int) -> None:
        self._size = 1 << bits
        self._last: int | None = None

    def __call__(self, value: int) -> int:
        if self._last is None:
            self._last = value
        else:
            half = self._size // 2
            self._last += (value - self._last + half) % self._size - half
        return self._last


class Fates:
    """The send log of one transport, and the reports that come of it."""

    def __init__(self) -> None:
        self._packets: dict[int, _Packet] = {}
        self._next = 0
        self._settled = 0
        """Every packet before this one has been told to a report."""
        self._newest = -1
        """Highest packet that a feedback spoke of."""
        self._base = 0
        """The highest packet at which a feedback began: what it says of those before, an earlier one said."""
        self._reference = _Unwrap(24)
        self._delays: deque[tuple[float, float]] = deque()
        """One-way delays, increasing (a sliding minimum): (sent at, arrival − sending on two clocks)."""
        self._queue_delay_s: float | None = None
        self.queue_s = 0.0
        """How much longer than the least a packet took of which the newest feedback says that it arrived, at most."""
        self._fresh: list[tuple[float, float, int]] = []
        """Not yet told to a report: (sent at, arrival − sending on two clocks, bytes)."""
        self._arrived, self._sent = _Window(), _Window()
        self._last_feedback: float | None = None
        self.broken = 0
        """Feedback packets that could not be read or speak of packets never sent."""

    @property
    def last_feedback(self) -> float | None:
        """When the newest feedback came, or None."""
        return self._last_feedback

    @property
    def count(self) -> int:
        """Packets numbered so far, retransmissions under a number of their own included: the next one's place."""
        return self._next

    def fate(self, place: int) -> Fate:
        """Of the packet that was numbered as the `place`-th, counted from 0."""
        packet = self._packets.get(place)
        if packet is None or not packet.covered or (packet.arrived_s is None and place >= self._settled):
            return Fate(known=False)
        if packet.arrived_s is None or not self._delays:
            return Fate(known=True)
        return Fate(known=True, delay_s=max(0.0, packet.arrived_s - packet.sent_at - self._delays[0][1]))

    def arrived_until(self, before: float | None = None) -> float | None:
        """When the newest packet left that arrived, of all, or of those that left by `before`; None where none did.

        A packet of which nothing was said arrived where a later feedback begins behind it: its own one was lost on the
        way back. A receiver's next feedback begins where the one before it ended (draft-holmer-rmcat-transport-wide-cc
        section 3.1), so what was lost on the way there is told as lost.
        """
        for number in range(self._newest, self._newest - KEEP, -1):
            packet = self._packets.get(number)
            if packet is None:
                return None
            if self._came(number, packet) and (before is None or packet.sent_at <= before):
                return packet.sent_at
        return None

    def missing(self, since: float) -> list[tuple[float, float]]:
        """Of the packets that left after `since`, those that did not arrive where a later one did: for each run of them
        when the one before it left and when its last one did, oldest first."""
        runs: list[tuple[float, float]] = []
        last, arrived = None, False
        for number in range(self._newest, self._newest - KEEP, -1):
            packet = self._packets.get(number)
            there = packet is None or packet.sent_at <= since or self._came(number, packet)
            if there and last is not None:
                runs.append((since if packet is None else packet.sent_at, last))
                last = None
            if packet is None or packet.sent_at <= since:
                break
            arrived = arrived or there
            last = packet.sent_at if arrived and not there and last is None else last
        return runs[::-1]

    def _came(self, number: int, packet: _Packet) -> bool:
        return packet.arrived_s is not None or (not packet.covered and number < self._base)

    def sent(self, now: float, *, size: int, repeat: bool = False) -> int:
        """Numbers a packet of `size` bytes on the wire; `repeat` marks a retransmission. Returns its 16-bit number."""
        number = self._next
        self._next += 1
        self._packets[number] = _Packet(sent_at=now, size=size, repeat=repeat)
        self._packets.pop(number - KEEP, None)
        self._sent.add(now, size)
        return number & 0xFFFF

    def sent_again(self, now: float, number: int, *, size: int) -> None:
        """The packet of that 16-bit number was sent again under the same number, byte for byte.

        Should a feedback then say that it arrived, that was the first one only if it came earlier than the second
        could have.
        """
        self._sent.add(now, size)
        packet = self._packets.get(self._unbounded(number))
        if packet is not None and packet.repeated_at is None:
            packet.repeated_at = now

    def feedback(self, now: float, feedback: Feedback) -> None:
        """Takes in one feedback packet."""
        base = self._unbounded(feedback.base)
        if base < 0 or base + len(feedback.arrivals_us) > self._next:
            self.broken += 1
            return
        self._base = max(self._base, base)
        reference_s = self._reference(feedback.reference & 0xFFFFFF) * 0.064
        self._last_feedback, self.queue_s = now, 0.0
        for number, arrival_us in enumerate(feedback.arrivals_us, base):
            packet = self._packets.get(number)
            if packet is None:
                continue
            packet.covered = True
            if arrival_us is None or packet.arrived_s is not None:
                continue
            packet.arrived_s = reference_s + arrival_us / 1e6
            packet.lost = self._was_repaired(packet, packet.arrived_s)
            self._arrived.add(packet.arrived_s, packet.size)
            self._delay(packet)
        self._newest = max(self._newest, base + len(feedback.arrivals_us) - 1)

    def _unbounded(self, number: int) -> int:
        """The newest packet whose number ends in these 16 bits; it was sent, so it lies behind the next one."""
        return self._next - 1 - (self._next - 1 - number & 0xFFFF)

    def _was_repaired(self, packet: _Packet, arrived_s: float) -> bool:
        """Whether the second sending is what arrived: after it was sent, and the shortest way there that is known."""
        if packet.repeated_at is None or not self._delays:
            return False
        return arrived_s - packet.repeated_at >= self._delays[0][1] - CLOCK_S

    def _delay(self, packet: _Packet) -> None:
        if packet.repeat or packet.lost or packet.arrived_s is None:
            return
        delay = packet.arrived_s - packet.sent_at
        while self._delays and self._delays[-1][1] >= delay:
            self._delays.pop()
        self._delays.append((packet.sent_at, delay))
        while self._delays[0][0] < packet.sent_at - BASE_WINDOW_S:
            self._delays.popleft()
        self._queue_delay_s = delay - self._delays[0][1]
        self.queue_s = max(self.queue_s, self._queue_delay_s)
        self._fresh.append((packet.sent_at, delay, packet.size))

    def report(self, now: float, *, rtt_s: float | None = None, jitter_s: float | None = None) -> NetworkReport:
        """What has been settled since the report before: loss before any repair, queueing delay, rates; and a round
        trip and jitter that others measured."""
        mask = self._settle()
        known = [lost for lost in mask if lost is not None]
        queue_delay_s, self._queue_delay_s = self._queue_delay_s, None
        return NetworkReport(
            at=now,
            source=Source.TWCC,
            rtt_s=rtt_s,
            jitter_s=jitter_s,
            loss=sum(known) / len(known) if known else None,
            packets=len(known) or None,
            lost_mask=tuple(mask) or None,
            queue_delay_s=queue_delay_s,
            received_rate=self._arrived.rate_between(),
            sent_rate=self._sent.rate_until(now),
            arrivals=self._arrivals(),
        )

    def _arrivals(self) -> tuple[Arrival, ...] | None:
        if not self._fresh:
            return None
        fresh, self._fresh = sorted(self._fresh), []
        lowest = self._delays[0][1]
        return tuple(Arrival(sent_at, max(0.0, delay - lowest), size) for sent_at, delay, size in fresh)

    def _settle(self) -> list[bool | None]:
        """The fates that are certain by now, in sending order, each told once; retransmissions are left out."""
        numbers = [n for n in range(self._settled, self._newest + 1) if n in self._packets]
        arrived_later = sum(self._packets[n].arrived_s is not None for n in numbers)
        mask: list[bool | None] = []
        for number in numbers:
            packet = self._packets[number]
            if packet.arrived_s is not None:
                arrived_later -= 1
            elif packet.covered and arrived_later < PACKET_THRESHOLD:
                break
            if not packet.repeat:
                mask.append(packet.lost or packet.arrived_s is None if packet.covered else None)
            self._settled = number + 1
        return mask
