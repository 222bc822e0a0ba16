"""A simulation as a picture: rate and capacity, delay, loss, tier and opinion over time."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive.control.ladder import wire_rate

from .picture import COLOURS, DASHES, FAINT, Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..lab.simulator import Simulation

INK, OTHER = COLOURS[:2]
"""Of what is sent, and of what the network does."""
MORE = 0.35
"""Room above the highest line, for the legend."""


def plot(simulation: "Simulation", path: str | Path | None = None, *, title: str) -> Picture:
    """Four plots over the time of the speech; written to `path` if given."""
    picture = Picture(title=title, width=10, height=9, rows=4, heights=(3, 2, 2, 2))
    rate, delay, loss, opinion = picture.axes
    _rate(rate, simulation)
    _delay(delay, simulation)
    _loss(loss, simulation)
    _opinion(opinion, simulation)
    for axes in picture.axes:
        axes.legend(loc="lower right" if axes is opinion else "upper right", frameon=False, fontsize="small", ncols=3)
    if path is not None:
        picture.save(path)
    return picture


def opinions(named: Mapping[str, "Simulation"], *, title: str) -> Picture:
    """Several simulations of one path: what reached the listener of each, and what each sent under which capacity."""
    picture = Picture(title=title, height=5.2, rows=2)
    heard, sent = picture.axes
    most = 1.3 * max(row.wire_kbps for simulation in named.values() for row in simulation.rows)
    for place, (name, simulation) in enumerate(named.items()):
        style: dict[str, Any] = {
            "color": COLOURS[place % len(COLOURS)],
            "lw": 1.5,
            "ls": DASHES[place % 4],
        }
        times = [row.at_s for row in simulation.rows]
        heard.step(times, [row.opinion for row in simulation.rows], where="post", label=name, **style)
        sent.step(times, [row.wire_kbps for row in simulation.rows], where="post", **style)
    looks = [look for look in next(iter(named.values())).looks if look.at_s >= 0]
    if any(look.capacity_kbps is not None for look in looks):
        capacity = [most if look.capacity_kbps is None else min(most, look.capacity_kbps) for look in looks]
        times = [look.at_s for look in looks]
        sent.fill_between(times, capacity, step="post", color=FAINT, alpha=0.25, lw=0, label="capacity")
    heard.set(ylabel="opinion, 1 to 4.5", ylim=(0.9, 4.6))
    sent.set(ylabel="on the wire, kb/s", ylim=(0, most), xlabel="s")
    return picture.legends(loc="lower right", ncols=3)


def _gap(value: float | None) -> float:
    return math.nan if value is None else value


def _rate(axes: "Axes", simulation: "Simulation") -> None:
    looks = [look for look in simulation.looks if look.at_s >= 0]
    times = [look.at_s for look in looks]
    planned = [wire_rate(look.plan.rung, look.plan.protection) / 1000 for look in looks]
    most = (1 + MORE) * max(planned)
    capacity = [most if look.capacity_kbps is None else min(most, look.capacity_kbps) for look in looks]
    axes.fill_between(times, capacity, color=FAINT, alpha=0.25, linewidth=0, label="capacity")
    axes.step(times, planned, where="post", color=INK, label="plan, on the wire")
    axes.step(
        times, [look.plan.rung.bitrate / 1000 for look in looks], where="post", color=OTHER, lw=1, label="speech alone"
    )
    axes.set(ylabel="rate, kb/s", ylim=(0, most))
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
    axes.set(ylabel="delay, ms", ylim=(0, (1 + MORE) * axes.get_ylim()[1]))


def _loss(axes: "Axes", simulation: "Simulation") -> None:
    times = [row.at_s + 0.5 for row in simulation.rows]
    axes.bar(
        times, [100 * (row.loss or 0.0) for row in simulation.rows], color=FAINT, width=0.9, label="lost before repair"
    )
    axes.step(times, [100 * row.concealed for row in simulation.rows], where="mid", color=OTHER, label="made up")
    axes.step(times, [100 * row.silent for row in simulation.rows], where="mid", color=INK, lw=1, label="silent")
    axes.set(ylabel="packets, time, %", ylim=(0, 100 * (1 + MORE)), yticks=(0, 50, 100))


def _opinion(axes: "Axes", simulation: "Simulation") -> None:
    axes.step(
        [row.at_s for row in simulation.rows],
        [row.opinion for row in simulation.rows],
        where="post",
        color=INK,
        label="opinion",
    )
    axes.set(ylabel="opinion, 1 to 4.5", ylim=(0.9, 4.6), xlabel="s")
