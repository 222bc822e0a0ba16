"""A listener behind a bad network, in virtual time: the real controller, the real link, and models of the two ends.

The controller is told what a server tells it: the fates of packets from transport-wide feedback that travels the
simulated way back, round trips and the receiver's counters from pings, the cost of rendering. Its plan is obeyed at
the next frame. The same scenario, seed and controller give the same rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from adaptive.control.base import Controller
from adaptive.control.ladder import wire_rate
from adaptive.control.plan import Carrier, Plan, Reason
from adaptive.control.profiles import Profile
from adaptive.control.reports import NetworkReport
from adaptive.ticks import TICK_RATE

from .both_ways import BothWays
from .facts import Facts
from .figures import Look, figures, with_network
from .link import Fate
from .listening import PING_BYTES, Answer, Listening
from .receiver import STEP, STEP_S
from .rendering import Rendering
from .scenarios import LEAD_IN_S, Scenario
from .scoring import Hearing, Pauses, Second, never_played_s, summary
from .sender import Packet, Sender

PLAN_STEPS, LOOK_STEPS = 20, 10
"""Steps of 10 ms between two plans, and between two looks at the link."""
HURRY_S = 0.02
"""A report of a longer queue is answered with a plan at once."""
DRAIN_S = 4.0
"""After the last word so long is listened at most."""
ORIGIN_S = 100.0
"""When virtual time begins."""

Schedule = tuple[tuple[float, Plan], ...]


class ControllerFailed(RuntimeError):
    """The controller gave up and kept its last plan, which says nothing about it."""


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """What came of it."""

    rows: tuple[Second, ...]
    """Second by second of hearing."""
    looks: tuple[Look, ...]
    """Ten a second, from before the speech on."""
    plans: Schedule
    """Every plan and when it was made, seconds since the simulation began."""
    summary: dict[str, Any]


def simulate(
    scenario: Scenario,
    controller: Controller,
    *,
    profile: Profile,
    seconds: int = 60,
    seed: int = 0,
    lead_s: float = LEAD_IN_S,
    pauses: Pauses = (),
    on_second: Callable[[int], None] | None = None,
) -> Simulation:
    """`seconds` of speech on the audio track; `on_second` is told of every second simulated.

    `controller` is a fresh one; what it raises is not caught, and a plan with the reason `error` raises
    `ControllerFailed`. `pauses` are the speech's own, from and to in seconds: what is lost of them is neither lost
    speech nor added silence.
    """
    run = _Run(scenario, controller, profile=profile, seconds=seconds, seed=seed, lead_s=lead_s)
    for step in range(round((lead_s + seconds + DRAIN_S) / STEP_S)):
        if run.step(step):
            break
        if on_second is not None and step % 100 == 0:
            on_second(step // 100)
    return run.result(pauses)


class _Run:
    """One simulation under way."""

    def __init__(
        self, scenario: Scenario, controller: Controller, *, profile: Profile, seconds: int, seed: int, lead_s: float
    ) -> None:
        self._controller, self._seconds = controller, seconds
        self._origin_tick = round(ORIGIN_S * TICK_RATE)
        self._start = ORIGIN_S + lead_s
        self._start_tick = round(self._start * TICK_RATE)
        self._end_tick = self._start_tick + seconds * TICK_RATE
        self._ways: BothWays[tuple[Packet | None, float], Answer] = BothWays(
            scenario, seed=seed, lead_s=lead_s, start=ORIGIN_S
        )
        """Down go packets with their transport-wide numbers, and pings with their times."""
        self._sender, self._listening = Sender(seed=seed), Listening(seed=seed)
        self._facts = Facts(on_network=self._report, on_heard=controller.on_heard)
        self._rendering = Rendering(profile=profile)
        self._hearing = Hearing(start=self._start, seconds=seconds, frames=self._sender.frames)
        self._asked_s: float | None = None
        self._number = -1
        """Of the last packet sent: the send log's 16 bits as a number that only rises."""
        self._bits = self._offered = self._dropped = 0
        self._looks: list[Look] = []
        self._sounding = False
        self._plans: list[tuple[float, Plan]] = []
        controller.on_carrier(Carrier.AUDIO)
        self._plan = self._planned(ORIGIN_S)

    def step(self, number: int) -> bool:
        """10 ms; true when the last word was heard."""
        tick = self._origin_tick + number * STEP
        now = tick / TICK_RATE
        while self._start + self._ways.next_change_s <= now:
            self._ways.change(now)
        self._ways.carry(now, at_listener=self._at_listener, at_server=self._at_server)
        self._sounding = self._start_tick <= tick < self._end_tick
        if tick == self._start_tick:
            self._rendering.begin(self._seconds)
        if number % LOOK_STEPS == 0:
            self._rendering.step(LOOK_STEPS * STEP_S, self._plan.tier, sounding=self._sounding)
        if number % PLAN_STEPS == 0:
            self._decide(now)
        if number % LOOK_STEPS == 0:
            self._look(now)
        packet = self._sender.due(tick, self._plan, sounding=self._sounding)
        if packet is not None:
            self._send(now, packet)
        return self._listen(now)

    def _at_listener(self, now: float, item: tuple[Packet | None, float]) -> None:
        packet, number = item
        if packet is None:
            self._answer(now, self._listening.pinged(number))
            return
        answer = self._listening.arrived(now, packet, int(number))
        if answer is not None:
            self._answer(now, answer)

    def _at_server(self, now: float, answer: Answer) -> None:
        if answer.feedback is not None:
            self._facts.feedback(now, answer.feedback)
        if answer.ping is not None:
            self._facts.answered(now, *answer.ping, start_tick=self._start_tick)
        for wanted in answer.wanted if self._plan.protection.nack else ():
            packet = self._sender.again(wanted)
            if packet is not None:
                self._send(now, packet)

    def _report(self, report: NetworkReport) -> None:
        self._controller.on_network(report)
        if report.queue_delay_s is not None and report.queue_delay_s > HURRY_S:
            self._decide(report.at)

    def _decide(self, now: float) -> None:
        self._controller.on_compute(self._rendering.compute_report(now))
        self._controller.on_content(self._rendering.content_report(now, sounding=self._sounding))
        self._plan = self._planned(now)
        if self._plan.playout_delay_s != self._asked_s:
            self._asked_s = self._plan.playout_delay_s
            self._listening.receiver.target.wanted_s = self._asked_s or 0.0
        if self._facts.tick(now, rate=wire_rate(self._plan.rung, self._plan.protection)):
            self._offer(now, PING_BYTES, (None, now))

    def _planned(self, now: float) -> Plan:
        plan = self._controller.plan(now)
        if plan.reason is Reason.ERROR:
            raise ControllerFailed(f"The controller failed {now - self._start:.1f} s into the speech.")
        if not self._plans or plan != self._plans[-1][1]:
            self._plans.append((now - ORIGIN_S, plan))
        return plan

    def _look(self, now: float) -> None:
        flow = self._ways.down.flow(now)
        self._looks.append(
            Look(
                at_s=round(now - self._start, 3),
                plan=self._plan,
                capacity_kbps=flow.capacity_kbps,
                queue_ms=flow.queue_delay_ms,
                sent_bits=self._bits,
                offered=self._offered,
                dropped=self._dropped,
            )
        )
        self._bits = self._offered = self._dropped = 0

    def _send(self, now: float, packet: Packet) -> None:
        number = self._facts.fates.sent(now, size=packet.size, repeat=packet.again)
        self._number += (number - self._number) & 0xFFFF
        self._offer(now, packet.size, (packet, self._number))

    def _offer(self, now: float, size: int, item: tuple[Packet | None, float]) -> None:
        self._bits += 8 * size
        self._offered += 1
        self._dropped += self._ways.down.offer(now, size, item) is not Fate.CARRIED

    def _answer(self, now: float, answer: Answer) -> None:
        self._bits += 8 * answer.size
        self._ways.up.offer(now, answer.size, answer)

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
        origin = self._hearing.origin
        heard_all = position is not None and position >= self._end_tick
        return heard_all or (origin is not None and now > origin + self._seconds + 1)

    def result(self, pauses: Pauses = ()) -> Simulation:
        """Rows and summary."""
        rows = [with_network(row, self._looks) for row in self._hearing.rows()]
        decoded = set(self._listening.receiver.decoded)
        lost_s, quiet_s = never_played_s(self._sender.frames, decoded, pauses)
        found = summary(rows)
        return Simulation(
            rows=tuple(rows),
            looks=tuple(self._looks),
            plans=tuple(self._plans),
            summary={
                "seconds": self._seconds,
                **found,
                "silence_added_s": round(max(0.0, found["silence_added_s"] - quiet_s), 2),
                "lost_speech_s": round(lost_s, 2),
                "compute_s": round(self._rendering.spent_s, 2),
                **figures(self._looks, self._seconds),
            },
        )
