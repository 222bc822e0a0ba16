"""Whether a listener is out of reach, by the signs that come of it. Pure: all times are monotonic seconds.

Silence says something only where signs were regular. A listener that reports packet by packet, or answers pings, is
missed after half a second; one that only sends receiver reports every few seconds after one and a half times the
longest that it has kept silent, so that its outages are noticed late and short ones not at all.

Some paths hold packets back for seconds and lose none: a radio link that repeats them, a deep queue. What is sent in
their silences arrives, so that stopping would only add to them.
"""

from collections import deque

DECLARED_S = 0.5
"""Without a sign for so long it is an outage: 400 ms was a false alarm at 10 % loss of what comes back (measured)."""
KEPT_S = 4.0
"""The same on a path that has held packets back and lost none. More speech than that waits in no receiver: Chromium's
holds 200 packets (neteq.h, `max_packets_in_buffer`)."""
KEPT_FOR_S = 30.0
"""So long after it did so last: roads have tunnels."""
STALL = 0.8
"""Share of what usually is an outage: of silence from which on what leaves may have to wait for the path."""
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
        self._kept_at: float | None = None
        """When the path last held packets back for so long that it passed for an outage, and lost none."""
        self._last: float | None = None
        self._asked = 0.0
        self._silent_s = 0.0
        """Since the last sign, as far as it counts."""
        self._gaps: deque[float] = deque(maxlen=GAPS)

    @property
    def keeps(self) -> bool:
        """The path holds packets back rather than lose them: silence says less."""
        return self._kept_at is not None

    def kept(self, now: float) -> None:
        """A silence that would have passed for an outage is over, and nothing was lost in it."""
        self._kept_at = now

    def cut(self) -> None:
        """The path lost what it could not carry."""
        self._kept_at = None

    @property
    def limit_s(self) -> float | None:
        """Silence of so long is an outage; None while it is not known how regular signs are."""
        usual_s = self._usual_s
        return max(usual_s, KEPT_S) if usual_s is not None and self.keeps else usual_s

    @property
    def watched(self) -> bool:
        """An outage would be noticed at once, or what was lost in it afterwards."""
        return self._usual_s is not None and self._usual_s <= WATCHED_S

    @property
    def stalled(self) -> bool:
        """Signs have been regular, and fail to come."""
        return self._usual_s is not None and self.watched and self._silent_s >= STALL * self._usual_s

    def sign(self, now: float) -> bool:
        """One came; an outage is over with it. Whether there was one, or the silence would have passed for one but for
        what is known of the path."""
        last, asked = self._last, self._last is not None and self._asked > self._last
        missed_s = self._silent_s + min(now - self._asked, MOST_S) if asked else 0.0
        stalled = self.since is not None or (self.watched and missed_s >= DECLARED_S)
        if last is not None and not stalled:
            self._gaps.append(missed_s if asked else now - last)
        self._last, self._asked, self._silent_s, self.since = now, now, 0.0, None
        return stalled

    def ask(self, now: float) -> bool:
        """Whether an outage begins at `now`; to be called every `ASK_S` where one would matter."""
        self._silent_s += min(now - self._asked, MOST_S)
        self._asked = now
        if self._kept_at is not None and now - self._kept_at > KEPT_FOR_S:
            self._kept_at = None
        if self.since is not None or self.limit_s is None or self._silent_s < self.limit_s:
            return False
        self.since = now
        return True

    @property
    def _usual_s(self) -> float | None:
        return max(DECLARED_S, LONGEST * max(self._gaps)) if len(self._gaps) >= LEAST else None
