"""A simulation as a picture: rate and capacity, delay, loss, tier and opinion over time."""

import math
from pathlib import Path
from typing import TYPE_CHECKING

from adaptive.control.ladder import wire_rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .lab.simulator import Simulation

INK, OTHER, FAINT = "#1f4e79", "#c55a11", "#9aa5b1"
"""Of what is sent, of what the network does, and of the rest."""


def plot(simulation: "Simulation", path: str | Path, *, title: str) -> None:
    """Writes a PNG of four plots over the time of the speech. Needs matplotlib (the extra `judge`)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 9), layout="constrained")
    rate, delay, loss, opinion = figure.subplots(4, 1, sharex=True, height_ratios=(3, 2, 2, 2))
    figure.suptitle(title)
    _rate(rate, simulation)
    _delay(delay, simulation)
    _loss(loss, simulation)
    _opinion(opinion, simulation)
    for axes in (rate, delay, loss, opinion):
        axes.grid(color="#e3e7ec")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(loc="lower right" if axes is opinion else "upper right", frameon=False, fontsize="small")
    figure.savefig(path, dpi=110)


def _gap(value: float | None) -> float:
    return math.nan if value is None else value


def _rate(axes: "Axes", simulation: "Simulation") -> None:
    looks = [look for look in simulation.looks if look.at_s >= 0]
    times = [look.at_s for look in looks]
    planned = [wire_rate(look.plan.rung, look.plan.protection) / 1000 for look in looks]
    most = 1.6 * max(planned)
    capacity = [most if look.capacity_kbps is None else min(most, look.capacity_kbps) for look in looks]
    axes.fill_between(times, capacity, color=FAINT, alpha=0.25, linewidth=0, label="capacity")
    axes.step(times, planned, where="post", color=INK, label="plan, on the wire")
    axes.step(
        times, [look.plan.rung.bitrate / 1000 for look in looks], where="post", color=OTHER, lw=1, label="speech alone"
    )
    axes.set(ylabel="kb/s", ylim=(0, most))
    tiers = list(dict.fromkeys(look.plan.tier for look in looks))
    for tier in tiers[1:]:
        at = next(look.at_s for look in looks if look.plan.tier == tier)
        axes.annotate(tier, (at, 0), xytext=(0, 4), textcoords="offset points", fontsize="small", color=FAINT)


def _delay(axes: "Axes", simulation: "Simulation") -> None:
    looks = [look for look in simulation.looks if look.at_s >= 0]
    axes.plot(
        [row.at_s + 0.5 for row in simulation.rows],
        [_gap(row.delay_ms) for row in simulation.rows],
        color=INK,
        label="leaving to sounding",
    )
    axes.plot([look.at_s for look in looks], [_gap(look.queue_ms) for look in looks], color=OTHER, lw=1, label="queue")
    axes.plot(
        [look.at_s for look in looks],
        [1000 * (look.plan.playout_delay_s or 0) for look in looks],
        color=FAINT,
        lw=1,
        label="asked of the listener",
    )
    axes.set(ylabel="ms", ylim=(0, None))


def _loss(axes: "Axes", simulation: "Simulation") -> None:
    times = [row.at_s + 0.5 for row in simulation.rows]
    axes.bar(
        times, [100 * (row.loss or 0.0) for row in simulation.rows], color=FAINT, width=0.9, label="lost before repair"
    )
    axes.step(times, [100 * row.concealed for row in simulation.rows], where="mid", color=OTHER, label="made up")
    axes.step(times, [100 * row.silent for row in simulation.rows], where="mid", color=INK, lw=1, label="silent")
    axes.set(ylabel="%", ylim=(0, 100))


def _opinion(axes: "Axes", simulation: "Simulation") -> None:
    axes.step(
        [row.at_s for row in simulation.rows],
        [row.opinion for row in simulation.rows],
        where="post",
        color=INK,
        label="opinion",
    )
    axes.set(ylabel="1 to 4.5", ylim=(0.9, 4.6), xlabel="s")
