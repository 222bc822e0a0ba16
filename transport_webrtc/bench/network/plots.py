"""One picture of every network: what was sent, what the link did to it, and what was heard, over time."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from adaptive.ticks import TICK_RATE
from quality.lab.capacity import OPPORTUNITY_BYTES
from quality.lab.scenarios import Scenario

from .counters import Counters
from .rows import Folder
from .taken import Taken
from .wire import WINDOW_S, Wire

BEFORE_S = 2.0
"""What is shown before the speech; after it, until the last recording ends."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's, which the colour-blind tell apart."""
MOST_KBPS = 250.0
"""Of the picture of a trace, whose capacity may be far above what speech needs."""
LEAST_QUEUE_MS = 50.0
"""An axis of nothing would show rounding errors."""
LOW_HZ, HIGH_HZ = 0, 12_000
SPECTRUM = 1024


def draw(folder: Folder, scenario: Scenario, rows: Sequence[dict[str, Any]]) -> None:
    """Writes `{scenario}.png` from the first seed's runs; does nothing where there is none."""
    seed = min((made["seed"] for made in rows), default=None)
    first = [made for made in rows if made["seed"] == seed]
    if not first:
        return
    runs = [Taken.load(folder.run((made["sender"], made["scenario"], made["seed"]), made["attempt"])) for made in first]
    end = max(len(taken.heard) for taken in runs) / TICK_RATE
    planned = [taken for taken in runs if taken.told.get("plans")]
    heights = [2.2, 1.3, 1.3, 1.3] + [1.6] * len(planned) + [1.1] * len(runs)
    figure, axes = plt.subplots(
        len(heights), sharex=True, figsize=(11, 1.15 * sum(heights)), height_ratios=heights, layout="constrained"
    )
    for number, taken in enumerate(runs):
        colour = COLOURS[number % len(COLOURS)]
        _rate(axes[0], taken, end, colour)
        _queue(axes[1], taken, end, colour)
        _loss(axes[2], taken, end, colour)
        _buffer(axes[3], taken, end, colour)
    axes[1].set_ylim(0, max(LEAST_QUEUE_MS, axes[1].get_ylim()[1]))
    _capacity(axes[0], scenario, end)
    for place, taken in enumerate(planned, start=4):
        _plans(axes[place], taken, end)
    for place, (taken, made) in enumerate(zip(runs, first, strict=True), start=4 + len(planned)):
        _spectrum(axes[place], taken, made)
    axes[0].legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=6, fontsize="small", frameon=False)
    axes[0].set_xlim(-BEFORE_S, end)
    axes[-1].set_xlabel("s from the start of the speech")
    figure.suptitle(f"{scenario.name}: {scenario.says}", fontsize="medium", wrap=True)
    figure.savefig(folder.path / f"{scenario.name.replace('/', '_')}.png", dpi=90)
    plt.close(figure)


def _rate(axis: Axes, taken: Taken, end: float, colour: str) -> None:
    times, rates = Wire.of(taken.wire["down"]).rates(-BEFORE_S, end)
    axis.plot(times, rates, color=colour, lw=1.2, label=taken.sender)
    axis.set_ylabel("to the listener\nkb/s", fontsize="small")


def _capacity(axis: Axes, scenario: Scenario, end: float) -> None:
    trace = scenario.settings("down", 0.0).trace
    if trace:
        starts = np.arange(-BEFORE_S, end, WINDOW_S)
        times = np.asarray(trace) / 1000 + min(step.at_s for step in scenario.steps)
        passed = [np.count_nonzero((times >= start) & (times < start + WINDOW_S)) for start in starts]
        kbps = [count * OPPORTUNITY_BYTES * 8 / 1000 / WINDOW_S for count in passed]
        axis.step(starts, kbps, "k--", lw=1, where="post", label="capacity")
        axis.set_ylim(0, MOST_KBPS)
    for number, (start, stop, narrow) in enumerate(_squeezes(scenario, end)):
        axis.plot([start, stop], [narrow, narrow], "k--", lw=1.2, label="" if number else "capacity")
    axis.set_ylim(bottom=0)


