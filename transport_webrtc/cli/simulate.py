"""`legato simulate`: controllers on scenarios and traces, in virtual time."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from quality.lab.simulator import Simulation

ROWS = Path("~/.cache/legato/simulate.jsonl")
WINDOW_S = 60
TABLE_WIDTH = 160
"""Characters, where it is not shown on a terminal."""


def _one(trace: str, controller: str, profile: str, seconds: int, seed: int) -> "tuple[dict[str, Any], Simulation]":
    """A row and the simulation behind it. Raises ValueError with a sentence."""
    from adaptive.control.profiles import PROFILES
    from quality.lab.comparison import Task, row
    from quality.lab.contenders import DEFAULT, ORACLE, make
    from quality.lab.oracle import recorded, search
    from quality.lab.simulator import simulate
    from quality.lab.windows import find

    use = PROFILES[profile]
    task = Task(
        scenario=find(trace, seconds=seconds), controller=controller, profile=profile, seconds=seconds, seed=seed
    )

    def play(name: str) -> "Simulation":
        return simulate(task.scenario, make(name, profile=use), profile=use, seconds=seconds, seed=seed)

    if controller != ORACLE:
        result = play(controller)
        return row(task, result.summary), result
    with _progress() as progress:
        searching = progress.add_task("the oracle searches", total=None)
        best = search(
            task.scenario,
            profile=use,
            seconds=seconds,
            seed=seed,
            rivals=[recorded(play(name)) for name in DEFAULT if name != ORACLE],
            on_try=lambda tries, opinion: progress.update(
                searching, description=f"the oracle searches: {opinion:.3f} after {tries} simulations"
            ),
        )
    return row(task, best.simulation.summary), best.simulation


def _all(folder: Path, controllers: list[str], profile: str, seconds: int, seed: int, rows: Path) -> dict[str, Any]:
    """Every controller on every window that hurts. Raises ValueError with a sentence."""
    from adaptive.control.profiles import PROFILES
    from quality.lab.comparison import Kept, compare, verdict
    from quality.lab.contenders import ORACLE, make
    from quality.lab.windows import all_hurting

    if not folder.is_dir():
        raise ValueError(f"There is no folder {folder}.")
    for name in controllers:
        if name != ORACLE:
            make(name, profile=PROFILES[profile])
    scenarios = [window.scenario() for window in all_hurting(folder, seconds=seconds)]
    if not scenarios:
        raise ValueError(f"No trace under {folder} has a window of {seconds} s that hurts.")
    with _progress() as progress:
        bar = progress.add_task("simulating", total=len(scenarios) * len(controllers))

        def tell(row: dict[str, Any], kept: bool) -> None:
            progress.update(
                bar, advance=1, description=f"{row['trace']} {row['controller']}{' (kept)' if kept else ''}"
            )

        found = compare(
            scenarios,
            controllers,
            profile=profile,
            seconds=seconds,
            seed=seed,
            kept=Kept(rows.expanduser()),
            on_row=tell,
        )
    return {"rows": found, **verdict(found)}


def _progress() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _table(title: str, heads: list[str], lines: list[list[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for place, head in enumerate(heads):
        table.add_column(head, justify="left" if place == 0 else "right", no_wrap=True)
    for line in lines:
        table.add_row(*line)
    Console(stderr=True, width=None if sys.stderr.isatty() else TABLE_WIDTH).print(table)


def _show_one(row: dict[str, Any], simulation: "Simulation") -> None:
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
    heads = ["s", "opinion", "delay ms", "made up %", "wire kb/s", "capacity", "loss %", "rung", "protection", "tier"]
    _table(f"{row['controller']} on {row['trace']}", heads, lines)
    names = ("mean_opinion", "p10_opinion", "silence_added_s", "lost_speech_s", "mean_delay_ms", "wire_kbps")
    typer.echo(", ".join(f"{name} {row[name]}" for name in (*names, "compute_s", "up_changes", "reaction_ms")))


def _show_all(found: dict[str, Any]) -> None:
    names = list(found["mean_opinion"])
    traces = list(dict.fromkeys(row["trace"] for row in found["rows"]))
    cells = {(row["trace"], row["controller"]): row["mean_opinion"] for row in found["rows"]}
    lines = [[trace, *(f"{cells[trace, name]:.2f}" for name in names)] for trace in traces]
    lines.append(["mean", *(f"{found['mean_opinion'][name]:.3f}" for name in names)])
    _table(f"Mean opinion, {found['windows']} windows", ["window", *names], lines)
    for name, held in found["held"].items():
        typer.echo(f"{name}: {'unknown' if held is None else 'held' if held else 'not held'}")
    keys = ("of_oracle_mean", "of_oracle_least", "most_below_best_fixed", "most_ups_a_minute")
    typer.echo(", ".join(f"{key} {found[key]}" for key in keys))


def register(app: typer.Typer) -> None:
    """Adds the verb."""

    @app.command()
    def simulate(
        trace: Annotated[str, typer.Option(help="A scenario, or a trace as FILE or FILE@SECONDS.")] = "clean",
        controller: Annotated[
            str, typer.Option(help="adaptive, fixed:24000, fixed:32000+fec, ana, oracle, or a name of your own.")
        ] = "adaptive",
        profile: Annotated[str, typer.Option(help="What the use wants.")] = "voice_chat",
        carrier: Annotated[str, typer.Option(help="audio; the data track cannot be simulated yet.")] = "audio",
        seed: Annotated[int, typer.Option(help="Of losses, jitter and frame sizes.")] = 0,
        seconds: Annotated[
            int | None, typer.Option(min=1, max=3600, help="Of speech: 12 on a scenario, 60 on a trace.")
        ] = None,
        plot: Annotated[Path | None, typer.Option(help="Write a picture of it here (PNG).")] = None,
        folder: Annotated[
            Path | None, typer.Option("--all", help="Compare on every window of the traces in this folder that hurts.")
        ] = None,
        controllers: Annotated[str | None, typer.Option(help="With --all: names, separated by commas.")] = None,
        rows: Annotated[Path, typer.Option(help="With --all: where rows are kept, to go on from.")] = ROWS,
        as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
    ) -> None:
        """Simulate a listener on a bad network, hundreds of times faster than it would be heard.

        `legato simulate --trace step40 --plot step40.png`
        """
        from adaptive.control.profiles import PROFILES
        from quality.lab.contenders import DEFAULT
        from quality.lab.scenarios import names

        if profile not in PROFILES:
            raise typer.BadParameter(f"There is no profile {profile!r}; there are {', '.join(PROFILES)}.")
        if carrier != "audio":
            raise typer.BadParameter("Only the audio track can be simulated.")
        try:
            if folder is not None:
                chosen = controllers.split(",") if controllers else list(DEFAULT)
                found = _all(folder, chosen, profile, seconds or WINDOW_S, seed, rows)
                show: Any = _show_all
            else:
                found, simulation = _one(
                    trace, controller, profile, seconds or (12 if trace in names() else WINDOW_S), seed
                )
                show = lambda found: _show_one(found, simulation)  # noqa: E731
                if plot is not None:
                    from quality.plots import plot as draw

                    draw(simulation, plot, title=f"{controller} on {found['trace']}, {profile}")
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
        if as_json:
            typer.echo(json.dumps(found))
        else:
            show(found)
