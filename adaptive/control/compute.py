"""Which tier the machine can afford: down before what is ready runs out, up when there has long been plenty."""

from .plan import Bandwidth, Rung
from .reports import ComputeReport

CHUNK_S = 0.4
"""Speech in a chunk, about."""
MARGIN_S = 0.2
"""What must be ready beyond the next chunk's rendering."""
TOO_SLOW = 1.0
SLOW = 0.6
AFFORDABLE = 0.8
"""Seconds of rendering per second of speech: above the first speech runs out in time, below the second rendering is not
what makes it run short, and below the third a better tier is worth trying."""
LONG_QUEUE_S = 0.2
PLENTY = 0.75
"""Share of the target that counts as plenty ready."""
START_S = 1.0
"""An utterance begins with nothing ready; so long it is given to fill up."""
SETTLE_S = 1.0
"""What a new tier changes is seen after this."""
PLENTY_FOR_S = 5.0
FAILED_S = 10.0
LONGEST_WAIT_S = 60.0
FRESH_S = 1.0


def worth_computing(rung: Rung, tiers: int) -> int:
    """The best of `tiers` tiers whose precision survives the rung: what the codec drops is not computed.

    At 12 kb/s the lowest, at 16 kb/s wideband one in the middle, above that the best.
    """
    if rung.bandwidth in (Bandwidth.SWB, Bandwidth.FB) or rung.bitrate > 16_000 or tiers < 2:
        return 0
    return tiers - 1 if rung.bitrate <= 12_000 else tiers // 2


class TierChoice:
    """A place in the sounding voice's tiers, 0 being the best."""

    def __init__(self) -> None:
        self.tiers: tuple[str, ...] = ()
        self.index = 0
        self._report: ComputeReport | None = None
        self._began_at = 0.0
        self._plenty_since: float | None = None
        self._fell_at = self._rose_at = float("-inf")
        self._wait_s = PLENTY_FOR_S

    def observe(self, report: ComputeReport) -> None:
        """Takes in a report; a voice with other tiers begins at its best."""
        if report.tiers and report.tiers != self.tiers:
            self.tiers, self.index = report.tiers, 0
        if self._making(report) and not (self._report and self._making(self._report)):
            self._began_at = report.at
        self._report = report
        if not self._plenty(report):
            self._plenty_since = None
        elif self._plenty_since is None:
            self._plenty_since = report.at

    def fall(self, now: float) -> bool:
        """Goes down where the present tier is too slow; says whether it did."""
        if self.index >= len(self.tiers) - 1 or not self._too_slow(now):
            return False
        self._wait_s = min(LONGEST_WAIT_S, 2 * self._wait_s) if now - self._rose_at < FAILED_S else self._wait_s
        self._fell_at = now
        lower = range(self.index + 1, len(self.tiers))
        costs = {n: cost for n in lower if (cost := self._cost(n)) is not None}
        self.index = next((n for n, cost in costs.items() if cost <= AFFORDABLE), lower[0])
        return True

    def may_rise(self, now: float) -> bool:
        """One tier better is worth trying."""
        if self.index == 0 or self._plenty_since is None or now - self._plenty_since < PLENTY_FOR_S:
            return False
        since_fall = now - self._fell_at
        cost = self._cost(self.index - 1)
        # A cost measured long ago, on a busier machine perhaps, does not hold for ever.
        affordable = cost is None or cost < AFFORDABLE or since_fall >= LONGEST_WAIT_S
        return since_fall >= self._wait_s and affordable

    def rise(self, now: float) -> None:
        """One tier better."""
        self.index -= 1
        self._rose_at = now

    def _cost(self, index: int) -> float | None:
        return self._report.cost.get(self.tiers[index]) if self._report else None

    @staticmethod
    def _making(report: ComputeReport) -> bool:
        return report.rendering and report.ready_s is not None

    def _plenty(self, report: ComputeReport) -> bool:
        if not self._making(report) or report.ready_s is None:
            return True
        return report.ready_s >= PLENTY * (report.target_s if report.target_s is not None else CHUNK_S + MARGIN_S)

    def _too_slow(self, now: float) -> bool:
        report = self._report
        if report is None or report.ready_s is None or not report.rendering or now - report.at > FRESH_S:
            return False
        cost, queue_s = self._cost(self.index), report.queue_s or 0.0
        if now - self._fell_at < SETTLE_S or (cost is None and queue_s < LONG_QUEUE_S):
            return False
        if cost is not None and cost > TOO_SLOW and not self._plenty(report):
            return True
        # Text that is still being written runs short too; a cheaper tier would not help that.
        blamed = (cost is not None and cost >= SLOW) or queue_s >= LONG_QUEUE_S
        slack = report.ready_s - (cost or 0.0) * CHUNK_S - queue_s - MARGIN_S
        return blamed and slack < 0 and now - self._began_at >= START_S
