"""What the packets of the last seconds say: how unsteady the path is, whether a queue grows, how fast it empties."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from .gradient import RUN, Trendline, rises
from .reports import Arrival

KEPT_S = 2.5
SHORT_S, LONG_S = 0.4, 1.0
"""A queue that grows fast shows in the first, a slow one, or one behind a radio, in the second."""
JITTER_SHARE = 1 / 16
"""Of the newest difference in the average (RFC 3550 section 6.4.1)."""
RATE_S = 0.06
"""Arrivals that say how fast a queue empties take at least so long."""
BURSTY = 3.0
BURSTY_S = 1.0
"""A gap between them so many times the mean shows a radio, that carries many packets at once and then none: it has to
be watched for longer."""
OUTAGE = 14_000
OUTAGE_S = 2.0
"""Bit/s below which not even the lowest rung passes: an outage, that sending less does not end. Only if it lasts is it
a narrow path."""


@dataclass(frozen=True, kw_only=True)
class Emptying:
    """How a queue empties."""

    rate: float
    """bit/s."""
    seconds: float
    bursty: bool

    @property
    def tells(self) -> bool:
        """It can be taken for the capacity."""
        if self.rate < OUTAGE:
            return self.seconds >= OUTAGE_S
        return self.seconds >= (BURSTY_S if self.bursty else RATE_S)


class Arrivals:
    """Of one transport, in sending order."""

    def __init__(self) -> None:
        self.jitter_s = 0.0
        """Interarrival jitter (RFC 3550 section 6.4.1)."""
        self._kept: deque[Arrival] = deque()
        self._trend = Trendline()

    def add(self, arrivals: Iterable[Arrival]) -> None:
        """Newly known ones."""
        for arrival in arrivals:
            if self._kept:
                difference = abs(arrival.delay_s - self._kept[-1].delay_s)
                self.jitter_s += JITTER_SHARE * (difference - self.jitter_s)
            self._kept.append(arrival)
            self._trend.add(arrival.sent_at, arrival.delay_s)
        while self._kept[0].sent_at < self._kept[-1].sent_at - KEPT_S:
            self._kept.popleft()
        self._trend.update()

    def growing(self, above_s: float) -> bool:
        """A queue grows: the newest packets are later than `above_s`, ever more so, and more get through than would in
        an outage."""
        late = self._late(above_s)
        if len(late) < RUN:
            return False
        newest = late[-1].sent_at
        short, long = (
            [(arrival.sent_at, arrival.delay_s) for arrival in late if arrival.sent_at >= newest - seconds]
            for seconds in (SHORT_S, LONG_S)
        )
        if not (rises(short) or (self._trend.overusing and rises(long))):
            return False
        emptying = _emptying(late)
        return emptying is not None and emptying.tells

    def rising(self, since: float) -> bool:
        """The packets sent after `since` are ever later, whatever their level."""
        return rises([(arrival.sent_at, arrival.delay_s) for arrival in self._kept if arrival.sent_at > since])

    def emptying(self, above_s: float) -> Emptying | None:
        """How the newest packets, all later than `above_s`, came out of the queue; None where too few did."""
        return _emptying(self._late(above_s))

    def _late(self, above_s: float) -> list[Arrival]:
        """The newest run of packets later than that, oldest first."""
        late: list[Arrival] = []
        for arrival in reversed(self._kept):
            if arrival.delay_s <= above_s:
                break
            late.append(arrival)
        late.reverse()
        return late


def _emptying(late: list[Arrival]) -> Emptying | None:
    if len(late) < RUN:
        return None
    times = [arrival.sent_at + arrival.delay_s for arrival in late]
    seconds = times[-1] - times[0]
    if seconds < RATE_S:
        return None
    widest = max(after - before for before, after in pairwise(times))
    rate = 8 * sum(arrival.size for arrival in late[1:]) / seconds
    return Emptying(rate=rate, seconds=seconds, bursty=widest > BURSTY * seconds / (len(late) - 1))