def _squeezes(scenario: Scenario, end: float) -> list[tuple[float, float, float]]:
    steps = [*scenario.capacity_steps, (end, None)]
    return [(at, later, kbps) for (at, kbps), (later, _) in pairwise(steps) if kbps is not None]


def _queue(axis: Axes, taken: Taken, end: float, colour: str) -> None:
    waits = [(at, wait) for at, _, wait in taken.wire["down"] if at is not None and wait is not None and at < end]
    axis.plot([at for at, _ in waits], [wait for _, wait in waits], color=colour, lw=1)
    axis.set_ylabel("queue\nms", fontsize="small")


def _loss(axis: Axes, taken: Taken, end: float, colour: str) -> None:
    speech = np.array(taken.speech or [[np.inf, 1]])
    starts = np.arange(-BEFORE_S, end - WINDOW_S, WINDOW_S)
    shares = []
    for start in starts:
        inside = speech[(speech[:, 0] >= start) & (speech[:, 0] < start + WINDOW_S), 1]
        shares.append(100 * (1 - np.mean(inside)) if len(inside) else np.nan)
    axis.plot(starts + WINDOW_S / 2, shares, color=colour, lw=0.8, ls=":")
    concealed = Counters(taken.ticks).shares(-BEFORE_S, end)
    axis.plot([at for at, _ in concealed], [100 * share for _, share in concealed], color=colour, lw=1.2)
    axis.set_ylabel("lost (dotted),\nconcealed %", fontsize="small")


def _buffer(axis: Axes, taken: Taken, end: float, colour: str) -> None:
    delays = Counters(taken.ticks).delays_s(-BEFORE_S, end)
    axis.plot([at for at, _ in delays], [1000 * delay for _, delay in delays], color=colour, lw=1)
    axis.set_ylabel("held by the\nlistener, ms", fontsize="small")


def _plans(axis: Axes, taken: Taken, end: float) -> None:
    """The rung as a line, and at each change of anything else what holds from then on."""
    plans = [plan for plan in sorted(taken.told["plans"], key=lambda plan: plan["at"]) if plan["at"] < end]
    rates = [plan["bitrate"] / 1000 for plan in plans]
    axis.step([*(plan["at"] for plan in plans), end], [*rates, rates[-1]], where="post", color=COLOURS[0], lw=1.2)
    axis.set_ylim(0, 1.5 * max(rates))
    said, shown = "", 0
    for plan, later in pairwise([*plans, {"at": end}]):
        delay = "" if plan["playout_delay_ms"] is None else f", {plan['playout_delay_ms']:.0f} ms"
        now = f"{plan['tier']}, {plan['protection']}{delay}"
        if now != said and later["at"] > -BEFORE_S:
            place = (max(plan["at"], -BEFORE_S) + 0.05, (0.05 + 0.2 * (shown % 4)) * 1.5 * max(rates))
            axis.annotate(now, place, fontsize="x-small", clip_on=True)
            said, shown = now, shown + 1
    axis.set_ylabel(f"{taken.sender}\nrung kb/s", fontsize="small")


def _spectrum(axis: Axes, taken: Taken, made: dict[str, Any]) -> None:
    heard = taken.heard + 1e-7 * np.random.default_rng(0).standard_normal(len(taken.heard)).astype(np.float32)
    axis.specgram(heard, NFFT=SPECTRUM, Fs=TICK_RATE, noverlap=SPECTRUM // 2, vmin=-140, vmax=-40, cmap="magma")
    axis.set_ylim(LOW_HZ, HIGH_HZ)
    axis.set_yticks([0, 4000, 8000, 12000], ["0", "4", "8", "12 kHz"], fontsize="x-small")
    pesq = "–" if made["pesq"] is None else f"{made['pesq']:.2f}"
    axis.set_ylabel(f"{taken.sender}\nPESQ {pesq}", fontsize="small")
