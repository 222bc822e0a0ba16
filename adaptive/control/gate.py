"""When quality may rise again: one step at a time, and ever more rarely to where it did not hold."""

GAP_S = 4.0
"""Between any change and a rise."""
FAILED_S = 8.0
"""A fall so soon after a rise was caused by it; a rise that lasts longer has held."""
LONGEST_WAIT_S = 60.0


class Gate:
    """The rises of one listener, on all axes together; levels are those of the ladder."""

    def __init__(self) -> None:
        self._changed_at = float("-inf")
        self._rose_at = float("-inf")
        self._rose_to = 0
        self._failed_at = float("-inf")
        self._failed_level: int | None = None
        self._wait_s = GAP_S

    def open(self, now: float) -> bool:
        """A rise of one axis may happen."""
        return now - self._changed_at >= GAP_S

    def ceiling(self, now: float) -> int | None:
        """The highest level that may be tried, None for any."""
        if self._failed_level is None or now - self._failed_at >= self._wait_s:
            return None
        return self._failed_level - 1

    def changed(self, now: float) -> None:
        """Something other than the rung changed."""
        self._changed_at = now

    def rose(self, now: float, level: int) -> None:
        """The rung was raised to `level`."""
        self._changed_at = self._rose_at = now
        self._rose_to = level

    def fell(self, now: float) -> None:
        """Congestion took the rung down; if the last rise caused that, the next one there waits twice as long."""
        self._changed_at = now
        if now - self._rose_at < FAILED_S:
            self._wait_s = min(LONGEST_WAIT_S, 2 * self._wait_s)
            known = self._rose_to if self._failed_level is None else self._failed_level
            self._failed_at, self._failed_level = now, min(known, self._rose_to)
            self._rose_at = float("-inf")

    def held(self, now: float, level: int) -> None:
        """Time passes at `level`: a level that holds where a rise once failed is forgiven."""
        if self._failed_level is not None and level >= self._failed_level and now - self._rose_at >= FAILED_S:
            self._failed_level, self._wait_s = None, GAP_S
