"""How fast, and how much at a time: congestion by delay, never by loss; and when silence asks for a probe."""

from adaptive.control.reports import NARROW_PATH

from .answering import NEWS_S, TIMERS_S
from .arriving import Arriving

BURST_BYTES = 3000
"""Leave unpaced at the start: speech enough to outlast the first round trip. The slower starts tried starved players on
a clean link (measured: ahead prototype)."""
IDLE_S = 1.0
"""After which a start is a start again."""
START_RATE, TOP_RATE, LOW_RATE = 160_000.0, 400_000.0, 12_000.0
"""bit/s: after the burst, at most, and at least however little arrives."""
GROWTH, GROWTH_S = 1.15, 0.1
"""Of the rate while nothing queues, and how often."""
OVER = 1.3
"""Of what arrives is sent while congested: what is there beyond it is found in time."""
QUEUE_S, CALM_QUEUE_S = 0.15, 0.08
"""Queueing that is congestion, and that is none."""
CALM_S = 1.0
"""Without congestion before it is over."""
STANDING_S, SLACK_S = 0.25, 0.12
"""Beyond the shortest round trip: in flight while congested, and else."""
LEAST_WINDOW = 1000
UNPROVEN = 2.0
"""Times what was delivered may be on its way while nothing queues: as in a slow start."""
OPENING_S = 3.0
"""Since a start, in which silence of a path that is not known to be narrow does not stop what is to be sent: it may
stand still, and what stands in its queue is heard as soon as it moves."""
OPENING_BYTES, OPENING_RATE = 6000, 48_000
"""On its way then, at most; and bit/s by which that grows while no answer comes."""
WIDE_BYTES, WIDE_RATE = 12_000, NARROW_PATH
"""The same where the path was found to be wide just before."""
PROBE_S, PROBE_MOST_S = 0.15, 0.3
UNKNOWN_S = 0.35
"""Without an answer to the first message of all."""
STALLED_S = 0.6
"""The player answers, but nothing of what is on its way arrives: it stands in a queue."""
OUTAGE_S = 1.0
"""Without an answer after which the path is another one: what it carries has to be found anew."""


