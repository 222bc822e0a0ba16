"""What `legato simulate --out` leaves: the run, or the comparison, as a report."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..reported import Pictures, drawn, leave

if TYPE_CHECKING:
    from quality.lab.simulator import Simulation

NAMES = ("trace", "controller", "profile", "carrier", "seed", "seconds")
"""Of a row: what it is of, and not what came of it."""


def leave_one(folder: Path, row: dict[str, Any], simulation: "Simulation") -> None:
    """One controller on one path."""
    from quality.report import Table

    settings = {name: row[name] for name in NAMES if name != "seed"}
    title = f"{row['controller']} on {row['trace']}"
    leave(
        folder,
        title=title,
        says="A listener on a bad network, simulated: the real controller and the lab's link on virtual time. Opinion"
        " is what it is expected to think of the sound, 1 (bad) to 4.5 (ITU-T G.107.2).",
        settings=settings,
        figures={name: value for name, value in row.items() if name not in NAMES},
        tables=[Table(title="Second by second", rows=tuple(asdict(second) for second in simulation.rows))],
        seeds=[row["seed"]],
        pictures=drawn(lambda: _one_picture(simulation, f"{title}, {row['profile']}")),
    )


def _one_picture(simulation: "Simulation", title: str) -> Pictures:
    from quality.plots import plot

    says = "What was sent within which capacity, how late it sounded, what was lost and made up, and the opinion."
    return {"simulation.png": (plot(simulation, title=title).png(), says)}


def leave_rows(folder: Path, found: dict[str, Any], *, profile: str, seed: int) -> None:
    """Several controllers on several paths, or a bench beside its simulation."""
    from quality.report import Table

    rows = found["rows"]
    figures = {name: value for name, value in found.items() if name != "rows" and not isinstance(value, dict)} | {
        f"held {name}": value for name, value in found.get("held", {}).items()
    }
    several = "mean_opinion" in found
    leave(
        folder,
        title="Controllers compared" if several else "A browser and the simulator",
        says="Every controller on the same windows of the same traces, simulated."
        if several
        else "Rows of legato bench network beside simulations of them.",
        settings={"profile": profile},
        figures=figures,
        tables=[Table(title="Rows", rows=tuple(rows))],
        seeds=[seed],
        pictures=drawn(lambda: _means(found)) if several else {},
    )


def _means(found: dict[str, Any]) -> Pictures:
    from quality.plots import bars

    means = {name: {"": opinion} for name, opinion in found["mean_opinion"].items()}
    picture = bars(means, title="Mean opinion by controller", y="opinion, 1 to 4.5", limits=(1, 4.6))
    return {"opinions.png": (picture.png(), f"Mean opinion over {found['windows']} windows.")}
