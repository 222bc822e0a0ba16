"""What a change is worth over the next three chunks of speech: everything a plan is chosen by, in points of opinion.

    Σ [opinion − delay − bits] − stall − |Δ opinion| − seam − stretch − tier − compute

The first bracket is a way's `worth`; the weights are the profile's. Nothing here is decided.
"""

from dataclasses import dataclass

from .outlook import Way
from .profiles import Weights

CHUNKS = 3
CHUNK_S = 0.4
"""Looked ahead: so many chunks of so much speech."""
LASTING = 10
"""Chunks more for which a delay that is raised while speech sounds is paid: it is lowered late and slowly."""


@dataclass(frozen=True, kw_only=True)
class Present:
    """What holds now."""

    way: Way
    tier: float
    """Points that its tier is worth for a chunk: see `compute.tier_worth`."""
    sounding: bool


def value(way: Way, present: Present, weights: Weights, *, tier: float) -> float:
    """Of going over to `way` with a tier worth `tier`; of staying, where it is the present one."""
    total = CHUNKS * (way.worth + tier)
    before = present.way
    if way is before:
        return total
    if not present.sounding:
        return total  # nobody hears it change
    total -= weights.change * abs(way.opinion - before.opinion)
    if way.rung.bandwidth is not before.rung.bandwidth:
        total -= weights.seam
    if way.delay_s > before.delay_s:
        total -= weights.stretch * (way.delay_s - before.delay_s)
        total -= LASTING * max(0.0, way.delay_cost - before.delay_cost)
    return total
