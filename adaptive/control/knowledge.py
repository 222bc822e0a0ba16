"""What is known of one listener's path, put together from the reports that come, whatever their source."""

import math
from dataclasses import dataclass

from .capacity import CapacityEstimate
from .freshness import Age, Freshness
from .lateness import Lateness
from .loss import LossEstimate
from .reports import NetworkReport

TOO_FAR_S = 3.0
"""Round trip at which nothing but the lowest rung makes sense (libwebrtc's send_side_bandwidth_estimation.cc backs off
there)."""
RTT_UP = 0.1
"""Share of the difference by which a longer round trip is believed; a shorter one is believed at once. Retransmissions
are planned with what is usual, not with a queue that passes."""
JITTERS = 3.0
"""Times the interarrival jitter (a mean deviation, RFC 3550 section 6.4.1) that packets are late, where the delays of
single packets are not known."""
RAISED_S, SETTLED_S = 2.5, 1.5
"""After more is sent, loss that grows is looked at for the first, from the second on, when rates are those of after."""
RATES_S = 0.7
"""Time constant over which rates are averaged for that."""
RAISED_MORE, RAISED_DEVIATIONS = 0.08, 2.5
"""Growth of loss that is looked at: so much, and so many standard deviations of what chance does to a second of
packets."""
PASSES, PASSES_REPAIRING = 0.35, 0.0
"""Share of what is sent more that must arrive: of a shallow queue or a policer nothing does, of a lossy path most.
Where more is sent to repair a loss that has just begun, what arrived before is overrated."""
MORE, MORE_REPAIRING = 1.2, 1.4
"""Times as much has to be sent before that can be told."""


@dataclass(frozen=True, kw_only=True)
class _Before:
    """How it was before more was sent."""

    at: float
    loss: float
    sent: float
    arrived: float
    passes: float
    more: float


def suspicious_loss(before: float) -> float:
    """The loss of a second that, after a rise, is no chance any more where it was `before`."""
    return before + max(RAISED_MORE, RAISED_DEVIATIONS * math.sqrt(before * (1 - before) / 50))


class Knowledge:
    """Loss, capacity, delays, and how old all that is."""

    def __init__(self) -> None:
        self.loss, self.capacity, self.freshness = LossEstimate(), CapacityEstimate(), Freshness()
        self.reports = 0
        """That counted so far."""
        self.rtt_s: float | None = None
        """Of the newest exchange."""
        self.usual_rtt_s: float | None = None
        self._lateness = Lateness()
        self._jitter_s: float | None = None
        self._rates: tuple[float, float, float] | None = None
        """When; what is sent and what arrives of it on average, bit/s. What arrived of it is told by the share that was
        lost: of some packets the fate is not known."""
        self._before: _Before | None = None

    def on_network(self, report: NetworkReport, *, sending: float, packet_bytes: float, try_less: bool) -> None:
        """Loss and delay from the best source that is fresh; round trip and jitter from any.

        `sending` is the plan's wire rate, bit/s. `try_less`: where very much is lost, see whether that is a policer by
        sending less; where copies can be sent, sending more of them tells.
        """
        facts = (report.rtt_s, report.loss, report.queue_delay_s, report.jitter_s, report.received_rate)
        outage = self.freshness.silent_before(report)
        if all(fact is None for fact in facts) or not self.freshness.accept(report):
            return
        self.reports += 1
        self._jitter_s = report.jitter_s if report.jitter_s is not None else self._jitter_s
        if report.rtt_s is not None:
            self.rtt_s, usual = report.rtt_s, self.usual_rtt_s
            more = 0.0 if usual is None else max(0.0, report.rtt_s - usual)
            self.usual_rtt_s = report.rtt_s if not more or usual is None else usual + RTT_UP * more
        if report.loss is not None and not outage:
            self.loss.observe(report.at, report.loss, report.packets, report.lost_mask)
        self.capacity.observe(
            report, sending=sending, packet_bytes=packet_bytes, lossy=self.loss.fast if try_less else 0.0
        )
        if report.arrivals and not (self.capacity.congested or self.capacity.suspicious):
            self._lateness.add(report.at, report.arrivals, rate=self.capacity.rate)
        self._average(report)
        self._blame(report)

    def sends_more(self, now: float, *, repairing: bool = False) -> None:
        """More is sent from now on: loss that follows may be its doing."""
        if self._rates is not None:
            _, sent, arrived = self._rates
            passes, more = (PASSES_REPAIRING, MORE_REPAIRING) if repairing else (PASSES, MORE)
            self._before = _Before(at=now, loss=self.loss.share, sent=sent, arrived=arrived, passes=passes, more=more)

    def _average(self, report: NetworkReport) -> None:
        if report.sent_rate is None or report.loss is None:
            return
        newest = report.sent_rate, report.sent_rate * (1 - report.loss)
        at, sent, arrived = self._rates or (report.at, *newest)
        new = 1 - math.exp(-max(0.0, report.at - at) / RATES_S)
        self._rates = report.at, sent + new * (newest[0] - sent), arrived + new * (newest[1] - arrived)

    def _blame(self, report: NetworkReport) -> None:
        """Is what is sent more what is lost?"""
        before = self._before
        if before is None or self._rates is None or report.at - before.at < SETTLED_S:
            return
        if report.at - before.at >= RAISED_S:
            self._before = None
        _, sent, arrived = self._rates
        grew = self.loss.fast >= suspicious_loss(before.loss) and sent >= before.more * before.sent
        if grew and arrived - before.arrived < before.passes * (sent - before.sent):
            self.capacity.cut(report.at, arrived, report.rtt_s)
            self._before = None

    def late_s(self) -> float:
        """What a listener has to hold for packets that come late without a queue."""
        spread_s = self._lateness.spread_s
        if spread_s is None:
            spread_s = JITTERS * (self._jitter_s or 0.0)
        return spread_s

    def age(self, now: float) -> Age:
        """Of the newest facts."""
        return self.freshness.age(now)

    @property
    def too_far(self) -> bool:
        """Nothing that is sent is heard in time."""
        return (self.rtt_s or 0.0) > TOO_FAR_S
