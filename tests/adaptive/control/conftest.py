"""A path on virtual time, small enough to read: a bottleneck with a queue, random loss, a delay, and a listener who
answers pings or tells of every packet. Tests write what happens as steps, and look at the log of plans."""

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest

from adaptive.control import (
    PROFILES,
    RUNGS,
    AdaptiveController,
    ComputeReport,
    ContentReport,
    NetworkReport,
    Plan,
    Source,
    wire_rate,
)
from adaptive.control.fates import Fates, Feedback

TIERS = ("full", "mixed", "light")
PING_BYTES = 130
FAST_S, SLOW_S, SLOW_RATE = 0.25, 1.0, 40_000
WIDE_S = 0.06
"""Between two transport-wide feedbacks."""
TICK_S = 0.1


def level(plan: Plan) -> int:
    """Of the plan's rung in the ladder; protection that takes fullband away does not change it."""
    return next(n for n, r in enumerate(RUNGS) if (r.bitrate, r.frame_ms) == (plan.rung.bitrate, plan.rung.frame_ms))


def quality(plan: Plan) -> tuple[int, int]:
    """The axes of quality, higher is better: bitrate, and tier."""
    return plan.rung.bitrate, -TIERS.index(plan.tier) if plan.tier in TIERS else 0


@dataclass
class Path:
    """What the network does at present; steps change it."""

    capacity: float | None = None
    """bit/s; None is unlimited."""
    loss: float = 0.0
    delay_s: float = 0.03
    """Each way."""
    jitter_s: float = 0.0
    """Standard deviation, each way."""
    queue_bytes: int = 30_000
    silent: bool = False
    """Nothing arrives, in either direction."""


@dataclass
class Entry:
    """The plan that held at a moment, and the path's own truth."""

    at: float
    plan: Plan
    queue_s: float


