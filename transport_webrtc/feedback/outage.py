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
ASK_S = 0.1
"""Between two questions."""
MOST_S = 1.5 * ASK_S
"""Of the time between two that counts as silence: the rest this process was held up for, and signs may have waited."""


class Outage:
    """One connection of one listener."""

    def __init__(self) -> None:
        self.since: float | None = None
        """When it was declared; None while there is none."""
        self._last: float | None = None
        self._asked = 0.0
        self._silent_s = 0.0
        """Since the last sign, as far as it counts."""
        self._gaps: deque[float] = deque(maxlen=GAPS)

    @property
    def limit_s(self) -> float | None:
        """Silence of so long is an outage; None while it is not known how regular signs are."""
        return max(DECLARED_S, LONGEST * max(self._gaps)) if len(self._gaps) >= LEAST else None

    @property
    def watched(self) -> bool:
        """An outage would be noticed at once."""
        return self.limit_s is not None and self.limit_s <= WATCHED_S

    def sign(self, now: float) -> None:
        """One came; an outage is over with it."""
        if self._last is not None and self.since is None:
            asked = self._asked > self._last
            self._gaps.append(self._silent_s + min(now - self._asked, MOST_S) if asked else now - self._last)
        self._last, self._asked, self._silent_s, self.since = now, now, 0.0, None

    def ask(self, now: float) -> bool:
        """Whether an outage begins at `now`; to be called every `ASK_S` where one would matter."""
        self._silent_s += min(now - self._asked, MOST_S)
        self._asked = now
        if self.since is not None or self.limit_s is None or self._silent_s < self.limit_s:
            return False
        self.since = now
        return True
