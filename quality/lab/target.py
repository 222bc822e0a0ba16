"""The delay a browser's jitter buffer aims at: NetEq's delay manager with its two optimizers, and what is asked of it.

After libwebrtc's delay_manager.cc, underrun_optimizer.cc, reorder_optimizer.cc, histogram.cc and
packet_arrival_history.cc, with their default settings.
"""

from collections import deque

from adaptive.ticks import TICK_RATE

BUCKET_S = 0.02
BUCKETS = 100
QUANTILE = 0.95
"""Of the largest relative delays of half a second each, that the delay covers."""
FORGET = 0.983
FORGET_REORDERED = 0.9993
RESAMPLE_S = 0.5
START_S = 0.08
"""Aimed at until half a second has been seen (`kStartDelayMs`)."""
HISTORY_S = 2.0
"""The fastest packet of this long had no delay."""
COST_PER_LOST_S = 2.0
"""Seconds of delay worth one lost packet: 20 ms a percent (`ms_per_loss_percent`)."""


class Histogram:
    """Shares of 20 ms buckets, forgotten geometrically; at first faster, so that the start weighs little."""

    def __init__(self, forget: float, *, none_late: int = 0) -> None:
        """`none_late`: so many observations of the first bucket came before."""
        self._shares = [0.5**place for place in range(1, BUCKETS + 1)]
        if none_late:
            self._shares = [1.0] + [0.0] * (BUCKETS - 1)
        self._base = forget
        self._count = none_late

    def add(self, bucket: int) -> None:
        """One observation."""
        self._count += 1
        forget = max(0.0, min(self._base, self._base * (1 - 2 / (self._count + 1))))
        self._shares = [share * forget for share in self._shares]
        self._shares[bucket] += 1 - forget

    def quantile(self, share: float) -> int:
        """The bucket up to which `share` of the observations lie."""
        total = 0.0
        for place, part in enumerate(self._shares):
            total += part
            if total >= share:
                return place
        return BUCKETS - 1

    def cheapest(self, base_s: float) -> int:
        """The bucket at which the delay beyond `base_s` and the packets missed by it cost least together."""
        missed, best, least = 1.0, 0, float("inf")
        for place, part in enumerate(self._shares):
            missed -= part
            cost = max(0.0, place * BUCKET_S - base_s) + COST_PER_LOST_S * missed
            if cost < least:
                best, least = place, cost
            if missed <= 1e-9:
                break
        return best


class DelayTarget:
    """Learns from arrivals. All delays are relative to the fastest packet of the last two seconds."""

    def __init__(self) -> None:
        self.wanted_s = 0.0
        """The least delay asked for (jitterBufferTarget); may be changed at any time."""
        self._underrun = Histogram(FORGET)
        self._reorder: Histogram | None = None
        self._learnt_s = START_S
        self._repaired_s = 0.0
        self._largest_in_interval_s = 0.0
        self._interval_from: float | None = None
        self._newest: int | None = None
        self._in_order = 0
        self._fastest: deque[tuple[float, float]] = deque()
        self._slowest: deque[tuple[float, float]] = deque()

    @property
    def delay_s(self) -> float:
        """What is aimed at."""
        return max(self._learnt_s, self._repaired_s, self.wanted_s)

    @property
    def largest_s(self) -> float:
        """The largest delay of the last two seconds."""
        return self._slowest[0][1] - self._fastest[0][1] if self._slowest else 0.0

    def delay_of(self, now: float, timestamp: int) -> float:
        """How long after the fastest possible time a sample of RTP time `timestamp` is, `now`."""
        return now - timestamp / TICK_RATE - self._fastest[0][1]

    def arrived(self, now: float, timestamp: int) -> None:
        """A packet's own frame; copies in it say nothing of delays."""
        transit = now - timestamp / TICK_RATE
        for extremes, sign in ((self._fastest, 1), (self._slowest, -1)):
            while extremes and sign * extremes[-1][1] >= sign * transit:
                extremes.pop()
            extremes.append((now, transit))
            while extremes[0][0] < now - HISTORY_S:
                extremes.popleft()
        delay_s = transit - self._fastest[0][1]
        if self._newest is not None and timestamp <= self._newest:
            self._learn_reordered(delay_s)
            return
        self._newest = timestamp
        self._in_order += 1
        if self._reorder is not None:
            self._reorder.add(0)
        if self._interval_from is None:
            self._interval_from = now
        if now - self._interval_from > RESAMPLE_S:
            self._learn()
            self._interval_from, self._largest_in_interval_s = now, 0.0
        self._largest_in_interval_s = max(self._largest_in_interval_s, delay_s)

    def _learn(self) -> None:
        bucket = int(self._largest_in_interval_s / BUCKET_S)
        if bucket < BUCKETS:
            self._underrun.add(bucket)
        self._learnt_s = (1 + self._underrun.quantile(QUANTILE)) * BUCKET_S
        if self._reorder is not None:
            self._repaired_s = (1 + self._reorder.cheapest(self._learnt_s)) * BUCKET_S

    def _learn_reordered(self, delay_s: float) -> None:
        if self._reorder is None:
            self._reorder = Histogram(FORGET_REORDERED, none_late=self._in_order)
        bucket = int(delay_s / BUCKET_S)
        if bucket < BUCKETS:
            self._reorder.add(bucket)
        self._repaired_s = (1 + self._reorder.cheapest(self._learnt_s)) * BUCKET_S
