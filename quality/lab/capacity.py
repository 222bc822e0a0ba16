"""How fast a bottleneck lets bytes pass: at a rate, at a rate in steps, or at the opportunities of a Mahimahi trace."""

import math
from bisect import bisect_left, bisect_right
from typing import Protocol

from .settings import LinkSettings

OPPORTUNITY_BYTES = 1_504
"""Bytes that one line of a Mahimahi trace lets pass (Mahimahi, mm-link(1): MTU-sized opportunities)."""
WINDOW_S = 0.5
"""Over which the capacity of a trace is said."""


class Capacity(Protocol):
    """A bottleneck that serves one packet after the other."""

    def finish(self, start: float, size: float) -> float:
        """When the last of `size` bytes is through if their service begins at `start`; infinity for never.

        Asked in the order of service: `start` is never before the finish of the packet before.
        """
        ...

    def rate(self, now: float) -> float | None:
        """Capacity at `now`, bit/s; None is unlimited."""
        ...


class Unlimited:
    """Lets everything pass at once."""

    def finish(self, start: float, size: float) -> float:
        return start

    def rate(self, now: float) -> float | None:
        return None


class Steps:
    """A rate that holds until the next step; a fixed rate is one step."""

    def __init__(self, steps: tuple[tuple[float, float], ...], origin: float) -> None:
        """`steps`: (seconds after `origin`, bit/s); the first holds before its time too."""
        self._times = [origin + at for at, _ in steps]
        self._rates = [rate for _, rate in steps]

    def finish(self, start: float, size: float) -> float:
        bits = size * 8
        step = max(0, bisect_right(self._times, start) - 1)
        now = start
        while True:
            rate = self._rates[step]
            end = self._times[step + 1] if step + 1 < len(self._times) else math.inf
            if rate and bits <= rate * (end - now):
                return now + bits / rate
            if math.isinf(end):
                return math.inf
            bits -= rate * (end - now)
            now, step = end, step + 1

    def rate(self, now: float) -> float | None:
        return self._rates[max(0, bisect_right(self._times, now) - 1)]


class Opportunities:
    """A Mahimahi trace: 1504 bytes may pass at each of its instants, and what is not used then is gone.

    Packets share an opportunity and a packet may need several; it is through at the last of them.
    """

    def __init__(self, trace: tuple[int, ...], origin: float) -> None:
        """`trace`: rising milliseconds after `origin`; its last one is also its period."""
        self._trace = trace
        self._origin = origin
        self._next = 0
        self._left = OPPORTUNITY_BYTES

    def finish(self, start: float, size: float) -> float:
        first = self._first_at(start)
        if first > self._next:
            self._next, self._left = first, OPPORTUNITY_BYTES
        while size > self._left:
            size -= self._left
            self._next, self._left = self._next + 1, OPPORTUNITY_BYTES
        at = self._time(self._next)
        self._left -= math.ceil(size)
        if not self._left:
            self._next, self._left = self._next + 1, OPPORTUNITY_BYTES
        return max(at, start)

    def rate(self, now: float) -> float | None:
        count = self._first_at(now) - self._first_at(now - WINDOW_S)
        return count * OPPORTUNITY_BYTES * 8 / WINDOW_S

    def _time(self, index: int) -> float:
        cycle, place = divmod(index, len(self._trace))
        return self._origin + (cycle * self._trace[-1] + self._trace[place]) / 1000

    def _first_at(self, time: float) -> int:
        """The first opportunity not before `time`; a microsecond of rounding is forgiven."""
        ms = max(0.0, (time - self._origin) * 1000 - 1e-3)
        cycle, rest = divmod(ms, self._trace[-1])
        return int(cycle) * len(self._trace) + bisect_left(self._trace, rest)


def capacity_of(settings: LinkSettings, origin: float) -> Capacity:
    """What `settings` say, with traces and steps beginning at `origin`."""
    if settings.trace:
        return Opportunities(settings.trace, origin)
    if settings.steps:
        return Steps(tuple((at, kbps * 1000) for at, kbps in settings.steps), origin)
    if settings.rate_kbps:
        return Steps(((0.0, settings.rate_kbps * 1000),), origin)
    return Unlimited()
