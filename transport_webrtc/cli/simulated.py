"""What `legato simulate` found, as tables for people."""

import sys
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from quality.lab.simulator import Simulation

TABLE_WIDTH = 160
"""Characters, where it is not shown on a terminal."""
LABELS = (
    ("mean_opinion", "mean opinion", "of 4.5"),
    ("p10_opinion", "opinion in the worst tenth", "of 4.5"),
    ("silence_added_s", "silence added", "s"),
    ("lost_speech_s", "speech lost", "s"),
    ("mean_delay_ms", "mean delay", "ms"),
    ("wire_kbps", "on the wire", "kb/s"),
    ("compute_s", "computing", "s in all"),
    ("up_changes", "plans that rose", ""),
    ("down_changes", "plans that fell", ""),
    ("reaction_ms", "reaction to less capacity", "ms"),
)
"""Of the figures of a run."""
VERDICTS = (
    ("of_oracle_mean", "opinion above 1, of the oracle's: on average"),
    ("of_oracle_least", "opinion above 1, of the oracle's: at worst"),
    ("most_below_best_fixed", "opinion below the best fixed one, at most"),
    ("most_ups_a_minute", "plans that rose in a minute, at most"),
)
"""… and of the adaptive controller in a comparison."""


def table(title: str, heads: list[str], lines: list[list[str]]) -> None:
    """On standard error, which leaves standard output to figures."""
    from rich.console import Console
    from rich.table import Table

    shown = Table(title=title, title_justify="left")
    for place, head in enumerate(heads):
        shown.add_column(head, justify="left" if place == 0 else "right", no_wrap=True)
    for line in lines:
        shown.add_row(*line)
    Console(stderr=True, width=None if sys.stderr.isatty() else TABLE_WIDTH).print(shown)


def show_one(row: dict[str, Any], simulation: "Simulation") -> None:
    """Second by second, and the figures of the whole."""
    lines = [
        [
            f"{second.at_s:.0f}",
            f"{second.opinion:.2f}",
            "" if second.delay_ms is None else f"{second.delay_ms:.0f}",
            f"{100 * second.concealed:.0f}",
            f"{second.wire_kbps:.0f}",
            "" if second.capacity_kbps is None else f"{second.capacity_kbps:.0f}",
            f"{100 * (second.loss or 0):.0f}",
            second.rung,
            second.protection,
            second.tier,
        ]
        for second in simulation.rows
    ]
    heads = ["s", "opinion", "delay ms", "concealed %", "wire kb/s", "capacity", "loss %", "rung", "protection", "tier"]
    table(f"{row['controller']} on {row['trace']}", heads, lines)
    for key, label, unit in LABELS:
        typer.echo(f"{label:<28}{_figure(row[key])} {unit if row[key] is not None else ''}".rstrip())


def show_all(found: dict[str, Any]) -> None:
    """Every window, and what the adaptive controller is held to."""
    names = list(found["mean_opinion"])
    traces = list(dict.fromkeys(row["trace"] for row in found["rows"]))
    cells = {(row["trace"], row["controller"]): row["mean_opinion"] for row in found["rows"]}
    lines = [[trace, *(f"{cells[trace, name]:.2f}" for name in names)] for trace in traces]
    lines.append(["mean", *(f"{found['mean_opinion'][name]:.3f}" for name in names)])
    table(f"Mean opinion, {found['windows']} windows", ["window", *names], lines)
    for name, held in found["held"].items():
        typer.echo(f"{name}: {'unknown' if held is None else 'held' if held else 'not held'}")
    for key, label in VERDICTS:
        typer.echo(f"{label:<48}{_figure(found[key])}")


def _figure(value: float | None) -> str:
    return "not measured" if value is None else f"{value:g}"


def show_agreement(found: dict[str, Any]) -> None:
    """A browser beside the simulator."""
    lines = [
        [
            row["sender"],
            row["scenario"],
            str(row["runs"]),
            f"{100 * row['concealed_share']:.1f}",
            f"{100 * row['concealed_share_simulated']:.1f}",
            f"{row['silence_added_s']:.2f}",
            f"{row['silence_added_s_simulated']:.2f}",
            "yes" if row["concealed_share_agrees"] and row["silence_added_s_agrees"] else "no",
        ]
        for row in found["rows"]
    ]
    heads = ["sender", "scenario", "runs", "concealed %", "simulated", "silence s", "simulated", "agree"]
    table("A browser and the simulator", heads, lines)
