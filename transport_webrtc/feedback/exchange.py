"""Pings and their answers, as reports. Pure: time is an argument, messages are text.

A ping is `{"p": number, "t": seconds}`. Its answer is `{"p": number, "t": …, "h": ms it was held, "s": [counters]}`
where the counters are those of the receiver's `inbound-rtp` statistics (W3C webrtc-stats), in this order:
packetsReceived, packetsLost, jitter (µs), concealedSamples, totalSamplesReceived, jitterBufferDelay (ms),
jitterBufferEmittedCount, bytesReceived, silentConcealedSamples. Everything is counted since the answer before.

A ping may carry a wish, `"jbt": ms`: the listener's `jitterBufferTarget` (W3C webrtc-extensions). Pings may be lost, so
it is in every one until one of them is answered.
"""

import json
import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from adaptive.control.reports import HeardReport, NetworkReport, Source

FAST_S = 0.25
MIDDLE_S = 0.5
SLOW_S = 1.0
RARE_S = 4.0
"""Between pings: where they alone tell of the path; where transport-wide feedback does; where they would weigh, or the
acknowledgements of speech tell as much; where they would weigh on such speech."""
SILENT_S = 1.0
"""A ping unanswered for this long says that the path is out: packetsLost does not, as nothing arrives to count from."""
BASE_WINDOW_S = 30.0
"""The lowest round trip of this long is the path without a queue."""
MAX_ANSWER = 1024
"""Bytes in an answer."""
COUNTERS = 9
LOST = 1
MAY_BE_FRACTIONS = (2, 5)
"""Places of packetsLost among the counters, and of jitter and jitterBufferDelay."""
MOST_COUNTED = 2**48
"""No counter of a receiver comes near: it would have run for years."""
BUFFERED_MOST_S = 10.0
"""No receiver is believed to hold more; libwebrtc's buffer ends at 200 packets of at most 60 ms, and is rarely full."""
JITTER_MOST_S = 10.0
PACKETS_MOST = 1000
"""A second, or at once after an outage. A listener is sent 50, or three times that with everything repeated."""
RATE_MOST = 2_000_000.0
"""bit/s that a listener is believed to receive: the widest rung with every packet thrice."""
HELD_LATE_S = 0.05
"""So much longer than it was away may an answer say that its ping was held: clocks tick at different rates."""


@dataclass(frozen=True, kw_only=True)
class Counters:
    """The receiver's counters at one moment, with their units made equal: seconds, samples, packets, bytes."""

    at: float
    received: float
    lost: float
    jitter_s: float
    concealed: float
    total: float
    buffer_s: float
    emitted: float
    octets: float
    silent: float


class BaseRoundTrip:
    """The lowest round trip of the last half minute."""

    def __init__(self) -> None:
        self._increasing: deque[tuple[float, float]] = deque()

    def above(self, now: float, rtt_s: float) -> float:
        """Takes in a round trip and says how far it is above the lowest, s."""
        while self._increasing and self._increasing[-1][1] >= rtt_s:
            self._increasing.pop()
        self._increasing.append((now, rtt_s))
        while self._increasing[0][0] < now - BASE_WINDOW_S:
            self._increasing.popleft()
        return rtt_s - self._increasing[0][1]


class Exchange:
    """The pings of one listener."""

    def __init__(self, *, overhead: int) -> None:
        """`overhead`: bytes on the wire beyond the payload of an RTP packet, for the received rate."""
        self._overhead = overhead
        self._number = 0
        self._sent: dict[int, float] = {}
        self._next = -math.inf
        self._every_s = 0.0
        """As was asked last."""
        self._wish_ms: int | None = None
        """Playout delay asked for and not yet known to have arrived."""
        self._wished_from: int | None = None
        """The first ping that carried it."""
        self._base = BaseRoundTrip()
        self._counters: Counters | None = None
        self._counted = 0
        """Number of the newest ping whose counters were taken."""
        self.answered_at: float | None = None
        """When the newest answer came."""
        self.reached_at: float | None = None
        """When the newest ping left that was answered: it arrived."""
        self.counted_at: float | None = None
        """When the newest counters came."""
        self.broken = 0
        """Messages that were no answer to anything."""

    def wish(self, delay_ms: int) -> None:
        """Asks the listener to hold what it receives for so long, with the next ping, which is due now."""
        self._wish_ms, self._wished_from, self._next = delay_ms, None, -math.inf

    def ping(self, now: float, *, every_s: float) -> str | None:
        """The message to send now, or None where it is not yet time."""
        if every_s < self._every_s:
            self._next = min(self._next, now + every_s)
        self._every_s = every_s
        if now < self._next:
            return None
        self._next = max(self._next + every_s, now + every_s / 2)
        self._number += 1
        self._sent[self._number] = now
        self._sent.pop(self._number - 64, None)
        message: dict[str, float] = {"p": self._number, "t": round(now, 6)}
        if self._wish_ms is not None:
            message["jbt"] = self._wish_ms
            self._wished_from = self._wished_from or self._number
        return json.dumps(message)

    def silence(self, now: float) -> NetworkReport | None:
        """A report of nothing known, while no ping has been answered for a second."""
        newest = self.answered_at if self.answered_at is not None else -math.inf
        waiting = [at for at in self._sent.values() if at > newest]
        if not waiting or now - waiting[0] <= SILENT_S:
            return None
        return NetworkReport(at=now, source=Source.FEEDBACK)

    def answer(
        self, now: float, raw: str | bytes, *, sent_rate: float | None
    ) -> tuple[NetworkReport, HeardReport | None] | None:
        """What an answer shows; None for a message that answers nothing. `sent_rate` in bit/s goes into the report."""
        parsed = _parse(raw)
        sent_at = self._sent.pop(parsed[0], None) if parsed else None
        if parsed is None or sent_at is None:
            self.broken += 1
            return None
        number, held_s, values = parsed
        if held_s > now - sent_at + HELD_LATE_S:
            self.broken += 1
            return None
        rtt_s = max(0.0, now - sent_at - held_s)
        self.answered_at = now
        self.reached_at = max(sent_at, self.reached_at or sent_at)
        if self._wished_from is not None and number >= self._wished_from:
            self._wish_ms = self._wished_from = None
        before, counters = self._counters, None
        if values is not None and number > self._counted:
            counters = _counters(now - rtt_s / 2, values)
            self._counters, self._counted, self.counted_at = counters, number, now
        arrived = _arrived(before, counters) if before and counters else None
        network = NetworkReport(
            at=now,
            source=Source.FEEDBACK,
            rtt_s=rtt_s,
            queue_delay_s=self._base.above(now, rtt_s),
            jitter_s=counters.jitter_s if counters else None,
            loss=arrived.loss if arrived else None,
            packets=(arrived.packets or None) if arrived else None,
            received_rate=arrived.rate(self._overhead) if arrived else None,
            sent_rate=sent_rate,
        )
        return network, _heard(now, before, counters) if before and counters else None


