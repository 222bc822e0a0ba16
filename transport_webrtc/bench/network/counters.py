"""What the receiver's counters say of a stretch of time. Pure.

Counters are read four times a second; between two readings they are taken to grow evenly.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np


class Counters:
    """Readings of an `RTCInboundRtpStreamStats`, each with `at` in seconds."""

    def __init__(self, ticks: Sequence[dict[str, Any]]) -> None:
        self._ticks = [tick for tick in ticks if "totalSamplesReceived" in tick]

    def grown(self, name: str, start: float, end: float) -> float | None:
        """How much a counter grew in [start, end]; None where it was not read."""
        known = [(tick["at"], tick[name]) for tick in self._ticks if name in tick]
        if len(known) < 2:
            return None
        at, values = zip(*known, strict=True)
        return float(np.interp(end, at, values) - np.interp(start, at, values))

    def concealed_share(self, start: float, end: float) -> float | None:
        """Samples that the receiver made up, of all it played."""
        return self._ratio("concealedSamples", "totalSamplesReceived", start, end)

    def delay_s(self, start: float, end: float) -> float | None:
        """Mean time that sound waited in the receiver's buffer, by the samples that left it (W3C webrtc-stats:
        jitterBufferDelay / jitterBufferEmittedCount)."""
        return self._ratio("jitterBufferDelay", "jitterBufferEmittedCount", start, end)

    def delays_s(self, start: float, end: float) -> list[tuple[float, float]]:
        """(when, mean wait) between each two readings in [start, end]."""
        times = [tick["at"] for tick in self._ticks if start <= tick["at"] <= end]
        found = ((b, self._ratio("jitterBufferDelay", "jitterBufferEmittedCount", a, b)) for a, b in pairwise(times))
        return [(at, delay) for at, delay in found if delay is not None]

    def shares(self, start: float, end: float) -> list[tuple[float, float]]:
        """(when, share concealed) between each two readings in [start, end]."""
        times = [tick["at"] for tick in self._ticks if start <= tick["at"] <= end]
        found = ((b, self.concealed_share(a, b)) for a, b in pairwise(times))
        return [(at, share) for at, share in found if share is not None]

    def _ratio(self, part: str, whole: str, start: float, end: float) -> float | None:
        parts, wholes = self.grown(part, start, end), self.grown(whole, start, end)
        return None if parts is None or not wholes else parts / wholes
