"""The far end on virtual time: what a browser does with what arrives, and what it sends back.

It plays (receiver.py), tells of every packet's arrival (transport-wide feedback), asks for lost packets again, and
answers pings with its counters.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from adaptive.control.fates import Feedback
from adaptive.ticks import TICK_RATE

from .receiver import Kind, Receiver
from .sender import Packet

FEEDBACK_S = 0.06
"""Between two feedbacks (measured in Chromium: a median of 62 ms)."""
CLOCK_S = 1000.0
"""The listener's clock is ahead by this."""
QUANTUM_US = 250
"""Of arrival times in a feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01)."""
REFERENCE_S = 0.064
NACK_AGAIN_S = 0.1
"""Between two requests of the whole list: a receiver that sends nothing knows no round trip (rtp_rtcp, 100 ms)."""
NACK_ROUND_TRIP_MS = 100
"""Assumed then (nack_tracker.cc, `default_rtt_ms`)."""
NACK_WAIT_MS_PER_PERCENT = 20
NACK_FORGET = 0.996
NACK_MOST = 500
"""Packets back from the newest that are asked for (nack_tracker.cc)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What comes back: one of the three."""

    size: int
    """Bytes on the wire."""
    feedback: Feedback | None = None
    wanted: tuple[int, ...] = ()
    """Numbers of packets to be sent again."""
    ping: tuple[float, dict[str, float]] | None = None
    """When the ping was sent, and the receiver's counters."""


FEEDBACK_BYTES = 28 + 14 + 20
"""IP and UDP, SRTCP's tag and index, and the message without its packets."""
NACK_BYTES = 28 + 14 + 48
"""With the receiver report that travels along."""
ANSWER_BYTES = 230
PING_BYTES = 130
"""Of the data channel, with SCTP, DTLS, UDP and IP around it."""


class Listening:
    """One listener. Times are the sender's; its own clock differs by a constant."""

    def __init__(self, *, seed: int = 0) -> None:
        self.receiver = Receiver(seed=seed)
        self._arrivals: dict[int, float] = {}
        """Of transport-wide numbers not yet told."""
        self._told = -1
        self._feedbacks = 0
        self._next_feedback = 0.0
        self._newest: int | None = None
        self._ticks_per_packet = 960
        self._missing: dict[int, int] = {}
        """RTP times of packets that are not there, by number."""
        self._asked_at = -1.0
        self._asked = -1
        self._loss = 0.0
        self.concealed = self.total = self.received = 0
        self._delay_sum = self._delay_count = 0.0
        self._jitter_s = 0.0
        self._transit: float | None = None

    def arrived(self, now: float, packet: Packet, number: int) -> Answer | None:
        """A packet with its transport-wide number; the answer is a request for what is missing."""
        self._arrivals[number] = now
        self.received += 1
        self._learn_jitter(now, packet)
        self.receiver.arrive(now, packet.frame, packet.copies)
        self._learn_missing(packet)
        wanted = tuple(self._wanted(now))
        return Answer(NACK_BYTES, wanted=wanted) if wanted else None

    def pinged(self, sent_at: float) -> Answer:
        """A ping that was sent at `sent_at`."""
        return Answer(ANSWER_BYTES, ping=(sent_at, self.counters()))

    def play(self, now: float) -> Kind:
        """10 ms of what comes out."""
        kind = self.receiver.play(now)
        if kind is not Kind.QUIET:
            self.total += 1
            self.concealed += kind is not Kind.PLAYED
            self._delay_sum += self.receiver.held_s
            self._delay_count += 1
        self._forget_played()
        return kind

    def feedback(self, now: float) -> Answer | None:
        """Every 60 ms, where anything has arrived."""
        if now < self._next_feedback or not self._arrivals:
            return None
        self._next_feedback = now + FEEDBACK_S
        base = min(self._told + 1, *self._arrivals)
        newest = max(self._arrivals)
        reference = int((min(self._arrivals.values()) + CLOCK_S) / REFERENCE_S)
        arrivals = tuple(self._told_time(self._arrivals.get(number), reference) for number in range(base, newest + 1))
        self._arrivals.clear()
        self._told = max(self._told, newest)
        self._feedbacks += 1
        feedback = Feedback(
            base=base & 0xFFFF, number=self._feedbacks & 0xFF, reference=reference, arrivals_us=arrivals
        )
        return Answer(FEEDBACK_BYTES + 2 * len(arrivals), feedback=feedback)

    def counters(self) -> dict[str, float]:
        """Since the beginning, as W3C webrtc-stats has them, in seconds."""
        return {
            "concealed": self.concealed - self.receiver.merged_ticks / (TICK_RATE / 100),
            "total": self.total,
            "jitter_s": self._jitter_s,
            "held_sum": self._delay_sum,
            "held_count": self._delay_count,
            "position": self.receiver.position or 0,
        }

    @staticmethod
    def _told_time(at: float | None, reference: int) -> int | None:
        if at is None:
            return None
        return round((at + CLOCK_S - reference * REFERENCE_S) * 1e6 / QUANTUM_US) * QUANTUM_US

    def _learn_jitter(self, now: float, packet: Packet) -> None:
        transit = now - packet.frame.timestamp / TICK_RATE
        if self._transit is not None and not packet.again:
            self._jitter_s += (abs(transit - self._transit) - self._jitter_s) / 16
        self._transit = transit

    def _learn_missing(self, packet: Packet) -> None:
        number, newest = packet.number, self._newest
        self._missing.pop(number, None)
        if newest is not None and number <= newest:
            return
        self._newest = number
        self._loss = self._loss * NACK_FORGET
        if newest is None or number == newest + 1:
            return
        for n in range(max(newest + 1, number - NACK_MOST), number):
            self._loss = self._loss * NACK_FORGET + 1 - NACK_FORGET
            self._missing[n] = packet.frame.timestamp - (number - n) * packet.frame.ticks

    def _wanted(self, now: float) -> Iterator[int]:
        """What to ask for again now: the whole list now and then, between that what is newly missing."""
        if not self._missing or self.receiver.position is None or self._newest is None:
            return
        whole = now - self._asked_at >= NACK_AGAIN_S
        position, most_wait = self.receiver.position, NACK_WAIT_MS_PER_PERCENT * 100 * self._loss
        newest = max(self._missing)
        for number, timestamp in self._missing.items():
            to_play_ms = (timestamp - position) * 1000 / TICK_RATE
            since_ms = (self._newest - number) * self._ticks_per_packet * 1000 / TICK_RATE
            due = to_play_ms > NACK_ROUND_TRIP_MS or since_ms + NACK_ROUND_TRIP_MS < most_wait
            if due and (whole or number > self._asked):
                yield number
        self._asked = newest
        if whole:
            self._asked_at = now

    def _forget_played(self) -> None:
        """What was passed over in playing is not asked for again."""
        playing = self.receiver.playing
        if self._missing and playing is not None:
            for number in [n for n, timestamp in self._missing.items() if timestamp <= playing.timestamp]:
                del self._missing[number]
