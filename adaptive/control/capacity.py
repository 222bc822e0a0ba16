"""What the path can take, learnt from what arrived while a queue was standing, and grown again while none is.

The shape is that of libwebrtc's AIMD control (remote_bitrate_estimator/aimd_rate_control.cc): cut to a share of what
arrived, hold, grow by a factor, never far beyond what has been tried.
"""

from .ladder import LOWEST, wire_rate
from .queueing import QueueWatch
from .reports import NetworkReport, Source

CUT = 0.85
"""Of the received rate, on congestion (aimd_rate_control.cc)."""
MEASURED = 0.95
"""Of the received rate while a queue stands: it is the capacity, whatever is sent, so a lower one counts at once."""
HOLD_S = 0.3
"""And a round trip between two cuts: what is in flight was sent before the last one."""
GROWTH = 1.08
"""A second, while calm (aimd_rate_control.cc)."""
TESTED_FACTOR, TESTED_MORE = 1.5, 10_000
"""Growth ends at 1.5 × what was tried + 10 kb/s (aimd_rate_control.cc)."""
MOST = 100_000
"""bit/s; more than any rung needs."""
FLOOR = wire_rate(LOWEST)
DRAIN_S = 2.0
DRAIN_MOST = 0.5
"""A standing queue is to be gone within two seconds, with at most half of the rate given up for that."""
PING_BYTES = 130
"""On the wire, with SCTP and DTLS around it. A packet and a ping, one behind the other, are no queue."""
SHORT = 0.8
SHORT_PACKETS = 6
"""Arrived share of what was sent and not lost, below which a queue is filling, and packets that it takes to say so."""
HEAVY_LOSS = 0.35
HEAVY_AGAIN_S = 30.0
"""Loss that no protection repairs: a policer perhaps, so that sending less is tried, once in half a minute."""


class CapacityEstimate:
    """The wire rate this listener can be sent, bit/s."""

    def __init__(self) -> None:
        self.rate: float | None = None
        """None while nothing has shown a limit."""
        self._watches: dict[tuple[Source, bool], QueueWatch] = {}
        self._watch: QueueWatch | None = None
        self._shorts = 0
        self._cut_at = float("-inf")
        self._heavy_at = float("-inf")
        self._grown_at: float | None = None
        self._calm_since: float | None = None

    @property
    def congested(self) -> bool:
        """A queue is standing."""
        return self._watch is not None and self._watch.congested

    @property
    def suspicious(self) -> bool:
        """A queue may be building."""
        return self._watch is not None and self._watch.suspicious

    def calm_for(self, now: float) -> float:
        """Seconds since the last sign of congestion."""
        return 0.0 if self.congested else now - max(self._cut_at, self._calm_since or float("-inf"))

    @property
    def budget(self) -> float | None:
        """What may be sent now: the capacity, less what drains the queue. None is no limit."""
        if self.rate is None or self._watch is None or not self._watch.congested:
            return self.rate
        return self.rate * (1 - min(DRAIN_MOST, self._watch.excess_s / DRAIN_S))

    def observe(self, report: NetworkReport, *, sending: float, packet_bytes: float, lossy: float) -> None:
        """Takes in a report. `sending` is the plan's wire rate, `lossy` the loss of the last second."""
        received = self._received(report, sending)
        short = self._short(report)
        was_congested = self.congested
        passing_s = 0.0 if self.rate is None else 8 * (packet_bytes + PING_BYTES) / self.rate
        if self._queue_grows(report, short=short, passing_s=passing_s):
            self.cut(report.at, received, report.rtt_s)
        elif self.congested and self.rate is not None:
            self.rate = max(FLOOR, min(self.rate, MEASURED * received))
        elif was_congested:
            self._calm_since = report.at
        if lossy > HEAVY_LOSS and report.at - self._heavy_at > HEAVY_AGAIN_S:
            self._heavy_at = report.at
            self.cut(report.at, received, report.rtt_s)

    def cut(self, now: float, received: float, rtt_s: float | None) -> None:
        """Congestion: down to a share of what arrived, bit/s; soon after another cut, only to what arrived."""
        held = now - self._cut_at < HOLD_S + (rtt_s or 0.0)
        known = MOST if self.rate is None else self.rate
        self.rate = max(FLOOR, min(known, (MEASURED if held else CUT) * received))
        if not held:
            self._cut_at = now
            if self._watch is not None:
                self._watch.sent_less()

    def assume(self, rate: float) -> None:
        """Nothing is known any more: no more than `rate` is taken for granted."""
        self.rate = rate if self.rate is None else min(self.rate, rate)

    def grow(self, now: float, *, tested: float | None, fresh: bool = True) -> None:
        """Lets time pass. `tested` is the wire rate being tried, None while nothing sounds and so nothing is.

        Without `fresh` facts nothing grows.
        """
        elapsed = 0.0 if self._grown_at is None else max(0.0, now - self._grown_at)
        self._grown_at = now
        if self.rate is None or self.congested or not fresh:
            return
        ceiling = MOST if tested is None else TESTED_FACTOR * tested + TESTED_MORE
        self.rate = max(self.rate, min(self.rate * GROWTH**elapsed, ceiling, MOST))

    def _queue_grows(self, report: NetworkReport, *, short: bool, passing_s: float) -> bool:
        one_way = report.source is Source.TWCC or report.rtt_s is None
        delay = report.queue_delay_s if one_way else report.rtt_s
        if delay is None:
            self._shorts = self._shorts + 1 if short else 0
            return self._shorts >= 2
        self._watch = self._watches.setdefault((report.source, one_way), QueueWatch())
        return self._watch.observe(report.at, delay, jitter_s=report.jitter_s or 0.0, short=short, passing_s=passing_s)

    @staticmethod
    def _received(report: NetworkReport, sending: float) -> float:
        if report.received_rate is not None:
            return report.received_rate
        sent = report.sent_rate if report.sent_rate is not None else sending
        return sent * (1 - (report.loss or 0.0))

    @staticmethod
    def _short(report: NetworkReport) -> bool:
        if report.received_rate is None or not report.sent_rate or (report.packets or 0) < SHORT_PACKETS:
            return False
        return report.received_rate < SHORT * report.sent_rate * (1 - (report.loss or 0.0))
