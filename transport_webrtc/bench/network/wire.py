"""What was on the wire: rates in windows of half a second, and when a sender got under a capacity that fell. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WINDOW_S = 0.5
STEP_S = 0.02
"""Between two windows."""


@dataclass(frozen=True)
class Wire:
    """Packets of one direction or of both."""

    times: NDArray[np.float64]
    """Seconds from the start of the speech, rising."""
    sizes: NDArray[np.float64]
    """Bytes, with IP and UDP."""

    @classmethod
    def of(cls, *directions: Sequence[Sequence[float | None]]) -> "Wire":
        """From [time, bytes, …] of each packet."""
        packets = sorted((float(p[0] or 0), float(p[1] or 0)) for packets in directions for p in packets)
        return cls(np.array([at for at, _ in packets]), np.array([size for _, size in packets]))

    def bytes(self, start: float, end: float) -> float:
        """On the wire in [start, end)."""
        return float(self.sizes[np.searchsorted(self.times, start) : np.searchsorted(self.times, end)].sum())

    def kbps(self, start: float, end: float) -> float:
        """Mean rate in [start, end)."""
        return self.bytes(start, end) * 8 / 1000 / (end - start)

    def rates(self, start: float, end: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Middles of all windows of half a second in [start, end), and their rates in kb/s."""
        starts = np.arange(start, max(start, end - WINDOW_S) + 1e-9, STEP_S)
        total = np.concatenate([[0.0], np.cumsum(self.sizes)])
        passed = total[np.searchsorted(self.times, starts + WINDOW_S)] - total[np.searchsorted(self.times, starts)]
        return starts + WINDOW_S / 2, passed * 8 / 1000 / WINDOW_S


def under_capacity_after(wire: Wire, start: float, end: float, kbps: float) -> float | None:
    """Seconds from `start`, when the capacity fell to `kbps`, until the wire rate stays within it up to `end`.

    That is the middle of the first window of half a second after which none holds more than passes in its time and one
    packet on top; None where the last window does. A sender under the capacity all along was so after 0 s.
    """
    middles, rates = wire.rates(start - WINDOW_S / 2, end)
    inside = wire.sizes[np.searchsorted(wire.times, start) : np.searchsorted(wire.times, end)]
    if not len(inside):
        return 0.0
    allowed = kbps + float(inside.max()) * 8 / 1000 / WINDOW_S
    over = np.flatnonzero(rates > allowed)
    if not len(over):
        return 0.0
    if over[-1] == len(rates) - 1 or math.isinf(end):
        return None
    return max(0.0, float(middles[over[-1] + 1]) - start)
