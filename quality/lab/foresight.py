"""The oracle's first draft: a dynamic programme over rung, protection and delay, that knows the path to come.

Its state is what stands in the bottleneck's queue; its steps are half seconds. It knows capacity and loss in advance,
but not how a jitter buffer behaves, which is what the search in `oracle.py` adds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from adaptive.control.ladder import RUNGS, START, wire_rate
from adaptive.control.opinion import expected
from adaptive.control.plan import Plan, Protection, Reason, Rung
from adaptive.control.profiles import Profile

from .capacity import capacity_of
from .scenarios import LEAD_IN_S, Scenario

STEP_S = 0.5
BUCKET_BITS = 4_000
SHARE = 0.95
"""Of its nominal rate, what a rung sends."""
OTHER_RATE = 5_000
"""bit/s of pings on the way down."""
HOLD_S = 0.02
"""A receiver holds so much beyond what is asked of it, and a copy needs so much more than its distance."""
MOST_RATE = 106_000
"""bit/s of speech on the wire: more than what any profile allows a controller."""
DELAY_GRID_S = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0)

CHOICE = RUNGS[: RUNGS.index(START) + 1]
"""The rungs that a controller may choose from unless it is told otherwise: none above the start."""
PROTECTIONS = (
    Protection(),
    Protection(copies=(1,)),
    Protection(copies=(3,)),
    Protection(copies=(6,)),
    Protection(copies=(3, 7)),
    Protection(nack=True),
    Protection(nack=True, copies=(3,)),
)


@dataclass(frozen=True, kw_only=True)
class Action:
    """What may be done for a step."""

    rung: Rung
    protection: Protection
    delay_s: float
    """Asked of the listener."""

    def plan(self, tier: str) -> Plan:
        """As a plan."""
        return Plan(
            rung=self.rung,
            tier=tier,
            reason=Reason.FORCED,
            protection=self.protection,
            playout_delay_s=self.delay_s,
        )


def actions(profile: Profile) -> list[Action]:
    """All that the controller may choose, at three delays within the profile."""
    low, high = profile.clean_playout_delay_s, profile.playout_delay_s
    return [
        Action(rung=rung, protection=protection, delay_s=delay_s)
        for delay_s in (low, (low + high) / 2, high)
        for rung in CHOICE
        for protection in PROTECTIONS
        if allowed(rung, protection)
    ]


def allowed(rung: Rung, protection: Protection) -> bool:
    """Whether a rung and its copies stay within the rate that everybody is held to."""
    return wire_rate(rung, protection) <= MOST_RATE


def residual(
    protection: Protection, *, loss: float, burst: float, frame_s: float, delay_s: float, rtt_s: float
) -> float:
    """Share of frames that stay lost: of copies and resends only those count that come in time."""
    if loss <= 0 or loss >= 1:
        return loss
    leave = 1 / max(burst, 1 / (1 - loss))
    memory = max(0.0, 1 - leave - leave * loss / (1 - loss))
    left, before = loss, 0
    for distance in sorted(protection.copies):
        if distance * frame_s + HOLD_S <= delay_s + HOLD_S:
            left *= loss + (1 - loss) * memory ** (distance - before)
            before = distance
    if protection.nack and rtt_s + frame_s <= delay_s:
        left *= loss
    return left


@dataclass(frozen=True, kw_only=True)
class Path:
    """What is to come, in steps from the beginning of the lead-in on."""

    bits: NDArray[np.float64]
    """That may pass in each step; very many where nothing limits."""
    loss: NDArray[np.float64]
    burst: NDArray[np.float64]
    delay_s: NDArray[np.float64]
    """One way, without a queue."""
    queue_bits: float


def foresee(scenario: Scenario, *, seconds: int, tail_s: float = 10.0) -> Path:
    """The truth about the way down."""
    count = round((LEAD_IN_S + seconds + tail_s) / STEP_S)
    bits, loss, burst, delay = (np.zeros(count) for _ in range(4))
    first = scenario.settings("down", -LEAD_IN_S)
    capacity = capacity_of(first, 0.0)
    changed = -LEAD_IN_S
    for place in range(count):
        at = place * STEP_S - LEAD_IN_S
        settings = scenario.settings("down", at)
        if settings.rate_kbps is not None and not (settings.trace or settings.steps):
            rate: float | None = settings.rate_kbps * 1000 or None
        else:
            rate = capacity.rate(at + LEAD_IN_S + STEP_S)
        bits[place] = 1e9 if rate is None else rate * STEP_S
        if settings.loss_list:
            begin = place * len(settings.loss_list) // count
            near = settings.loss_list[max(0, begin - 500) : begin + 500]
            loss[place] = sum(near) / len(near)
            burst[place] = _burst(near)
        else:
            loss[place], burst[place] = settings.loss, settings.burst
        delay[place] = settings.delay_ms / 1000
        if settings.delay_trace:
            since = at - changed
            delay[place] = next((ms for t, ms in reversed(settings.delay_trace) if t <= since), 0.0) / 1000
    return Path(bits=bits, loss=loss, burst=burst, delay_s=delay, queue_bits=first.queue_bytes * 8)


def _burst(losses: Sequence[bool]) -> float:
    starts = sum(now and not before for before, now in zip((False, *losses), losses, strict=False))
    return sum(losses) / starts if starts else 1.0


@lru_cache(maxsize=20_000)
def _worth(rung: Rung, residual_: float, burst: float, delay_s: float) -> float:
    return expected(rung, loss=residual_, burst=max(1.0, burst), delay_s=delay_s)


def draft(path: Path, choices: Sequence[Action], *, steps: int) -> list[Action]:
    """The best action of every step, by opinion less what a growing queue takes away, for all of `choices`' one delay.

    Backwards over the states of the queue; a queue that grows is silence while it grows.
    """
    buckets = int(path.queue_bits // BUCKET_BITS) + 1
    state = np.arange(buckets) * BUCKET_BITS
    passed = np.concatenate([[0.0], np.cumsum(path.bits)])
    times = np.arange(len(passed)) * STEP_S
    value = np.zeros(buckets)
    best = np.zeros((steps, buckets), np.int32)
    for place in range(steps - 1, -1, -1):
        totals = np.empty((len(choices), buckets))
        waits = np.interp(passed[place] + state, passed, times) - place * STEP_S
        for number, action in enumerate(choices):
            sent = (SHARE * wire_rate(action.rung, action.protection) + OTHER_RATE) * STEP_S
            after = np.clip(state + sent - path.bits[place], 0, path.queue_bits - BUCKET_BITS)
            lost = np.maximum(0, state + sent - path.bits[place] - path.queue_bits) / sent
            later = np.interp(passed[place + 1] + after, passed, times) - (place + 1) * STEP_S
            stalled = np.clip(later - waits - action.delay_s, 0, STEP_S) / STEP_S
            worth = _worths(path, place, action, waits)
            totals[number] = (worth - 1) * (1 - stalled) * np.clip(1 - 3 * lost, 0, 1) + value[
                np.minimum((after / BUCKET_BITS).astype(int), buckets - 1)
            ]
        best[place] = totals.argmax(axis=0)
        value = totals.max(axis=0)
    chosen, standing = [], 0.0
    for place in range(steps):
        action = choices[int(best[place, min(int(standing / BUCKET_BITS), buckets - 1)])]
        chosen.append(action)
        sent = (SHARE * wire_rate(action.rung, action.protection) + OTHER_RATE) * STEP_S
        standing = float(np.clip(standing + sent - path.bits[place], 0, path.queue_bits - BUCKET_BITS))
    return chosen


def _worths(path: Path, place: int, action: Action, waits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Opinion of an action in a step, for every length of the queue."""
    frame_s = action.rung.frame_ms / 1000
    left = residual(
        action.protection,
        loss=float(path.loss[place]),
        burst=float(path.burst[place]),
        frame_s=frame_s,
        delay_s=action.delay_s,
        rtt_s=2 * float(path.delay_s[place]),
    )
    base = float(path.delay_s[place]) + action.delay_s + HOLD_S
    burst = round(float(path.burst[place]), 2)
    grid = [_worth(action.rung, round(left, 4), burst, round(base, 2) + wait) for wait in DELAY_GRID_S]
    return np.interp(waits, DELAY_GRID_S, grid)
