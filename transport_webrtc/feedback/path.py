"""All that comes back from one listener, as reports: the best source speaks for the path, the others fill in.

Transport-wide feedback knows loss and delay packet by packet but no round trip, which the `feedback` channel measures;
without the first the channel's counters speak, without both the receiver reports of RTCP.
"""

from collections.abc import Callable

from aiortc import RTCDataChannel, RTCRtpSender

from adaptive.control.reports import HeardReport, NetworkReport, Source
from quality.shadow import Estimate

from ..shadowing import Shadowing
from . import rtcp
from .channel import FeedbackChannel
from .exchange import FAST_S, MIDDLE_S, RARE_S, SLOW_S
from .retransmissions import Retransmissions
from .transport_wide import TransportWide

ALIVE_S = 1.5
"""Transport-wide feedback no older than this speaks for the path; idle, a packet leaves every 200 ms."""
GAP_S = 0.05
"""Between two reports of it, at least."""
COUNTED_S = 5.0
"""Without counters on the feedback channel for so long, those of RTCP are taken."""
KNOWN_S = {Source.FEEDBACK: 3.0, Source.RTCP: 10.0}
"""How long a round trip and jitter are repeated in other reports, by where they came from."""


class PathFacts:
    """One listener's."""

    def __init__(
        self,
        sender: RTCRtpSender,
        *,
        element: int | None,
        overhead: int,
        clock: Callable[[], float],
        sent_rate: Callable[[], float | None],
        on_network: Callable[[NetworkReport], None],
        on_heard: Callable[[HeardReport], None],
        on_rtt: Callable[[float], None],
        on_repeat: Callable[[int], None],
        on_sign: Callable[[float, float | None], None],
    ) -> None:
        """`element`: header extension for transport-wide feedback, None without it. `overhead`: bytes on the wire
        beyond the payload of a packet, for rates where nothing better is known. `sent_rate` is in bit/s. Make it
        before anything is sent. `on_rtt` is told every round trip once, in s. `on_sign(now, reached)` is called with
        everything that comes; what left by `reached` arrived, where that is known."""
        self.wide = TransportWide(
            sender, element=element, clock=clock, on_feedback=self._wide_feedback, on_repeat=on_repeat
        )
        self.retransmissions = Retransmissions(sender, clock=clock, rtt_s=self.rtt_s, newest=lambda: self.wide.newest)
        self._overhead = overhead
        self._clock = clock
        self._sent_rate = sent_rate
        self._on_network = on_network
        self._on_heard = on_heard
        self._on_rtt = on_rtt
        self._on_sign = on_sign
        self._channel: FeedbackChannel | None = None
        self._asked_s: float | None = None
        self._told_at = float("-inf")
        self._untold = False
        """A feedback came so soon after a report that the next one tells it."""
        self._rtcp_at: float | None = None
        self._extra: NetworkReport | None = None
        """The newest report that measured a round trip."""
        self.shadowing: Shadowing | None = None
        self._held_s: float | None = None
        """How long speech waited in the listener's buffer."""
        self._reports = rtcp.listen(sender, clock=clock, sent_rate=sent_rate, on_network=self._rtcp_report)

    def attach(self, channel: RTCDataChannel) -> None:
        """The feedback channel is there. Of several the first counts."""
        if self._channel is not None:
            return
        self._channel = FeedbackChannel(
            channel,
            overhead=self._overhead,
            clock=self._clock,
            sent_rate=self._sent_rate,
            on_network=self._channel_report,
            on_heard=self._heard,
        )
        if self._asked_s is not None:
            self._channel.ask_playout_delay(self._asked_s)

    def ask_playout_delay(self, seconds: float) -> None:
        """Asks the listener to hold what it receives for so long, once, as soon as there is a channel for it."""
        changed, self._asked_s = seconds != self._asked_s, seconds
        if self._channel is not None and changed:
            self._channel.ask_playout_delay(seconds)

    def shadow(self, *, red: bool, lookahead: int, every_s: float) -> Shadowing:
        """Estimates what is heard from now on; for a listener that gives transport-wide feedback. See `Shadowing`."""
        self.shadowing = Shadowing(
            self.wide.fates,
            red=red,
            lookahead=lookahead,
            every_s=every_s,
            clock=self._clock,
            on_estimate=self._estimated,
        )
        return self.shadowing

    def tick(self, now: float, *, narrow: bool, acknowledged: bool = False) -> None:
        """Ten times a second: sends what is due. `narrow`: pings would weigh on the speech; `acknowledged`: the speech
        is, by itself."""
        if self._untold and now - self._told_at >= GAP_S:
            self._tell(now)
        if self._channel is not None:
            slow_s = RARE_S if acknowledged and narrow else SLOW_S
            usual_s = MIDDLE_S if self.is_wide(now) else FAST_S
            self._channel.tick(now, every_s=slow_s if narrow or acknowledged else usual_s)
        if self.shadowing is not None:
            self.shadowing.tick(now, held_s=self._held_s)

    def is_wide(self, now: float) -> bool:
        """Whether transport-wide feedback comes."""
        last = self.wide.fates.last_feedback
        return last is not None and now - last <= ALIVE_S

    @property
    def last_sign(self) -> float | None:
        """When anything was last heard of the listener; None for one that reports nothing."""
        answered = self._channel.last_answer if self._channel else None
        signs = (answered, self._rtcp_at, self.wide.fates.last_feedback)
        return max((at for at in signs if at is not None), default=None)

    def arrived_until(self, before: float) -> float | None:
        """Of the packets that left by then, when the newest left that arrived; None where nobody says."""
        return self.wide.fates.arrived_until(before)

    @property
    def queue_s(self) -> float:
        """How much longer than the least a packet took of which it was told last, at most."""
        return self.wide.fates.queue_s

    def missing(self, since: float) -> list[tuple[float, float]]:
        """Runs of packets that left after that and did not arrive, though later ones did; see `Fates.missing`."""
        return self.wide.fates.missing(since)

    def rtt_s(self) -> float | None:
        """The newest round trip, where it is not too old."""
        extra = self._known(self._clock())
        return extra.rtt_s if extra else None

    def _known(self, now: float) -> NetworkReport | None:
        extra = self._extra
        return extra if extra is not None and now - extra.at <= KNOWN_S[extra.source] else None

    def _wide_feedback(self, now: float) -> None:
        self._on_sign(now, self.wide.fates.arrived_until())
        self._untold = True
        if now - self._told_at >= GAP_S:
            self._tell(now)

    def _tell(self, now: float) -> None:
        extra = self._known(now)
        rtt_s, jitter_s = (extra.rtt_s, extra.jitter_s) if extra else (None, None)
        self._untold, self._told_at = False, now
        self._on_network(self.wide.fates.report(now, rtt_s=rtt_s, jitter_s=jitter_s))

    def _heard(self, report: HeardReport) -> None:
        if report.buffered_s is not None:
            self._held_s = report.buffered_s
        self._on_heard(report)

    def _estimated(self, estimate: Estimate, at: float) -> None:
        self._on_heard(HeardReport(at=at, opinion=estimate.opinion))

    def _channel_report(self, report: NetworkReport) -> None:
        if report.rtt_s is not None:
            self._extra = report
            self._on_rtt(report.rtt_s)
            self._on_sign(report.at, self._channel.reached_at if self._channel else None)
        if not self.is_wide(report.at):
            self._on_network(report)

    def _rtcp_report(self, report: NetworkReport) -> None:
        self._rtcp_at = report.at
        self._on_sign(report.at, self._reports.reached_at)
        extra = self._known(report.at)
        if report.rtt_s is not None and (extra is None or extra.source is Source.RTCP):
            self._extra = report
            self._on_rtt(report.rtt_s)
        counted = self._channel.last_counters if self._channel else None
        if not self.is_wide(report.at) and (counted is None or report.at - counted > COUNTED_S):
            self._on_network(report)
