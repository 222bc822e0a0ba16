"""The best that could have been done: a schedule of plans made with the true path, and tried in the simulator.

It begins with what a dynamic programme drafts, with constant plans, and with whatever plans it is shown (those of the
contenders, so that it is never below them), takes the best of them as the simulator has it, and then changes stretches
of it for as long as that helps. What it sends, it sends through the same link to the same receiver as everybody.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from adaptive.control.plan import Plan, Rung
from adaptive.control.profiles import Profile

from .contenders import Scheduled
from .foresight import CHOICE, PROTECTIONS, STEP_S, Action, actions, allowed, draft, foresee
from .scenarios import LEAD_IN_S, Scenario
from .simulator import Simulation, simulate

EVERY_S = 0.1
"""Between two plans of a schedule, as between two of any controller."""
TRIES = 100
"""Simulations of changed schedules."""
STRETCHES_S = (1, 2, 4, 8, 16)
ENOUGH = 1e-3
"""Of mean opinion: less is no improvement."""

Schedule = tuple[Plan, ...]


@dataclass(frozen=True, kw_only=True)
class Best:
    """A schedule and what it gives."""

    schedule: Schedule
    simulation: Simulation

    @property
    def opinion(self) -> float:
        """Its mean."""
        return float(self.simulation.summary["mean_opinion"])


def recorded(simulation: Simulation) -> Schedule:
    """The plans of a simulation as a schedule that repeats it exactly."""
    return tuple(look.plan for look in simulation.looks)


def search(
    scenario: Scenario,
    *,
    profile: Profile,
    seconds: int,
    seed: int = 0,
    rivals: Sequence[Schedule] = (),
    tries: int | None = None,
    on_try: Callable[[int, float], None] | None = None,
) -> Best:
    """The best schedule found in `tries` changes (None: the usual number); `on_try` is told of every simulation and of
    the best mean opinion so far."""
    count = round((LEAD_IN_S + seconds) / EVERY_S) + 1
    tier = "full"

    def tried(schedule: Schedule) -> Best:
        controller = Scheduled(schedule, every_s=EVERY_S)
        result = simulate(scenario, controller, profile=profile, seconds=seconds, seed=seed)
        return Best(schedule=schedule, simulation=result)

    best: Best | None = None
    number = 0
    for schedule in [*rivals, *_drafts(scenario, profile=profile, seconds=seconds, count=count, tier=tier)]:
        found = tried(schedule)
        best = found if best is None or found.opinion > best.opinion else best
        number += 1
        if on_try is not None:
            on_try(number, best.opinion)
    assert best is not None
    chance = random.Random(f"{seed} {scenario.name}")
    for attempt in range(TRIES if tries is None else tries):
        changed = _changed(best, chance, profile)
        if changed is not None:
            found = tried(changed)
            best = found if found.opinion > best.opinion + ENOUGH else best
        if on_try is not None:
            on_try(number + attempt + 1, best.opinion)
    return best


def _drafts(scenario: Scenario, *, profile: Profile, seconds: int, count: int, tier: str) -> list[Schedule]:
    """What the programme proposes for every delay, and its commonest actions held throughout."""
    path = foresee(scenario, seconds=seconds)
    steps = round((LEAD_IN_S + seconds) / STEP_S)
    per_step = round(STEP_S / EVERY_S)
    choices = actions(profile)
    schedules: list[Schedule] = []
    for delay_s in sorted({choice.delay_s for choice in choices}):
        drafted = draft(path, [choice for choice in choices if choice.delay_s == delay_s], steps=steps)
        schedules.append(_filled([action.plan(tier) for action in drafted for _ in range(per_step)], count))
        common: list[Action] = sorted(set(drafted), key=drafted.count, reverse=True)[:2]
        schedules += [_filled([action.plan(tier)], count) for action in common]
    return schedules


def _filled(plans: list[Plan], count: int) -> Schedule:
    return tuple((plans + plans[-1:] * count)[:count])


def _changed(best: Best, chance: random.Random, profile: Profile) -> Schedule | None:
    """The schedule with one stretch of it changed in one way, rather where it is bad; None for no change at all."""
    rows = best.simulation.rows
    weights = [4.6 - row.opinion for row in rows]
    middle = chance.choices(range(len(rows)), weights)[0] + LEAD_IN_S - chance.uniform(0, 3)
    length = chance.choice(STRETCHES_S) if chance.random() < 0.85 else len(rows) + LEAD_IN_S
    first = max(0, round((middle - length / 2) / EVERY_S))
    last = min(len(best.schedule), round((middle + length / 2) / EVERY_S))
    change = _change(chance, profile)
    part = [change(plan) for plan in best.schedule[first:last]]
    part = [
        new if allowed(new.rung, new.protection) else old
        for new, old in zip(part, best.schedule[first:last], strict=True)
    ]
    if part == list(best.schedule[first:last]):
        return None
    return (*best.schedule[:first], *part, *best.schedule[last:])


def _change(chance: random.Random, profile: Profile) -> Callable[[Plan], Plan]:
    kind = chance.random()
    if kind < 0.45:
        by = chance.choice((-2, -1, 1, 2))
        return lambda plan: replace(plan, rung=_moved(plan, by))
    if kind < 0.6:
        rung = chance.choice(CHOICE)
        return lambda plan: replace(plan, rung=rung)
    if kind < 0.85:
        protection = chance.choice(PROTECTIONS)
        return lambda plan: replace(plan, protection=protection)
    delay_s = chance.choice(
        (
            profile.clean_playout_delay_s,
            0.5 * profile.playout_delay_s,
            0.75 * profile.playout_delay_s,
            profile.playout_delay_s,
        )
    )
    return lambda plan: replace(plan, playout_delay_s=delay_s)


def _moved(plan: Plan, by: int) -> Rung:
    near = min(
        range(len(CHOICE)),
        key=lambda n: abs(CHOICE[n].bitrate - plan.rung.bitrate) + 100 * abs(CHOICE[n].frame_ms - plan.rung.frame_ms),
    )
    return CHOICE[min(len(CHOICE) - 1, max(0, near + by))]
