"""How much is lost, how fast that changes, and in what bursts."""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

FAST_S = 1.0
SLOW_S = 10.0
"""Time constants. Ten seconds is libwebrtc's for its FEC decision (audio_network_adaptor/config.proto)."""
FIT_PACKETS = 500
"""Fates that the burst length is fitted on: 10 s of 20 ms frames."""
PRIOR_PACKETS = 20
"""Arrived packets that are taken to have come before the first: one loss among few says little."""
PRIOR_BURST, PRIOR_BURSTS = 2.0, 2
"""A burst length that nothing is known of is 2; it weighs as much as so many bursts seen."""
OUTAGE_PACKETS = 16
"""More than that lost in a row is an outage, which no repair helps and which says nothing of what comes after it. A
channel with bursts of 3 has one longer in 440."""
PACKETS_A_SECOND = 16.0
"""Assumed of a source that does not count its packets."""


@dataclass(frozen=True, kw_only=True)
class Gilbert:
    """A channel that is good, or bad and loses everything (Gilbert 1960; ITU-T G.107 clause 7.4)."""

    share: float
    """Of packets lost, 0..1."""
    burst: float
    """Mean packets lost in a row: 1 / P(bad to good). Random loss has 1 / (1 − share)."""

    @property
    def memory(self) -> float:
        """r = 1 − P(good to bad) − P(bad to good): how much of a state is left one packet later, 0..1."""
        if self.share >= 1:
            return 1.0
        recover = 1 / max(1.0, self.burst)
        return max(0.0, 1 - recover - recover * self.share / (1 - self.share))


class _Filter:
    """An exponential average over time that gives each packet the same weight."""

    def __init__(self, time_constant_s: float) -> None:
        self._time_constant_s = time_constant_s
        self._lost = 0.0
        self.packets = 0.0

    def add(self, elapsed_s: float, lost: float, packets: float) -> None:
        keep = math.exp(-elapsed_s / self._time_constant_s)
        self._lost = keep * self._lost + lost
        self.packets = keep * self.packets + packets

    @property
    def share(self) -> float:
        return self._lost / (self.packets + PRIOR_PACKETS)


class LossEstimate:
    """Two averages and a burst length."""

    def __init__(self) -> None:
        self.known = 0
        """Packets whose fate was told so far."""
        self._fast, self._slow = _Filter(FAST_S), _Filter(SLOW_S)
        self._at: float | None = None
        self._intervals: deque[tuple[float, float, float]] = deque()
        """(at, lost, packets) of the last `SLOW_S`."""
        self._recent_lost = self._recent = 0.0
        self._fates: deque[bool] = deque(maxlen=FIT_PACKETS)
        self._window_lost = self._window_bursts = 0
        self._run = 0
        """Packets lost in a row up to the newest."""

    @property
    def fast(self) -> float:
        """Share lost of late, 0..1."""
        return self._fast.share

    @property
    def slow(self) -> float:
        """Share lost for some time, 0..1."""
        return self._slow.share

    def observe(
        self, at: float, loss: float, packets: int | None = None, mask: Sequence[bool | None] | None = None
    ) -> None:
        """One interval: `loss` of `packets`, ended at `at` seconds, and the fates of single packets where known."""
        elapsed = 0.25 if self._at is None else max(0.0, at - self._at)
        self._at = at
        count: float = packets if packets is not None else PACKETS_A_SECOND * elapsed
        lost = loss * count
        if mask is not None:
            count, lost = self._take(mask)
        self.known += round(count)
        self._fast.add(elapsed, lost, count)
        self._slow.add(elapsed, lost, count)
        self._intervals.append((at, lost, count))
        self._recent_lost, self._recent = self._recent_lost + lost, self._recent + count
        while self._intervals[0][0] < at - SLOW_S:
            _, lost, count = self._intervals.popleft()
            self._recent_lost, self._recent = self._recent_lost - lost, self._recent - count

    def _take(self, mask: Sequence[bool | None]) -> tuple[int, int]:
        """Packets told of, and how many of them are lost; those of a run not over yet come with its end."""
        count = lost = 0
        for fate in mask:
            if fate is None:
                continue
            if fate:
                self._run += 1
                continue
            if self._run <= OUTAGE_PACKETS:
                lost += self._run
                count += self._run
                for _ in range(self._run):
                    self._remember(True)
            self._run = 0
            count += 1
            self._remember(False)
        return count, lost

    def _remember(self, fate: bool) -> None:
        """Keeps how many are lost in the window, and in how many runs, as fates come and go."""
        fates = self._fates
        if len(fates) == FIT_PACKETS and fates.popleft():
            self._window_lost -= 1
            self._window_bursts -= not fates[0]
        if fate:
            self._window_lost += 1
            self._window_bursts += not (fates and fates[-1])
        fates.append(fate)

    @property
    def burst(self) -> float:
        """Mean packets lost in a row."""
        return (self._window_lost + PRIOR_BURST * PRIOR_BURSTS) / (self._window_bursts + PRIOR_BURSTS)

    @property
    def share(self) -> float:
        """What is to be planned with, 0..1: the slow average, but no more than was lost in all of that time; or the
        fast one, where it is more by more than chance."""
        slow = min(self._slow.share, max(0.0, self._recent_lost) / max(1.0, self._recent))
        fast = self._fast.share
        chance = math.sqrt(fast * (1 - fast) * self.burst / max(1.0, self._fast.packets))
        return max(slow, fast - chance)

    def channel(self, *, careful: bool = False) -> Gilbert:
        """What is to be planned with; where `careful`, as bad as it may well be (a standard deviation more)."""
        share = self.share
        if careful and share:
            packets = max(1.0, self._slow.packets)
            share = min(1.0, share + math.sqrt(share * (1 - share) * self.burst / packets))
        return Gilbert(share=share, burst=max(self.burst, 1 / (1 - min(0.99, share))))
