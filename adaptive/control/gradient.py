"""Does the one-way delay rise from packet to packet? Two answers: a trend line for slow queues, a short run for fast.

The trend line is libwebrtc's (modules/congestion_controller/goog_cc/trendline_estimator.cc): the slope of the smoothed
delay over the last 20 packets, against a threshold that follows what the path does anyway.
"""

import math
from collections import deque
from collections.abc import Sequence

WINDOW = 20
SMOOTHING = 0.9
GAIN = 4.0
MOST_DELTAS = 60
OVERUSE_MS = 10.0
"""trendline_estimator.cc: kDefaultTrendlineWindowSize, -SmoothingCoeff, -ThresholdGain, kMaxAdaptOffsetMs's
neighbours kMinNumDeltas and kOverUsingTimeThreshold."""
START_MS, LEAST_MS, MOST_MS = 12.5, 6.0, 600.0
UP, DOWN = 0.0087, 0.039
FAR_MS = 15.0
STEP_MS = 100.0
"""Of the adaptive threshold (trendline_estimator.cc, UpdateThreshold)."""

RUN = 3
"""Late packets without which nothing is said of a run."""
GROWTH_S = 0.010
"""By so much a queue has grown over the run."""
SURE, SURE_FEW = 3.0, 2.0
"""And by so many times the scatter about the line, more where the packets are few: chance does that to one run of late
packets in 20 where there are three, in 70 where there are five, in 1,000 where there are sixteen (Student's t)."""


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Of the straight line of least squares through (x, y); 0 where all x are one."""
    n = len(points)
    mean_x = sum(x for x, _ in points) / n
    mean_y = sum(y for _, y in points) / n
    over = sum((x - mean_x) * (y - mean_y) for x, y in points)
    under = sum((x - mean_x) ** 2 for x, _ in points)
    return over / under if under > 0 else 0.0


def rises(points: Sequence[tuple[float, float]]) -> bool:
    """Whether (time, delay), both in s, rise for certain: more than packets that are late by chance would."""
    n = len(points)
    if n < RUN:
        return False
    k = slope(points)
    growth = k * (points[-1][0] - points[0][0])
    if growth < GROWTH_S:
        return False
    mean_x = sum(x for x, _ in points) / n
    mean_y = sum(y for _, y in points) / n
    scatter = math.sqrt(sum((y - mean_y - k * (x - mean_x)) ** 2 for x, y in points) / (n - 2))
    return growth >= SURE * (1 + SURE_FEW / (n - 2)) * scatter


class Trendline:
    """Fed with every packet that arrived, asked once a report."""

    def __init__(self) -> None:
        self.overusing = False
        self._points: deque[tuple[float, float]] = deque(maxlen=WINDOW)
        """(arrival, smoothed delay), ms."""
        self._smoothed: float | None = None
        self._deltas = 0
        self._threshold = START_MS
        self._before = 0.0
        self._over_ms = 0.0
        self._asked_ms: float | None = None

    def add(self, sent_at: float, delay_s: float) -> None:
        """One packet; times in s."""
        delay = 1000 * delay_s
        self._smoothed = delay if self._smoothed is None else SMOOTHING * self._smoothed + (1 - SMOOTHING) * delay
        self._points.append((1000 * sent_at + delay, self._smoothed))
        self._deltas += 1

    def update(self) -> bool:
        """What the packets so far say; `overusing` keeps it."""
        if len(self._points) < WINDOW:
            return False
        now = self._points[-1][0]
        elapsed = 0.0 if self._asked_ms is None else max(0.0, min(STEP_MS, now - self._asked_ms))
        self._asked_ms = now
        trend = slope(self._points)
        scaled = min(self._deltas, MOST_DELTAS) * trend * GAIN
        if scaled > self._threshold:
            self._over_ms += elapsed
            self.overusing = self._over_ms > OVERUSE_MS and trend >= self._before
        else:
            self._over_ms = 0.0
            self.overusing = False
        self._before = trend
        away = abs(scaled) - self._threshold
        if away <= FAR_MS:
            moved = self._threshold + (UP if away > 0 else DOWN) * away * elapsed
            self._threshold = min(MOST_MS, max(LEAST_MS, moved))
        return self.overusing
