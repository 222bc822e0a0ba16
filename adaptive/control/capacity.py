"""What the path can take, learnt from what arrived while a queue was standing, and grown again while none is.

The shape is that of libwebrtc's AIMD control (remote_bitrate_estimator/aimd_rate_control.cc): down to what arrived,
hold, grow by a factor, never far beyond what has been tried. How much of the capacity is used is not decided here.
"""

from collections.abc import Sequence

from .arrivals import Arrivals
from .ladder import LOWEST, wire_rate
from .queueing import RISE_PACKETS_S, RISE_S, QueueWatch
from .reports import Arrival, NetworkReport, Source

MEASURED = 0.95
"""Of the received rate while a queue stands: it is the capacity, whatever is sent; pings and events pass there too."""
HOLD_S = 0.3
"""And a round trip between two cuts: what is in flight was sent before the last one (aimd_rate_control.cc)."""
USED = 0.85
"""Share of the capacity that is used (aimd_rate_control.cc cuts to it on congestion)."""
GROWTH = 1.08
"""A second, while calm (aimd_rate_control.cc)."""
TESTED_FACTOR, TESTED_MORE = 1.5, 10_000
"""Growth ends at 1.5 × what was tried + 10 kb/s (aimd_rate_control.cc)."""
MOST = 150_000
"""bit/s; more than any rung and its protection need."""
FLOOR = wire_rate(LOWEST)
CERTAIN_S = 0.5
"""Of a queue emptying faster than was thought, before that is believed."""
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
        self._proven = 0.0
        """A rate that was sent for a while without a queue since the last cut."""
        self._arrivals = Arrivals()
        self._watches: dict[tuple[Source, bool, float], QueueWatch] = {}
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

    @property
    def queue_s(self) -> float:
        """How long a packet waits in the queue that is standing."""
        return self._watch.excess_s if self._watch is not None and self._watch.congested else 0.0

    def filling(self, since: float) -> bool:
        """What was sent after `since` fills a queue, or may do so."""
        return self.congested or self._arrivals.rising(since)

    def calm_for(self, now: float) -> float:
        """Seconds since the last sign of congestion."""
        return 0.0 if self.congested else now - max(self._cut_at, self._calm_since or float("-inf"))

    @property
    def budget(self) -> float | None:
        """What may be sent now: a share of the capacity, less where a queue has to be emptied. None is no limit."""
        if self.rate is None:
            return None
        return max(self.rate * min(USED, 1 - min(DRAIN_MOST, self.queue_s / DRAIN_S)), self._proven)

    def observe(self, report: NetworkReport, *, sending: float, packet_bytes: float, lossy: float) -> None:
        """Takes in a report. `sending` is the plan's wire rate, `lossy` the loss of the last second."""
        was_congested = self.congested
        if report.arrivals and report.queue_delay_s is not None:
            self._follow_packets(report, report.arrivals, packet_bytes)
        else:
            self._follow_probes(report, sending, packet_bytes)
        if was_congested and not self.congested:
            self._calm_since = report.at
        if lossy > HEAVY_LOSS and report.at - self._heavy_at > HEAVY_AGAIN_S:
            self._heavy_at = report.at
            self.cut(report.at, self._received(report, sending), report.rtt_s)

    def cut(self, now: float, received: float, rtt_s: float | None) -> None:
        """Congestion: down to what arrived, bit/s; if it goes on, to a share of that."""
        held = now - self._cut_at < HOLD_S + (rtt_s or 0.0)
        known = MOST if self.rate is None else self.rate
        self.rate = max(FLOOR, min(known, MEASURED * received))
        self._proven = 0.0
        if not held:
            self._cut_at = now
            if self._watch is not None:
                self._watch.sent_less()

    def assume(self, rate: float) -> None:
        """Nothing is known any more: no more than `rate` may be sent."""
        self.rate = rate if self.rate is None else min(self.rate, rate)
        self._proven = rate

    def prove(self, rate: float) -> None:
        """So much, bit/s, was sent for a while, and no queue came of it."""
        if self.rate is not None:
            self.rate, self._proven = max(self.rate, rate), max(self._proven, rate)

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

    def _follow_packets(self, report: NetworkReport, arrivals: Sequence[Arrival], packet_bytes: float) -> None:
        """Every packet is known: whether a queue grows, and how fast it empties where it stands."""
        watch = self._watch_for(report, one_way=True, rise_s=RISE_PACKETS_S)
        self._arrivals.add(arrivals)
        jitter_s, passing_s = self._arrivals.jitter_s, self._passing_s(packet_bytes)
        calm, limit = watch.level(jitter_s=jitter_s, passing_s=passing_s)
        above = calm + passing_s + (limit - passing_s) / 2
        busy = (report.sent_rate or 0.0) >= FLOOR / 2
        growing = busy and not watch.congested and self._arrivals.growing(above)
        grows = watch.observe(
            report.at, report.queue_delay_s or 0.0, jitter_s=jitter_s, passing_s=passing_s, growing=growing
        )
        emptying = self._arrivals.emptying(above) if grows or watch.congested else None
        if emptying is None or not emptying.tells:
            return
        if grows:
            self.cut(report.at, emptying.rate, report.rtt_s)
        else:
            self._measured(emptying.rate, certain=emptying.seconds >= CERTAIN_S)

    def _follow_probes(self, report: NetworkReport, sending: float, packet_bytes: float) -> None:
        """The same from single delays, or from less arriving than was sent."""
        one_way = report.source is Source.TWCC or report.rtt_s is None
        delay = report.queue_delay_s if one_way else report.rtt_s
        short, received = self._short(report), self._received(report, sending)
        if delay is None:
            self._shorts = self._shorts + 1 if short else 0
            if self._shorts >= 2:
                self.cut(report.at, received, report.rtt_s)
            return
        watch = self._watch_for(report, one_way=one_way, rise_s=RISE_S)
        passing_s = self._passing_s(packet_bytes + PING_BYTES)
        if watch.observe(report.at, delay, jitter_s=report.jitter_s or 0.0, short=short, passing_s=passing_s):
            self.cut(report.at, received, report.rtt_s)
        elif watch.congested:
            self._measured(received, certain=False)

    def _measured(self, received: float, *, certain: bool) -> None:
        """What comes out of a queue that stands: a lower rate counts at once, a higher one where it is `certain`."""
        measured = max(FLOOR, MEASURED * received)
        if self.rate is not None and measured < self.rate:
            self.rate, self._proven = measured, 0.0
        elif self.rate is not None and certain:
            self.rate = min(MOST, measured)

    def _watch_for(self, report: NetworkReport, *, one_way: bool, rise_s: float) -> QueueWatch:
        self._watch = self._watches.setdefault((report.source, one_way, rise_s), QueueWatch(rise_s=rise_s))
        return self._watch

    def _passing_s(self, size: float) -> float:
        """What `size` bytes take through the bottleneck when it is empty."""
        return 0.0 if self.rate is None else 8 * size / self.rate

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
