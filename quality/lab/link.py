"""One direction of a network path, on given time: the same object serves the simulator and live datagrams.

A packet offered is lost or not (before the queue, as a radio would), waits in a drop-tail queue for the bottleneck,
travels for delay and jitter, and is then due. Times are monotonic seconds and may not run backwards; an earlier one
counts as the latest seen. A packet costs O(log n) of the packets in transit.
"""

import heapq
import math
import random
from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

from .capacity import Capacity, capacity_of
from .losses import Losses
from .settings import Jitter, LinkSettings

T = TypeVar("T")

PARETO_SHAPE = 2.5
"""Of the tail of late packets: finite variance, rare packets ten times later than the scale."""


UP_SEED = 1_000_003
"""Between the seeds of the two directions: seeds that users count up from 0 never meet."""


def seeds(seed: int) -> dict[str, int]:
    """The seed of each direction's link, of the one that a rig or a simulation is given."""
    return {"down": seed, "up": seed + UP_SEED}


class Fate(StrEnum):
    """What becomes of a packet, known when it is offered."""

    CARRIED = "carried"
    LOST = "lost"
    OVERFLOWED = "overflowed"


@dataclass(frozen=True, kw_only=True)
class Flow:
    """What a link did since it was made. Bytes include `overhead_bytes`; a packet is in exactly one of
    `lost_packets`, `overflow_packets`, `delivered_packets` and `transit_packets`."""

    offered_packets: int = 0
    offered_bytes: int = 0
    delivered_packets: int = 0
    delivered_bytes: int = 0
    lost_packets: int = 0
    overflow_packets: int = 0
    duplicate_packets: int = 0
    """Deliveries beyond the first."""
    transit_packets: int = 0
    """Waiting in the queue or travelling."""
    queue_bytes: int = 0
    queue_delay_ms: float | None = 0.0
    """How long a packet offered now would wait for its service to begin; None is for ever."""
    queue_delay_max_ms: float = 0.0
    """The longest any packet carried waited, its service included."""
    capacity_kbps: float | None = None
    """At present; None is unlimited."""


@dataclass(slots=True)
class _Waiting(Generic[T]):
    """A packet in the queue; `size` is what of it is still to pass."""

    size: float
    bytes: int
    item: T
    since: float
    start: float
    finish: float


