"""Is a queue building? Told from delays alone, of any kind: round trips, or one-way delays above some base.

What counts is the rise above what this path showed while it was calm, in units of its own noise, so that jitter is not
taken for a queue. A delay that stays up although less is sent is no queue but a longer path, and becomes the new calm.
"""

from collections import deque
from statistics import median

RISE_S = 0.040
RISE_PACKETS_S = 0.020
"""Above the calm delay: perhaps a queue; the first where one packet in a quarter second is seen, the second where all
are. A capacity that falls to 40 kb/s shows a packet so late 173 ms after it fell (measured in Chromium at 50 ms each
way). libwebrtc's threshold adapts from 12.5 ms (goog_cc/trendline_estimator.cc)."""
SPREADS = 4.0
MOST_SPREAD_S = 0.050
"""And so many times the noise of the calm delay or the jitter reported, taken as no more than this."""
GROWS_S = 0.010
"""By so much a queue grows from one observation to another, where a path that became longer stays."""
CERTAIN_S = 0.5
"""No path becomes longer by so much: one observation is enough."""
CALM_KEPT = 40
FEW = 8
"""Observations: 10 s and 2 s at four a second, 2.5 s and half a second at sixteen."""
FLAT_S = 3.0
FLAT_SUSPECT_S = 1.0
FLAT_COUNT = 6
"""Seconds (after a cut, and before one) and observations without growth that show a longer path."""


def _spread(values: list[float]) -> float:
    """A standard deviation that outliers do not move: 1.48 × the median absolute deviation, seconds."""
    middle = median(values)
    return 1.48 * median(abs(v - middle) for v in values)


class QueueWatch:
    """Follows one kind of delay."""

    def __init__(self, *, rise_s: float = RISE_S) -> None:
        """`rise_s` above the calm delay is where a queue may begin, on a path without noise."""
        self._rise_s = rise_s
        self.congested = False
        self.excess_s = 0.0
        """Of the newest observation over the calm delay; not negative."""
        self._calm: deque[float] = deque(maxlen=CALM_KEPT)
        self._suspects: list[tuple[float, float]] = []
        """(at, delay) above the calm delay that may be a queue or a longer path."""
        self._since: list[tuple[float, float]] = []
        """(at, delay) observed while congested, since the last `sent_less`."""

    @property
    def suspicious(self) -> bool:
        """The newest observation was above the calm delay."""
        return bool(self._suspects)

    def level(self, *, jitter_s: float = 0.0, passing_s: float = 0.0) -> tuple[float, float]:
        """The calm delay, and how far above it a queue may begin, s.

        `jitter_s` is the interarrival jitter, which shows the noise of a path before its delays have. `passing_s`:
        what a probe takes through the bottleneck without a queue.
        """
        calm, spread = self._reference()
        return calm, max(self._rise_s, SPREADS * min(MOST_SPREAD_S, max(spread, jitter_s))) + passing_s

    def observe(
        self,
        at: float,
        delay_s: float,
        *,
        jitter_s: float = 0.0,
        short: bool = False,
        passing_s: float = 0.0,
        growing: bool | None = None,
    ) -> bool:
        """True when less should be sent.

        `short`: less arrived than was sent. `growing`: what the packets in between say of that; None where they are
        not known. The rest is as for `level`.
        """
        calm, limit = self.level(jitter_s=jitter_s, passing_s=passing_s)
        self.excess_s = max(0.0, delay_s - calm) if self._calm else 0.0
        if self.congested:
            return self._observe_congested(at, delay_s, limit, short=short)
        if self.excess_s <= limit:
            self._calm.extend([*(delay for _, delay in self._suspects), delay_s])
            self._suspects.clear()
            return False
        grows = growing
        if grows is None:
            grows = bool(self._suspects) and (short or delay_s > min(delay for _, delay in self._suspects) + GROWS_S)
        if grows or (growing is None and self.excess_s > CERTAIN_S):
            self.congested = True
            self._suspects.clear()
            self._since = [(at, delay_s)]
            return True
        self._suspects.append((at, delay_s))
        if len(self._suspects) >= FLAT_COUNT and at - self._suspects[0][0] >= FLAT_SUSPECT_S:
            self._calm.clear()
            self._calm.extend(delay for _, delay in self._suspects)
            self._suspects.clear()
        return False

    def sent_less(self) -> None:
        """The rate was cut: whether the delay falls from now on tells a queue from a longer path."""
        self._since = self._since[-1:]

    def _observe_congested(self, at: float, delay_s: float, limit: float, *, short: bool) -> bool:
        before = self._since[-1][1]
        self._since.append((at, delay_s))
        if self.excess_s <= limit / 2:
            self._end([delay_s])
            return False
        flat = self._flat()
        if flat:
            self._calm.clear()
            self._end(flat)
            return False
        return short or delay_s > before + limit / 4

    def _end(self, calm: list[float]) -> None:
        self.congested = False
        self._calm.extend(calm)
        self._since = []

    def _flat(self) -> list[float]:
        """The delays of the last seconds since the cut, if their two halves differ by no more than noise; else none."""
        newest, oldest = self._since[-1][0], self._since[0][0]
        recent = [delay for at, delay in self._since if at >= newest - FLAT_S]
        if len(recent) < FLAT_COUNT:
            recent = [delay for _, delay in self._since[-FLAT_COUNT:]]
        if newest - oldest < FLAT_S or len(recent) < FLAT_COUNT:
            return []
        half = len(recent) // 2
        step = abs(median(recent[half:]) - median(recent[:half]))
        return recent if step <= max(self._rise_s / 2, 1.2 * min(MOST_SPREAD_S, _spread(recent))) else []

    def _reference(self) -> tuple[float, float]:
        """The calm delay and its noise. A path that became shorter is believed at once, a longer one slowly."""
        calm = list(self._calm)
        if len(calm) < FEW:
            return min(calm, default=0.0), self._rise_s / SPREADS
        return min(median(calm), median(calm[-FEW:])), _spread(calm)
