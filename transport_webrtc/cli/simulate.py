"""`legato simulate`: controllers on scenarios and traces, in virtual time."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..reported import OUT
from .simulated import show_agreement, show_all, show_one
from .simulation_reports import leave_one, leave_rows
from .words import CONTROLLERS, GENERATED, JSON, PROFILE, SCENARIOS, listed

if TYPE_CHECKING:
    from quality.lab.simulator import Simulation

ROWS = Path("~/.cache/legato/simulate.jsonl")
WINDOW_S = 60
HELP = f"""Simulate a listener on a bad network, hundreds of times faster than it would be heard.

Shows second by second what the network did, which plan held and what the listener is expected to think of it: opinion,
from 1 (bad) to 4.5 (ITU-T G.107.2). Scenarios:

{listed(SCENARIOS)}

Traces that are generated, with the statistics of recorded networks or of published figures, a quarter of an hour each:

{listed(GENERATED)}

Examples:

`legato simulate --trace step40`

`legato simulate --trace burst10 --controller fixed:24000 --profile narration`

`legato simulate --trace 3g@120 --seconds 60`

`legato simulate --trace step40 --plot step40.png`

`legato simulate --trace train@60 --controller fixed:24000 --out train`

`legato simulate --all traces/ --controllers adaptive,fixed:24000`
"""


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


def _against(folder: Path, profile: str) -> dict[str, Any]:
    """A bench's rows beside simulations. Raises ValueError with a sentence."""
    from quality.lab.agreement import compare, read

    rows = read(folder)
    with _progress() as progress:
        bar = progress.add_task("simulating", total=len({(row["sender"], row["scenario"]) for row in rows}))
        found = compare(rows, profile=profile, on_row=lambda row: progress.update(bar, advance=1))
    return {"rows": found}


def _progress() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


def register(app: typer.Typer) -> None:
    """Adds the verb."""

    @app.command(help=HELP)
    def simulate(
        trace: Annotated[
            str,
            typer.Option(
                help="What the network does: the name of a scenario, one of your own in a .toml file, or a trace by"
                " name or FILE, from its start or from a second on: NAME@SECONDS."
            ),
        ] = "clean",
        controller: Annotated[
            str,
            typer.Option(
                help=f"What turns reports into plans: {CONTROLLERS} Beside them here: ana, libwebrtc's audio network"
                " adaptor; oracle, which knows the path and searches for the best plans."
            ),
        ] = "adaptive",
        profile: Annotated[str, typer.Option(help=PROFILE)] = "voice_chat",
        carrier: Annotated[
            str, typer.Option(help="What carries the speech: audio, an RTP track, is all that can be simulated today.")
        ] = "audio",
        seed: Annotated[
            int,
            typer.Option(help="The same seed gives the same losses, jitter and frame sizes, and so the same figures."),
        ] = 0,
        seconds: Annotated[
            int | None,
            typer.Option(min=1, max=3600, help="How much speech is heard. [12 in a scenario, 60 in a trace]"),
        ] = None,
        plot: Annotated[
            Path | None, typer.Option(help="PNG file for a picture of the run; needs legato-speech[judge].")
        ] = None,
        folder: Annotated[
            Path | None,
            typer.Option(
                "--all",
                help="Folder of traces: compare controllers on every window of them that hurts, not on --trace.",
            ),
        ] = None,
        controllers: Annotated[
            str | None,
            typer.Option(help="With --all: the controllers that are compared, with commas between. [all of them]"),
        ] = None,
        out: Annotated[Path | None, typer.Option(file_okay=False, help=OUT)] = None,
        against: Annotated[
            Path | None, typer.Option(help="Simulate the rows of a `legato bench network` folder, and say who differs.")
        ] = None,
        rows: Annotated[
            Path, typer.Option(help="With --all: file that keeps each result, so that a second run goes on from there.")
        ] = ROWS,
        as_json: Annotated[bool, typer.Option("--json", help=JSON)] = False,
    ) -> None:
        from adaptive.control.profiles import PROFILES
        from quality.lab.contenders import DEFAULT
        from quality.lab.scenarios import names
        from quality.lab.simulator import ControllerFailed

        if profile not in PROFILES:
            raise typer.BadParameter(f"There is no profile {profile!r}; there are {', '.join(PROFILES)}.")
        if carrier != "audio":
            raise typer.BadParameter("Only the audio track can be simulated.")
        try:
            if against is not None:
                found = _against(against, profile)
                show: Any = show_agreement
            elif folder is not None:
                chosen = controllers.split(",") if controllers else list(DEFAULT)
                found = _all(folder, chosen, profile, seconds or WINDOW_S, seed, rows)
                show = show_all
            else:
                found, simulation = _one(
                    trace, controller, profile, seconds or (12 if trace in names() else WINDOW_S), seed
                )
                show = lambda found: show_one(found, simulation)  # noqa: E731
                if out is not None:
                    leave_one(out, found, simulation)
                if plot is not None:
                    from quality.plots import plot as draw

                    draw(simulation, plot, title=f"{controller} on {found['trace']}, {profile}")
            if out is not None and "controller" not in found:
                leave_rows(out, found, profile=profile, seed=seed)
        except (ValueError, ControllerFailed) as error:
            raise typer.BadParameter(str(error)) from None
        except OSError as error:
            typer.echo(f"Nothing could be written to {error.filename}: {error.strerror}.", err=True)
            raise typer.Exit(1) from None
        if as_json:
            typer.echo(json.dumps(found))
        else:
            show(found)