@dataclass
class World:
    """A controller, a path, and the time that passes."""

    controller: AdaptiveController
    path: Path = field(default_factory=Path)
    seed: int = 0
    tiers: tuple[str, ...] = TIERS
    encoder_share: float = 0.95
    """Of the bitrate, what the encoder really makes."""
    see: Callable[[NetworkReport], NetworkReport | None] = lambda report: report
    """What becomes of a report before the controller sees it."""
    cost: dict[str, float] = field(default_factory=dict)
    """Seconds of rendering per second of speech, by tier; empty is a machine that always keeps up and says nothing."""
    feedback: bool = True
    wide: bool = False
    """Transport-wide feedback comes, and pings only tell round trips."""
    sounding: bool = True
    ready_s: float = 1.2
    now: float = 0.0
    log: list[Entry] = field(default_factory=list)
    reports: list[tuple[float, object]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._busy_until = 0.0
        self._next_packet = self._next_ping = self._next_tick = 0.0
        self._answers: deque[tuple[float, NetworkReport | Feedback]] = deque()
        self._sent: deque[tuple[float, int]] = deque()
        self._arrivals: list[tuple[float, int]] = []
        self._last = (0.0, 0, 0, 0)
        self._counted_sent = self._counted_lost = 0
        self._base_rtt: float | None = None
        self._rtt: float | None = None
        self._fates = Fates()
        self._arrived_at: dict[int, float] = {}
        """At the listener, by packet, not yet told."""
        self._told, self._newest, self._next_wide = -1, -1, 0.0

    def run(self, until: float, **changes: object) -> "World":
        """Changes the path and lets time pass until then."""
        self.path = replace(self.path, **changes)
        while self.now < until - 1e-9:
            self.now = min(until, self._next_packet, self._next_ping, self._next_tick, self._next_wide)
            if self.now >= self._next_tick - 1e-9:
                self._tick()
            if self.now >= self._next_packet - 1e-9:
                self._send_packet()
            if self.now >= self._next_ping - 1e-9:
                self._ping()
            if self.now >= self._next_wide - 1e-9:
                self._tell_all()
        return self

    @property
    def plan(self) -> Plan:
        return self.log[-1].plan

    def between(self, start: float, end: float) -> list[Entry]:
        return [entry for entry in self.log if start <= entry.at < end]

    def first(self, wanted: Callable[[Plan], bool], *, after: float) -> float:
        """When a plan like this first held."""
        return next(entry.at for entry in self.log if entry.at >= after and wanted(entry.plan))

    def rises(self, start: float = 0.0, end: float = float("inf")) -> list[float]:
        """When rung or tier got better."""
        log = self.between(start, end)
        return [
            b.at for a, b in pairwise(log) if any(y > x for x, y in zip(quality(a.plan), quality(b.plan), strict=True))
        ]

    def falls(self, start: float = 0.0, end: float = float("inf")) -> list[float]:
        """When the rung fell."""
        log = self.between(start, end)
        return [b.at for a, b in pairwise(log) if level(b.plan) < level(a.plan)]

    def give(self, report: object) -> None:
        """Hands the controller a report, and remembers it."""
        name = type(report).__name__.removesuffix("Report").lower()
        self.reports.append((self.now, report))
        getattr(self.controller, f"on_{name}")(report)

    def _tick(self) -> None:
        while self._answers and self._answers[0][0] <= self.now:
            at, report = self._answers.popleft()
            if isinstance(report, Feedback):
                self._fates.feedback(at, report)
                report = self._fates.report(self.now, rtt_s=self._rtt)
            elif self.wide:
                self._rtt = report.rtt_s
                continue
            seen = self.see(report)
            if seen is not None:
                self.give(seen)
        self._render()
        self.give(ContentReport(at=self.now, sounding=self.sounding))
        plan = self.controller.plan(self.now)
        self.log.append(Entry(self.now, plan, max(0.0, self._busy_until - self.now)))
        self._next_tick += TICK_S

    def _render(self) -> None:
        """Speech is made as fast as the tier allows and played as time goes."""
        cost = self.cost.get(self.log[-1].plan.tier) if self.log and self.cost else None
        if cost is not None:
            self.ready_s = min(1.2, max(0.0, self.ready_s + TICK_S * (1 / cost - 1)))
        self.give(
            ComputeReport(
                at=self.now, tiers=self.tiers, cost=self.cost, ready_s=self.ready_s, target_s=1.2, rendering=True
            )
        )

    def _through(self, size: int) -> float | None:
        """Arrival time at the listener, None for never."""
        path = self.path
        if path.silent or self._random.random() < path.loss:
            return None
        start = max(self.now, self._busy_until)
        if path.capacity is None:
            self._busy_until = self.now
            return self.now + self._delay()
        if (start - self.now) * path.capacity / 8 + size > path.queue_bytes:
            return None
        self._busy_until = start + size * 8 / path.capacity
        return self._busy_until + self._delay()

    def _delay(self) -> float:
        return max(0.0, self._random.gauss(self.path.delay_s, self.path.jitter_s))

    def _send_packet(self) -> None:
        rung, protection = self.plan.rung, self.plan.protection
        if not self.sounding:
            size, gap_s = 69, self.plan.idle_gap_s
        else:
            payload = round(rung.bitrate * self.encoder_share * rung.frame_ms / 8000)
            size, gap_s = payload + 66 + len(protection.copies) * (payload + 4), rung.frame_ms / 1000
        self._sent.append((self.now, size))
        number = self._fates.sent(self.now, size=size)
        self._counted_sent += 1
        arrival = self._through(size)
        if arrival is None:
            self._counted_lost += 1
        else:
            self._arrivals.append((arrival, size))
            self._newest += (number - self._newest) & 0xFFFF
            self._arrived_at[self._newest] = arrival
        self._next_packet += gap_s

    def _tell_all(self) -> None:
        """What a listener says of every packet that it has by now; lost on the way back as pings are."""
        self._next_wide += WIDE_S
        come = {number: at for number, at in self._arrived_at.items() if at <= self.now}
        if not self.wide or not come or self.path.silent:
            return
        for number in come:
            del self._arrived_at[number]
        base = min(self._told + 1, *come)
        self._told = max(self._told, *come)
        reference = int(min(come.values()) / 0.064)
        micros = tuple(
            None if (at := come.get(number)) is None else round(1e6 * (at - 0.064 * reference))
            for number in range(base, max(come) + 1)
        )
        feedback = Feedback(base=base & 0xFFFF, number=0, reference=reference, arrivals_us=micros)
        if self._random.random() >= self.path.loss:
            self._answers.append((self.now + self._delay(), feedback))
            self._answers = deque(sorted(self._answers, key=lambda answer: answer[0]))

    def _ping(self) -> None:
        slow = wire_rate(self.plan.rung, self.plan.protection) <= SLOW_RATE
        self._next_ping += SLOW_S if slow else FAST_S
        sent_at, there = self.now, self._through(PING_BYTES)
        if not self.feedback or there is None or self._random.random() < self.path.loss:
            return
        back = there + self._delay()
        self._answers.append((back, self._report(sent_at, there, back)))
        self._answers = deque(sorted(self._answers, key=lambda answer: answer[0]))

    def _report(self, sent_at: float, there: float, back: float) -> NetworkReport:
        """Counters at the listener when the ping came, rates over the time between two such moments."""
        arrived = [size for at, size in self._arrivals if at <= there]
        since, octets, lost, count = self._last
        self._last = (there, sum(arrived), self._counted_lost, len(arrived))
        seconds = max(1e-3, there - since)
        packets = max(0, len(arrived) - count) + self._counted_lost - lost
        sent = sum(size for at, size in self._sent if at > sent_at - 0.5)
        rtt = back - sent_at
        self._base_rtt = min(rtt, self._base_rtt or rtt)
        return NetworkReport(
            at=back,
            source=Source.FEEDBACK,
            rtt_s=rtt,
            queue_delay_s=rtt - self._base_rtt,
            loss=(self._counted_lost - lost) / packets if packets else None,
            packets=packets or None,
            jitter_s=1.13 * self.path.jitter_s,  # mean difference of two transit times, RFC 3550
            received_rate=8 * (sum(arrived) - octets) / seconds,
            sent_rate=8 * sent / 0.5,
        )


@pytest.fixture
def world() -> Callable[..., World]:
    """Makes a world with an adaptive controller of the default profile."""

    def make(profile: str = "voice_chat", **settings: object) -> World:
        return World(AdaptiveController(profile=PROFILES[profile]), **settings)

    return make
