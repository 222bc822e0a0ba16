"""Which tier and which chunks the machine can afford: down before what is ready runs out, up when there is plenty."""

from .chunking import ChunkLength, usual
from .plan import Bandwidth, Rung
from .reports import ComputeReport

CHUNK_S = 0.4
"""Speech in a chunk, about."""
COST_SHARE = 0.1
COST_DEVIATIONS = 1.6
"""Costs are averaged over a second, and taken as dear as nine in ten are: the mean and 1.28 standard deviations, which
are 1.25 mean deviations each."""
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


class _Cost:
    """What a tier costs, and how much that varies."""

    def __init__(self, first: float) -> None:
        self._mean, self._deviation, self._newest = first, 0.0, first

    def add(self, cost: float) -> None:
        difference = cost - self._mean
        self._mean += COST_SHARE * difference
        self._deviation += COST_SHARE * (abs(difference) - self._deviation)
        self._newest = cost

    @property
    def high(self) -> float:
        """What nine in ten are below, and the newest is."""
        return max(self._newest, self._mean + COST_DEVIATIONS * self._deviation)


class TierChoice:
    """A place in the sounding voice's tiers, 0 being the best."""

    def __init__(self) -> None:
        self._costs: dict[str, _Cost] = {}
        self.tiers: tuple[str, ...] = ()
        self.index = 0
        self._report: ComputeReport | None = None
        self._chunks = ChunkLength()
        self._chunk_frames: int | None = None
        self._began_at = 0.0
        self._plenty_since: float | None = None
        self._fell_at = self._rose_at = float("-inf")
        self._wait_s = PLENTY_FOR_S

    def observe(self, report: ComputeReport) -> None:
        """Takes in a report; a voice with other tiers begins at its best."""
        if report.tiers and report.tiers != self.tiers:
            self.tiers, self.index = report.tiers, 0
            self._costs.clear()
        for tier in [known for known in self._costs if known not in report.cost]:
            del self._costs[tier]
        for tier, cost in report.cost.items():
            if tier in self._costs:
                self._costs[tier].add(cost)
            else:
                self._costs[tier] = _Cost(cost)
        if self._making(report) and not (self._report and self._making(self._report)):
            self._began_at = report.at
        self._report = report
        self._chunk_frames = self._length(report)
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
        costs = {n: cost for n in lower if (cost := self.cost(n)) is not None}
        self.index = next((n for n, cost in costs.items() if cost <= AFFORDABLE), lower[0])
        return True

    def may_rise(self, now: float) -> bool:
        """One tier better is worth trying."""
        if self.index == 0 or self._plenty_since is None or now - self._plenty_since < PLENTY_FOR_S:
            return False
        since_fall = now - self._fell_at
        cost = self.cost(self.index - 1)
        # A cost measured long ago, on a busier machine perhaps, does not hold for ever.
        affordable = cost is None or cost < AFFORDABLE or since_fall >= LONGEST_WAIT_S
        return since_fall >= self._wait_s and affordable

    def rise(self, now: float) -> None:
        """One tier better."""
        self.index -= 1
        self._rose_at = now

    def cost(self, index: int) -> float | None:
        """Seconds of rendering per second of speech that a tier takes nine times in ten; one that was not used yet, by
        its calibration and by what those that were take against theirs. None where not known."""
        known = self._costs.get(self.tiers[index])
        return self._expected(self.tiers[index]) if known is None else known.high

    def _expected(self, tier: str) -> float | None:
        calibrated = {name: usual(costs) for name, costs in (self._report.lengths if self._report else {}).items()}
        busier = [cost.high / calibrated[name] for name, cost in self._costs.items() if calibrated.get(name)]
        return calibrated[tier] * max(busier) if tier in calibrated and busier else None

    def loss(self, index: int) -> float | None:
        """Points of opinion by which a tier sounds worse than the best, where it was judged."""
        return self._report.losses.get(self.tiers[index]) if self._report is not None else None

    @property
    def chunk_frames(self) -> int | None:
        """Model frames in the chunks that the machine affords at present; None for those of the stream."""
        return self._chunk_frames

    def _length(self, report: ComputeReport) -> int | None:
        cost = self.cost(self.index) if self.tiers else None
        if cost is None or not report.rendering or report.at - self._began_at < START_S:
            return None
        lengths = report.lengths.get(self.tiers[self.index], {})
        return self._chunks.frames(report, cost=cost, lengths=lengths, margin_s=MARGIN_S)

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
        cost, queue_s = self.cost(self.index), report.queue_s or 0.0
        if now - self._fell_at < SETTLE_S or (cost is None and queue_s < LONG_QUEUE_S):
            return False
        if cost is not None and cost > TOO_SLOW and not self._plenty(report):
            return True
        # Text that is still being written runs short too; a cheaper tier would not help that.
        blamed = (cost is not None and cost >= SLOW) or queue_s >= LONG_QUEUE_S
        slack = report.ready_s - (cost or 0.0) * CHUNK_S - queue_s - MARGIN_S
        return blamed and slack < 0 and now - self._began_at >= START_S