class Pacing:
    """Sizes are bytes on the wire, overhead included."""

    def __init__(self) -> None:
        self.path = Arriving()
        self.congested = False
        self._rate = START_RATE
        self._burst = float(BURST_BYTES)
        self._free_at = float("-inf")
        self._grown_at = self._calm_since = float("-inf")
        self._answer_at = float("-inf")
        self._progress_at = float("-inf")
        """When something arrived, or was sent with nothing else on its way."""
        self._probed_at = float("-inf")
        self._probes = 0
        self.answer_s = NEWS_S
        """How long the player may wait with an answer to what was sent last."""
        self._narrow = self._wide = False
        """It was found to be, while nothing was on its way."""
        self._started_at = float("-inf")
        self._opening = 0.0
        """Bytes that may be on their way since then."""
        self._suspected = False
        """Congestion was concluded from silence alone."""

    def window(self, now: float) -> float:
        """Bytes that may be on their way."""
        path = self.path
        if path.min_rtt_s is None or path.rate is None:
            proven = float(BURST_BYTES)
        elif self.congested:
            proven = max(LEAST_WINDOW, 1.1 * path.rate / 8 * (path.min_rtt_s + STANDING_S))
        else:
            proven = max(BURST_BYTES, min(self._rate, UNPROVEN * path.rate) / 8 * (path.min_rtt_s + SLACK_S))
        if self._narrow or now - self._started_at > OPENING_S:
            return proven
        patience_s = max(0.0, now - self._opens_from)
        most, rate = self._opens_to
        self._opening = max(self._opening, min(most, BURST_BYTES + rate / 8 * patience_s))
        return max(proven, self._opening if self.congested else 0.0)

    def opens_at(self, now: float, in_flight: float) -> float | None:
        """When the window is larger than so many bytes; None while only news can change that."""
        if in_flight < self.window(now):
            return now
        most, rate = self._opens_to
        if self._narrow or not self.congested or in_flight >= most or now - self._started_at > OPENING_S:
            return None
        wait_s = (in_flight - BURST_BYTES) * 8 / rate
        return max(now, self._opens_from + wait_s) + 0.001

    @property
    def free_at(self) -> float:
        """When the next message may leave."""
        return float("-inf") if self._burst > 0 else self._free_at

    def sent(self, now: float, size: float, *, alone: bool) -> None:
        """`alone`: nothing else was on its way."""
        if alone:
            self._progress_at = now
            if now - self._free_at > IDLE_S:
                self._started_at, self._opening = now, 0.0
                self._calm_since = now
                self._burst = 0.0 if self.congested else float(BURST_BYTES)
        paced = max(0.0, size - self._burst)
        self._burst = max(0.0, self._burst - size)
        self._free_at = max(self._free_at, now - 0.01) + paced * 8 / self._rate
        if self._probes and self.congested:
            self._probed_at = now  # its answer is as good as a probe's

    def answered(
        self, now: float, arrived: int, arrival: int, *, awaited: bool, oldest_at: float | None = None
    ) -> None:
        """An acknowledgement by which so many bytes are newly known to have arrived, the oldest sent at `oldest_at`;
        see `Arriving.exchange` first. `awaited`: something was on its way."""
        silent_s, self._answer_at = now - max(self._answer_at, self._progress_at), now
        if awaited and silent_s > OUTAGE_S:
            self._start_anew()
        if not arrived:
            return
        waited_s = now - (now if oldest_at is None else oldest_at) - (self.path.min_rtt_s or 0.0)
        self._progress_at, self._probes = now, 0
        self.path.arrived(now, arrival=arrival, size=arrived, waited_s=waited_s)
        self._look(now, self.path.queue_delay_s or 0.0)

    def found(self, now: float, rate: float | None) -> None:
        """What the path carries, found while nothing was on its way: a narrow one is not flooded at the next start."""
        if rate is None:
            return
        self._narrow = rate < NARROW_PATH
        self._wide = not self._narrow
        if self._narrow:
            self.path.carries(now, rate)
            self._congest(now)
            self._suspected = False
            self._rate, self._burst = max(LOW_RATE, rate), 0.0
        elif self.congested:
            self.congested = False
            self._start_anew()

    def probe_at(self) -> float:
        """When something is to be sent again for want of an answer, while anything is on its way."""
        rtt_s, wait = self.path.smooth_rtt_s, self._usual_s
        if rtt_s is not None and self._probes:
            wait = min(PROBE_MOST_S, max(PROBE_S, rtt_s / 2 * min(4, self._probes)))
        return max(self._progress_at, self._probed_at) + wait

    @property
    def progress_at(self) -> float:
        """When something arrived, or was sent with nothing else on its way: silence before that says nothing, as a
        player whose last word on an utterance was lost still seems to play when the next one begins."""
        return self._progress_at

    @property
    def overdue_at(self) -> float:
        """When an answer to what is on its way will have been waited for longer than usual."""
        return self._progress_at + self._usual_s

    @property
    def _usual_s(self) -> float:
        path = self.path
        if path.smooth_rtt_s is None:
            return UNKNOWN_S
        return max(PROBE_S, path.smooth_rtt_s + 2 * path.spread_s + 0.03 + self.answer_s + TIMERS_S)

    def probed(self, now: float, *, lossy: bool) -> None:
        """A probe leaves. `lossy`: so much is lost on the path that a missing answer says little."""
        self._probed_at = now
        self._probes += 1
        silent_s = now - self._progress_at
        starts = self._wide and not lossy and now - self._started_at < OPENING_S
        stalls = now - self._answer_at < PROBE_MOST_S and silent_s > STALLED_S
        if self.path.smooth_rtt_s is None or starts or stalls:
            self._suspected = not self.congested or self._suspected
            self._congest(now)

    @property
    def _opens_from(self) -> float:
        """When a start begins to be taken for one into a path that stands still."""
        return self.overdue_at if self._wide else self._progress_at + UNKNOWN_S

    @property
    def _opens_to(self) -> tuple[int, float]:
        return (WIDE_BYTES, WIDE_RATE) if self._wide else (OPENING_BYTES, OPENING_RATE)

    def _look(self, now: float, queue_s: float) -> None:
        rate = self.path.rate
        if queue_s > QUEUE_S:
            self._suspected = False
            self._congest(now)
        elif queue_s > CALM_QUEUE_S:
            self._calm_since = now
        elif self.congested and (self._suspected or now - self._calm_since > CALM_S):
            self.congested = False
        if self.congested:
            if rate is not None:
                self._rate = min(TOP_RATE, max(LOW_RATE, OVER * rate))
        elif queue_s < CALM_QUEUE_S and now - self._grown_at > GROWTH_S:
            self._grown_at = now
            self._rate = min(TOP_RATE, max(self._rate, START_RATE) * GROWTH)

    def _congest(self, now: float) -> None:
        self.congested = True
        self._calm_since = now

    def _start_anew(self) -> None:
        """As on the first day, but that the round trip is known."""
        self.path.renew()
        self._rate, self._burst = START_RATE, float(BURST_BYTES)
