"""Whether a listener is out of reach, by the signs that come of it. Pure: all times are monotonic seconds.

Silence says something only where signs were regular. A listener that reports packet by packet, or answers pings, is
missed after half a second; one that only sends receiver reports every few seconds after one and a half times the
longest that it has kept silent, so that its outages are noticed late and short ones not at all.
"""

from collections import deque

DECLARED_S = 0.5
"""Without a sign for so long it is an outage: 400 ms was a false alarm at 10 % loss of what comes back (measured)."""
LONGEST = 1.5
"""Times the longest silence of late, where that is more."""
GAPS = 16
"""Silences remembered."""
LEAST = 4
"""Of them that say whether signs are regular."""
WATCHED_S = 1.0
"""Where it shows so soon, an outage is noticed before anybody could believe that it was not one."""
LATE_S = 0.2
"""Asked so much after it was to be asked, this process was held up, and signs may wait to be taken in."""


class Outage:
    """One connection of one listener."""

    def __init__(self) -> None:
        self.since: float | None = None
        """When it was declared; None while there is none."""
        self._last: float | None = None
        self._gaps: deque[float] = deque(maxlen=GAPS)

    @property
    def limit_s(self) -> float | None:
        """Silence of so long is an outage; None while it is not known how regular signs are."""
        return max(DECLARED_S, LONGEST * max(self._gaps)) if len(self._gaps) >= LEAST else None

    @property
    def watched(self) -> bool:
        """An outage would be noticed at once."""
        return self.limit_s is not None and self.limit_s <= WATCHED_S

    @property
    def due(self) -> float | None:
        """When `ask` is to be called next; None while only a sign changes anything."""
        if self.since is not None or self._last is None or self.limit_s is None:
            return None
        return self._last + self.limit_s

    def sign(self, now: float) -> None:
        """One came; an outage is over with it."""
        if self._last is not None and self.since is None:
            self._gaps.append(now - self._last)
        self._last, self.since = now, None

    def ask(self, now: float) -> bool:
        """Whether an outage begins at `now`."""
        if self.due is None or now < self.due:
            return False
        if now - self.due > LATE_S:
            self._last = now - (self.limit_s or 0.0) + LATE_S
            return False
        self.since = now
        return True
