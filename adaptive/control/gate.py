"""When quality may rise again: one step at a time, and ever more rarely to where it did not hold."""

GAP_S = 4.0
"""Between any change and a rise."""
FAILED_S = 8.0
"""A fall so soon after a rise was caused by it; a rise that lasts longer has held."""
LONGEST_WAIT_S = 60.0
SURE_S = 6.0
"""What congestion showed to be too much is not tried sooner: a squeeze mostly lasts for seconds."""


class Gate:
    """The rises of one listener, on all axes together; rates are wire rates, bit/s."""

    def __init__(self) -> None:
        self._changed_at = self._fell_at = float("-inf")
        self._rose_at = float("-inf")
        self._rose_to = 0.0
        self._failed_at = float("-inf")
        self._failed_rate: float | None = None
        self._wait_s = GAP_S

    @property
    def opens_at(self) -> float:
        """When a rise of one axis may happen."""
        return self._changed_at + GAP_S

    def open(self, now: float) -> bool:
        """A rise of one axis may happen."""
        return now - self._changed_at >= GAP_S

    def may_try(self, now: float) -> bool:
        """More may be tried than is known to fit."""
        return now - self._fell_at >= SURE_S

    def ceiling(self, now: float) -> float | None:
        """The rate that must not be reached yet; None for any."""
        if self._failed_rate is None or now - self._failed_at >= self._wait_s:
            return None
        return self._failed_rate

    def changed(self, now: float) -> None:
        """Something other than the rate changed."""
        self._changed_at = now

    def rose(self, now: float, rate: float) -> None:
        """More is sent."""
        self._changed_at = self._rose_at = now
        self._rose_to = rate

    def fell(self, now: float) -> None:
        """Congestion took the rung down; if the last rise caused that, the next one there waits twice as long."""
        self._changed_at = self._fell_at = now
        if now - self._rose_at < FAILED_S:
            self.failed(now, self._rose_to)
            self._rose_at = float("-inf")

    def failed(self, now: float, rate: float) -> None:
        """A try at a rate did not hold."""
        self._wait_s = min(LONGEST_WAIT_S, 2 * self._wait_s)
        self._failed_at = now
        self._failed_rate = rate if self._failed_rate is None else min(self._failed_rate, rate)

    def held(self, now: float, rate: float) -> None:
        """Time passes at `rate`: one that holds where a rise once failed is forgiven."""
        if self._failed_rate is not None and rate >= self._failed_rate and now - self._rose_at >= FAILED_S:
            self._failed_rate, self._wait_s = None, GAP_S
