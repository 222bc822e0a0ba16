"""What was planned and what the link did, ten times a second, and the figures that come of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from adaptive.control.ladder import wire_rate
from adaptive.control.plan import Plan

from .scoring import Second


@dataclass(frozen=True, kw_only=True)
class Look:
    """The state of things at one instant."""

    at_s: float
    """Since the speech began to leave."""
    plan: Plan
    capacity_kbps: float | None
    """None is unlimited."""
    queue_ms: float | None
    """None is for ever."""
    sent_bits: int
    """On the wire both ways, since the look before."""
    offered: int
    dropped: int
    """Packets to the listener, since the look before."""


def with_network(row: Second, looks: Sequence[Look]) -> Second:
    """A second of hearing with what the link did while it was sent."""
    first = looks[0].at_s
    place = round((row.at_s - first) * 10) + 1
    part = looks[place : place + 10]
    if not part:
        return row
    offered = sum(look.offered for look in part)
    capacities = [look.capacity_kbps for look in part if look.capacity_kbps is not None]
    queues = [look.queue_ms for look in part if look.queue_ms is not None]
    plan = part[-1].plan
    return replace(
        row,
        wire_kbps=round(sum(look.sent_bits for look in part) / 1000, 1),
        capacity_kbps=round(sum(capacities) / len(capacities), 1) if capacities else None,
        queue_ms=round(max(queues), 1) if queues else None,
        loss=round(sum(look.dropped for look in part) / offered, 3) if offered else None,
        rung=str(plan.rung),
        protection=str(plan.protection),
        tier=plan.tier,
    )


def figures(looks: Sequence[Look], seconds: int) -> dict[str, Any]:
    """Over the time of speaking."""
    spoken = [look for look in looks if 0 < look.at_s <= seconds]
    rates = [wire_rate(look.plan.rung) for look in spoken]
    return {
        "wire_kbps": round(sum(look.sent_bits for look in spoken) / seconds / 1000, 1),
        "up_changes": sum(after > before for before, after in pairwise(rates)),
        "down_changes": sum(after < before for before, after in pairwise(rates)),
        "reaction_ms": _reaction_ms(spoken),
    }


def _reaction_ms(looks: Sequence[Look]) -> float | None:
    """Mean time from a capacity that falls below the plan's rate to a plan within it; None where that never was.

    A squeeze that ends before the plan gave way is not counted.
    """
    times: list[float] = []
    since: tuple[float, float] | None = None
    for look in looks:
        rate = wire_rate(look.plan.rung, look.plan.protection) / 1000
        over = look.capacity_kbps is not None and rate > look.capacity_kbps
        if over and since is None:
            since = (look.at_s, rate)
        elif not over and since is not None:
            if rate < since[1]:
                times.append(look.at_s - since[0])
            since = None
    return round(1000 * sum(times) / len(times)) if times else None
