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
from .simulator import Schedule, Simulation, simulate

TRIES = 100
"""Simulations of changed schedules."""
STRETCHES_S = (1, 2, 4, 8, 16)
TIER = "full"
"""Stands for the voice's best."""
ENOUGH = 1e-3
"""Of mean opinion: less is no improvement."""


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
    return simulation.plans


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

    def tried(schedule: Schedule) -> Best:
        result = simulate(scenario, Scheduled(schedule), profile=profile, seconds=seconds, seed=seed)
        return Best(schedule=schedule, simulation=result)

    best: Best | None = None
    number = 0
    for schedule in [*rivals, *_drafts(scenario, profile=profile, seconds=seconds)]:
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


def _drafts(scenario: Scenario, *, profile: Profile, seconds: int) -> list[Schedule]:
    """What the programme proposes for every delay, and its commonest actions held throughout."""
    path = foresee(scenario, seconds=seconds)
    steps = round((LEAD_IN_S + seconds) / STEP_S)
    choices = actions(profile)
    schedules: list[Schedule] = []
    for delay_s in sorted({choice.delay_s for choice in choices}):
        drafted = draft(path, [choice for choice in choices if choice.delay_s == delay_s], steps=steps)
        schedules.append(_merged([(place * STEP_S, action.plan(TIER)) for place, action in enumerate(drafted)]))
        common: list[Action] = sorted(set(drafted), key=drafted.count, reverse=True)[:2]
        schedules += [((0.0, action.plan(TIER)),) for action in common]
    return schedules


def _merged(plans: list[tuple[float, Plan]]) -> Schedule:
    """Without plans that are those before them."""
    return tuple(entry for place, entry in enumerate(plans) if not place or entry[1] != plans[place - 1][1])


def _changed(best: Best, chance: random.Random, profile: Profile) -> Schedule | None:
    """The schedule with one stretch of it changed in one way, rather where it is bad; None for no change at all."""
    rows = best.simulation.rows
    weights = [4.6 - row.opinion for row in rows]
    middle = chance.choices(range(len(rows)), weights)[0] + LEAD_IN_S - chance.uniform(0, 3)
    length = chance.choice(STRETCHES_S) if chance.random() < 0.85 else 2 * (len(rows) + LEAD_IN_S)
    first, last = max(0.0, middle - length / 2), middle + length / 2
    change = _change(chance, profile)

    def changed(plan: Plan) -> Plan:
        new = change(plan)
        return new if allowed(new.rung, new.protection) else plan

    plans = best.schedule
    at_first, at_last = (
        next((plan for at, plan in reversed(plans) if at <= edge), plans[0][1]) for edge in (first, last)
    )
    new = _merged(
        [
            *((at, plan) for at, plan in plans if at < first),
            (first, changed(at_first)),
            *((at, changed(plan)) for at, plan in plans if first < at < last),
            (last, at_last),
            *((at, plan) for at, plan in plans if at > last),
        ]
    )
    return None if new == _merged(list(plans)) else new


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
