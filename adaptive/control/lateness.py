"""How late packets come without being lost: what a listener has to hold for them."""

from collections.abc import Iterable

from .reports import Arrival

BUCKET_S = 0.01
BUCKETS = 100
MEMORY_S = 10.0
EARLY, LATE = 0.02, 0.99
"""Shares of the packets: the first is as early as packets come, the second late enough to be waited for."""
MARGIN = 1.3
"""On the distance between the two, for those that come later still."""
FEW = 20
"""Packets below which nothing is said."""


class Lateness:
    """One-way delays of the last seconds, forgotten exponentially."""

    def __init__(self) -> None:
        self._shares = [0.0] * BUCKETS
        self._total = 0.0
        self._at: float | None = None

    def add(self, at: float, arrivals: Iterable[Arrival], *, rate: float | None) -> None:
        """Packets known at `at`, none of which waited in a queue that stood. `rate`: at which they went through the
        bottleneck, bit/s, which takes time and makes none of them late."""
        elapsed_s = 0.0 if self._at is None else max(0.0, at - self._at)
        self._at = at
        keep = 1 - min(1.0, elapsed_s / MEMORY_S)
        self._shares = [share * keep for share in self._shares]
        self._total *= keep
        for arrival in arrivals:
            late_s = arrival.delay_s if rate is None else max(0.0, arrival.delay_s - 8 * arrival.size / rate)
            self._shares[min(BUCKETS - 1, int(late_s / BUCKET_S))] += 1
            self._total += 1

    @property
    def spread_s(self) -> float | None:
        """From the early to the late; None where too few packets were seen."""
        if self._total < FEW:
            return None
        early = late = 0
        seen = 0.0
        for place, share in enumerate(self._shares):
            seen += share
            if seen < EARLY * self._total:
                early = place + 1
            if seen >= LATE * self._total:
                late = place
                break
        return MARGIN * BUCKET_S * (late - early)