class Link(Generic[T]):
    """Carries items of type T one way."""

    def __init__(self, settings: LinkSettings | None = None, *, seed: int = 0, start: float | None = None) -> None:
        """The same `seed` and the same offers give the same losses, whatever the time.

        `start` is when traces and steps begin; None is the first time the link is used.
        """
        self._settings = settings or LinkSettings()
        self._losses = Losses(f"{seed} loss")
        self._jitter = random.Random(f"{seed} jitter")
        self._duplicates = random.Random(f"{seed} duplicate")
        self._now = -math.inf
        self._queue: deque[_Waiting[T]] = deque()
        self._queue_bytes = 0
        self._travelling: list[tuple[float, int, bool, int, T]] = []
        self._count = 0
        self._last_arrival = -math.inf
        self._offered = [0, 0]
        self._delivered = [0, 0]
        self._lost = self._overflowed = self._duplicated = 0
        self._longest_wait = 0.0
        self._delay_origin = 0.0
        self._capacity: Capacity | None = None
        if start is not None:
            self._begin(start)

    @property
    def settings(self) -> LinkSettings:
        """What holds for the next packet."""
        return self._settings

    def set(self, *, now: float | None = None, **changes: Any) -> None:
        """Changes settings from `now` on (None: the last time seen).

        The capacity is new for the packets in the queue too, traces and steps that are set begin at `now`, packets on
        their way keep their delay. Raises ValueError with a sentence, and then changes nothing.
        """
        settings = self._settings.changed(changes)
        at = self._now if now is None else now
        if math.isfinite(at):
            self._advance(at)
        self._settings = settings
        if self._capacity is None:
            return
        if "loss_list" in changes:
            self._losses.restart_list()
        if "delay_trace" in changes:
            self._delay_origin = self._now
        if changes.keys() & {"trace", "steps"} or ("rate_kbps" in changes and not (settings.trace or settings.steps)):
            self._capacity = capacity_of(settings, self._now)
            self._serve_again(self._capacity, self._now)
            self._advance(self._now)

    def offer(self, now: float, size: int, item: T) -> Fate:
        """A packet of `size` bytes enters at `now`."""
        capacity = self._advance(now)
        now, s = self._now, self._settings
        size += s.overhead_bytes
        self._offered[0] += 1
        self._offered[1] += size
        if self._losses.next(
            loss=s.loss, burst=s.burst, loss_list=s.loss_list, bad_loss=s.bad_loss, good_loss=s.good_loss
        ):
            self._lost += 1
            return Fate.LOST
        if self._queue and self._queue_bytes + size > s.queue_bytes:
            self._overflowed += 1
            return Fate.OVERFLOWED
        start = max(now, self._queue[-1].finish) if self._queue else now
        finish = capacity.finish(start, size) if math.isfinite(start) else math.inf
        self._queue.append(_Waiting(size, size, item, now, start, finish))
        self._queue_bytes += size
        self._advance(now)
        return Fate.CARRIED

    def due(self, now: float) -> list[T]:
        """What has arrived by `now`, in order of arrival; a duplicate comes twice."""
        self._advance(now)
        items = []
        while self._travelling and self._travelling[0][0] <= self._now:
            _, _, again, size, item = heapq.heappop(self._travelling)
            if again:
                self._duplicated += 1
            else:
                self._delivered[0] += 1
                self._delivered[1] += size
            items.append(item)
        return items

    def next_time(self) -> float | None:
        """When to ask `due` again; None while nothing is on its way. It may then still return nothing."""
        times = [self._travelling[0][0]] if self._travelling else []
        if self._queue and math.isfinite(self._queue[0].finish):
            times.append(self._queue[0].finish)
        return min(times, default=None)

    def flow(self, now: float) -> Flow:
        """The account at `now`."""
        capacity = self._advance(now)
        wait = self._queue[-1].finish - self._now if self._queue else 0.0
        rate = capacity.rate(self._now)
        return Flow(
            offered_packets=self._offered[0],
            offered_bytes=self._offered[1],
            delivered_packets=self._delivered[0],
            delivered_bytes=self._delivered[1],
            lost_packets=self._lost,
            overflow_packets=self._overflowed,
            duplicate_packets=self._duplicated,
            transit_packets=len(self._queue) + sum(not entry[2] for entry in self._travelling),
            queue_bytes=self._queue_bytes,
            queue_delay_ms=wait * 1000 if math.isfinite(wait) else None,
            queue_delay_max_ms=self._longest_wait * 1000,
            capacity_kbps=None if rate is None else rate / 1000,
        )

    def _begin(self, now: float) -> Capacity:
        self._now = self._delay_origin = now
        self._capacity = capacity_of(self._settings, now)
        return self._capacity

    def _advance(self, now: float) -> Capacity:
        """Lets time pass: what has gone through the bottleneck by `now` travels."""
        capacity = self._capacity or self._begin(now)
        self._now = max(self._now, now)
        while self._queue and self._queue[0].finish <= self._now:
            waiting = self._queue.popleft()
            self._queue_bytes -= waiting.bytes
            self._longest_wait = max(self._longest_wait, waiting.finish - waiting.since)
            self._travel(waiting)
        return capacity

    def _travel(self, waiting: _Waiting[T]) -> None:
        s = self._settings
        delay = s.delay_ms
        if s.delay_trace:
            place = bisect_right(s.delay_trace, (waiting.finish - self._delay_origin, math.inf)) - 1
            delay = s.delay_trace[max(0, place)][1]
        if s.jitter_ms:
            delay = max(0.0, delay + s.jitter_ms * _SHAPES[s.jitter](self._jitter))
        arrival = waiting.finish + delay / 1000
        if not s.reorder:
            arrival = max(arrival, self._last_arrival)
        self._last_arrival = max(arrival, self._last_arrival)
        twice = s.duplicate > 0 and self._duplicates.random() < s.duplicate
        for again in (False, True)[: 1 + twice]:
            self._count += 1
            heapq.heappush(self._travelling, (arrival, self._count, again, waiting.bytes, waiting.item))

    def _serve_again(self, capacity: Capacity, now: float) -> None:
        """Plans the queue anew for a capacity that changed; of the packet in service only the rest is to pass."""
        start = now
        for waiting in self._queue:
            if waiting.start < now < waiting.finish < math.inf:
                waiting.size *= (waiting.finish - now) / (waiting.finish - waiting.start)
            waiting.start = start
            waiting.finish = capacity.finish(start, waiting.size) if math.isfinite(start) else math.inf
            start = waiting.finish


_SHAPES: dict[Jitter, Callable[[random.Random], float]] = {
    Jitter.NORMAL: lambda source: source.gauss(0.0, 1.0),
    Jitter.UNIFORM: lambda source: source.uniform(-1.0, 1.0),
    Jitter.PARETO: lambda source: source.paretovariate(PARETO_SHAPE) - 1.0,
}