def _parse(raw: str | bytes) -> tuple[int, float, list[float] | None] | None:
    """(ping number, seconds held, counters or None), or None for anything that is not an answer."""
    if len(raw) > MAX_ANSWER:
        return None
    try:
        message = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict):
        return None
    number, held, values = message.get("p"), message.get("h", 0), message.get("s")
    if type(number) is not int or not _amount(held) or not (values is None or _plausible(values)):
        return None
    return number, held / 1000, values


def _amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < MOST_COUNTED


def _plausible(values: object) -> bool:
    """Nine counters: whole, but for jitter and delay; packetsLost may be below 0, where more came than was sent (RFC
    3550 section 6.4.1)."""
    if not isinstance(values, list) or len(values) != COUNTERS:
        return False
    lost = values[LOST]
    return (
        all(_amount(value) for place, value in enumerate(values) if place != LOST)
        and all(value == int(value) for place, value in enumerate(values) if place not in (LOST, *MAY_BE_FRACTIONS))
        and type(lost) is int
        and abs(lost) < MOST_COUNTED
    )


def _counters(at: float, values: Sequence[float]) -> Counters:
    received, lost, jitter_us, concealed, total, buffer_ms, emitted, octets, silent = values
    return Counters(
        at=at,
        received=received,
        lost=lost,
        jitter_s=min(JITTER_MOST_S, jitter_us / 1e6),
        concealed=concealed,
        total=total,
        buffer_s=buffer_ms / 1000,
        emitted=emitted,
        octets=octets,
        silent=silent,
    )


@dataclass(frozen=True, kw_only=True)
class _Arrived:
    """What arrived and what did not between two moments."""

    seconds: float
    received: float
    lost: float
    octets: float

    @property
    def packets(self) -> int:
        return round(self.received + self.lost)

    @property
    def loss(self) -> float | None:
        return min(1.0, self.lost / self.packets) if self.packets else None

    def rate(self, overhead: int) -> float:
        """bit/s on the wire."""
        return min(RATE_MOST, 8 * (self.octets + self.received * overhead) / self.seconds)


def _arrived(before: Counters, after: Counters) -> _Arrived | None:
    """None where the receiver began anew, or counts what cannot have been."""
    received, octets = after.received - before.received, after.octets - before.octets
    if received < 0 or octets < 0 or after.at <= before.at:
        return None
    # A packet that comes late after all, or twice, takes one off packetsLost.
    lost = max(0.0, after.lost - before.lost)
    if received + lost > PACKETS_MOST * (1 + after.at - before.at):
        return None
    return _Arrived(seconds=after.at - before.at, received=received, lost=lost, octets=octets)


def _heard(now: float, before: Counters, after: Counters) -> HeardReport | None:
    """Samples made up where something should have sounded, and how long speech waits in the receiver."""
    total, emitted = after.total - before.total, after.emitted - before.emitted
    made_up = (after.concealed - after.silent) - (before.concealed - before.silent)
    waited = after.buffer_s - before.buffer_s
    if total < 0 or emitted < 0:
        return None
    return HeardReport(
        at=now,
        concealed=min(1.0, max(0.0, made_up / total)) if total else None,
        buffered_s=min(BUFFERED_MOST_S, max(0.0, waited / emitted)) if emitted else None,
    )
