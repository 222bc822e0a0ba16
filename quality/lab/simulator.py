"""A listener behind a bad network, in virtual time: the real controller, the real link, and models of the two ends.

The controller is told what a server tells it: the fates of packets from transport-wide feedback that travels the
simulated way back, round trips and the receiver's counters from pings, the cost of rendering. Its plan is obeyed at
the next frame. The same scenario, seed and controller give the same rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from adaptive.control.base import Controller
from adaptive.control.fates import Fates
from adaptive.control.ladder import wire_rate
from adaptive.control.plan import Carrier, Plan
from adaptive.control.profiles import Profile
from adaptive.control.reports import HeardReport, NetworkReport, Source
from adaptive.ticks import TICK_RATE

from .link import Fate, Link
from .listening import PING_BYTES, Answer, Listening
from .receiver import STEP, STEP_S
from .rendering import Rendering
from .scenarios import LEAD_IN_S, Scenario
from .scoring import Hearing, Second, lost_speech_s, summary
from .sender import Packet, Sender

PLAN_STEPS = 10
"""Steps of 10 ms between two plans, and between two looks at the link."""
PING_FAST_S, PING_SLOW_S, SLOW_RATE = 0.25, 1.0, 40_000
"""Between pings; slow where the plan's own rate, bit/s, is so low that they would weigh."""
DRAIN_S = 4.0
"""After the last word so long is listened at most."""
ORIGIN_S = 100.0
"""When virtual time begins."""
SQUEEZED_S = 0.3
"""A capacity below the plan's rate for less is not reacted to by anyone, and not counted."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """The state of things at one instant, ten times a second."""

    at_s: float
    """Since the speech began to leave."""
    plan: Plan
    capacity_kbps: float | None
    queue_ms: float | None
    sent_bits: int
    """On the wire both ways, since the look before."""
    offered: int
    dropped: int
    """Packets to the listener, since the look before."""


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """What came of it."""

    rows: tuple[Second, ...]
    looks: tuple[Look, ...]
    summary: dict[str, Any]


def simulate(
    scenario: Scenario,
    controller: Controller,
    *,
    profile: Profile,
    seconds: int = 60,
    seed: int = 0,
    lead_s: float = LEAD_IN_S,
    on_look: Callable[[float], None] | None = None,
) -> Simulation:
    """`seconds` of speech on the audio track. `on_look` is called with every tenth of a second simulated."""
    run = _Run(scenario, controller, profile=profile, seconds=seconds, seed=seed, lead_s=lead_s)
    for step in range(round((lead_s + seconds + DRAIN_S) / STEP_S)):
        if run.step(step):
            break
        if on_look is not None and step % PLAN_STEPS == 0:
            on_look(step * STEP_S)
    return run.result()


class _Run:
    """One simulation under way."""

    def __init__(
        self, scenario: Scenario, controller: Controller, *, profile: Profile, seconds: int, seed: int, lead_s: float
    ) -> None:
        self._scenario, self._controller, self._seconds = scenario, controller, seconds
        self._start = ORIGIN_S + lead_s
        self._start_tick, self._end_tick = self._tick(self._start), self._tick(self._start + seconds)
        self._down: Link[tuple[Packet | None, float]] = Link(
            scenario.settings("down", -lead_s), seed=seed, start=ORIGIN_S
        )
        """Packets with their numbers, and pings with their times."""
        self._up: Link[Answer] = Link(scenario.settings("up", -lead_s), seed=seed + 1_000_003, start=ORIGIN_S)
        self._steps = [step for step in scenario.steps if step.at_s > -lead_s]
        self._sender, self._listening = Sender(seed=seed), Listening(seed=seed)
        self._fates = Fates()
        self._rendering = Rendering(profile=profile)
        self._hearing = Hearing(start=self._start, seconds=seconds, frames=self._sender.frames)
        self._next_ping = ORIGIN_S
        self._base_rtt_s: list[float] = []
        self._counters: dict[str, float] | None = None
        self._asked_s: float | None = None
        self._bits = self._offered = self._dropped = 0
        self._looks: list[Look] = []
        self._number = -1
        """Of the last packet sent: the send log's 16 bits as a number that only rises."""
        controller.on_carrier(Carrier.AUDIO)
        self.plan = controller.plan(ORIGIN_S)

    @staticmethod
    def _tick(at: float) -> int:
        return round(at * TICK_RATE)

    def step(self, number: int) -> bool:
        """10 ms; true when the last word was heard."""
        tick = self._tick(ORIGIN_S) + number * STEP
        now = tick / TICK_RATE
        self._change(now)
        self._deliver(now)
        sounding = self._start_tick <= tick < self._end_tick
        if number % PLAN_STEPS == 0:
            self._decide(now, sounding=sounding, beginning=tick == self._start_tick)
        packet = self._sender.due(tick, self.plan, sounding=sounding)
        if packet is not None:
            self._send(now, packet)
        if now >= self._next_ping:
            slow = wire_rate(self.plan.rung, self.plan.protection) <= SLOW_RATE
            self._next_ping = now + (PING_SLOW_S if slow else PING_FAST_S)
            self._offer(now, PING_BYTES, (None, now))
        return self._listen(now)

    def _change(self, now: float) -> None:
        while self._steps and self._start + self._steps[0].at_s <= now:
            step = self._steps.pop(0)
            for direction, link in (("down", self._down), ("up", self._up)):
                if step.direction in (direction, "both"):
                    link.set(now=now, **step.settings)

    def _deliver(self, now: float) -> None:
        """Everything that arrives by `now`, each at its own instant."""
        while True:
            down, up = self._down.next_time(), self._up.next_time()
            if down is not None and down <= now and (up is None or down <= up):
                for item in self._down.due(down):
                    self._at_listener(down, *item)
            elif up is not None and up <= now:
                for answer in self._up.due(up):
                    self._at_server(up, answer)
            else:
                return

    def _at_listener(self, now: float, packet: Packet | None, extra: float) -> None:
        if packet is None:
            self._answer(now, self._listening.pinged(extra))
            return
        answer = self._listening.arrived(now, packet, int(extra))
        if answer is not None:
            self._answer(now, answer)

    def _at_server(self, now: float, answer: Answer) -> None:
        if answer.feedback is not None:
            self._fates.feedback(now, answer.feedback)
            self._controller.on_network(self._fates.report(now))
        if answer.wanted and self.plan.protection.nack:
            for wanted in answer.wanted:
                packet = self._sender.again(wanted)
                if packet is not None:
                    self._send(now, packet)
        if answer.ping is not None:
            self._pinged(now, *answer.ping)

    def _pinged(self, now: float, sent_at: float, counters: dict[str, float]) -> None:
        rtt_s = now - sent_at
        self._base_rtt_s.append(rtt_s)
        del self._base_rtt_s[:-120]
        queue_s = rtt_s - min(self._base_rtt_s)
        self._controller.on_network(
            NetworkReport(
                at=now, source=Source.FEEDBACK, rtt_s=rtt_s, queue_delay_s=queue_s, jitter_s=counters["jitter_s"]
            )
        )
        before, self._counters = self._counters, counters
        if before is None or counters["total"] <= before["total"]:
            return
        total, held = counters["total"] - before["total"], counters["held_count"] - before["held_count"]
        self._controller.on_heard(
            HeardReport(
                at=now,
                position=max(0, int(counters["position"]) - self._start_tick),
                concealed=max(0.0, min(1.0, (counters["concealed"] - before["concealed"]) / total)),
                buffered_s=(counters["held_sum"] - before["held_sum"]) / held if held else None,
            )
        )

    def _decide(self, now: float, *, sounding: bool, beginning: bool) -> None:
        if beginning:
            self._rendering.begin(self._seconds)
        self._rendering.step(PLAN_STEPS * STEP_S, self.plan.tier, sounding=sounding)
        self._controller.on_compute(self._rendering.compute_report(now))
        self._controller.on_content(self._rendering.content_report(now, sounding=sounding))
        self.plan = self._controller.plan(now)
        if self.plan.playout_delay_s != self._asked_s:
            self._asked_s = self.plan.playout_delay_s
            self._listening.receiver.target.wanted_s = self._asked_s or 0.0
        flow = self._down.flow(now)
        self._looks.append(
            Look(
                at_s=round(now - self._start, 3),
                plan=self.plan,
                capacity_kbps=flow.capacity_kbps,
                queue_ms=flow.queue_delay_ms,
                sent_bits=self._bits,
                offered=self._offered,
                dropped=self._dropped,
            )
        )
        self._bits = self._offered = self._dropped = 0

    def _send(self, now: float, packet: Packet) -> None:
        number = self._fates.sent(now, size=packet.size, repeat=packet.again)
        self._number += (number - self._number) & 0xFFFF
        self._offer(now, packet.size, (packet, self._number))

    def _offer(self, now: float, size: int, item: tuple[Packet | None, float]) -> None:
        self._bits += 8 * size
        self._offered += 1
        self._dropped += self._down.offer(now, size, item) is not Fate.CARRIED

    def _answer(self, now: float, answer: Answer) -> None:
        self._bits += 8 * answer.size
        self._up.offer(now, answer.size, answer)

    def _listen(self, now: float) -> bool:
        feedback = self._listening.feedback(now)
        if feedback is not None:
            self._answer(now, feedback)
        kind = self._listening.play(now)
        if now < self._start:
            return False
        receiver = self._listening.receiver
        playing, position = receiver.playing, receiver.position
        self._hearing.step(
            now,
            kind,
            position=position,
            playing=None if playing is None else playing.timestamp,
            merged=receiver.merged_ticks,
        )
        heard_all = position is not None and position >= self._end_tick
        origin = self._hearing.origin
        return heard_all or (origin is not None and now > origin + self._seconds + 1)

    def result(self) -> Simulation:
        """Rows and summary."""
        rows = [self._with_network(row) for row in self._hearing.rows()]
        ups, downs = _changes(self._looks)
        spoken = [look for look in self._looks if 0 < look.at_s <= self._seconds]
        bits = sum(look.sent_bits for look in spoken)
        decoded = set(self._listening.receiver.decoded)
        figures = {
            "seconds": self._seconds,
            **summary(rows),
            "lost_speech_s": round(lost_speech_s(self._sender.frames, decoded), 2),
            "wire_kbps": round(bits / self._seconds / 1000, 1),
            "compute_s": round(self._rendering.spent_s, 2),
            "up_changes": ups,
            "down_changes": downs,
            "reaction_ms": _reaction_ms(spoken),
        }
        return Simulation(rows=tuple(rows), looks=tuple(self._looks), summary=figures)

    def _with_network(self, row: Second) -> Second:
        looks = [look for look in self._looks if row.at_s < look.at_s <= row.at_s + 1]
        if not looks:
            return row
        offered = sum(look.offered for look in looks)
        capacities = [look.capacity_kbps for look in looks if look.capacity_kbps is not None]
        queues = [look.queue_ms for look in looks if look.queue_ms is not None]
        plan = looks[-1].plan
        return replace(
            row,
            wire_kbps=round(sum(look.sent_bits for look in looks) / 1000, 1),
            capacity_kbps=round(sum(capacities) / len(capacities), 1) if capacities else None,
            queue_ms=round(max(queues), 1) if queues else None,
            loss=round(sum(look.dropped for look in looks) / offered, 3) if offered else None,
            rung=str(plan.rung),
            protection=str(plan.protection),
            tier=plan.tier,
        )


def _changes(looks: list[Look]) -> tuple[int, int]:
    """How often the rung rose and fell while speech sounded."""
    rates = [wire_rate(look.plan.rung) for look in looks if look.at_s >= 0]
    pairs = list(pairwise(rates))
    return sum(b > a for a, b in pairs), sum(b < a for a, b in pairs)


def _reaction_ms(looks: list[Look]) -> float | None:
    """Mean time from a capacity that falls below the plan's rate to a plan within it; None where that never was.

    A squeeze that ends before the plan gave way is not counted, nor one below what any plan could send.
    """
    times, since = [], None
    for look in looks:
        rate = wire_rate(look.plan.rung, look.plan.protection) / 1000
        over = look.capacity_kbps is not None and rate > look.capacity_kbps
        if over and since is None:
            since = (look.at_s, rate)
        elif not over and since is not None:
            if rate < since[1] and look.at_s - since[0] >= SQUEEZED_S:
                times.append(look.at_s - since[0])
            since = None
    return round(1000 * sum(times) / len(times)) if times else None
