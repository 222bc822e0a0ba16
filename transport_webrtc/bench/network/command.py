"""`legato bench network` on the command line."""

import json
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .senders.names import DEFAULT

if TYPE_CHECKING:
    from .asked import Asked
    from .rows import Folder

WIDTH = 170
"""Of the table in a file, columns."""


def register(app: typer.Typer) -> None:
    """Adds the bench."""

    @app.command("network")
    def network(
        senders: Annotated[
            str,
            typer.Option(help="Who sends, with commas between; a number of ms at the end pins the listener's buffer."),
        ] = DEFAULT,
        scenarios: Annotated[
            str | None, typer.Option(help="Which networks: names, .toml files, FILE@SECONDS of Mahimahi traces. [all]")
        ] = None,
        seeds: Annotated[int, typer.Option(min=1, help="Runs of each sender on each network; rows hold one each.")] = 1,
        profile: Annotated[str, typer.Option(help="Of Legato's listener.")] = "voice_chat",
        controller: Annotated[str, typer.Option(help="What adapts Legato to the network.")] = "adaptive",
        delay: Annotated[
            int | None,
            typer.Option(min=0, max=4000, help="Pins the buffers of the others' listeners, ms. [the browser's own]"),
        ] = None,
        lead: Annotated[
            float | None,
            typer.Option(min=0.5, max=60, help="Pins how far ahead Legato's data track sends, s. [the profile's]"),
        ] = None,
        out: Annotated[
            Path | None,
            typer.Option(file_okay=False, help="Folder of rows, recordings and plots; a bench goes on there. [runs/…]"),
        ] = None,
        repeats: Annotated[int, typer.Option(min=0, help="Tries more for a run that a busy machine spoilt.")] = 2,
        plots: Annotated[bool, typer.Option(help="Draw a picture of every network, and write a report.")] = True,
        as_json: Annotated[bool, typer.Option("--json", help="One JSON object on the last line of stdout.")] = False,
    ) -> None:
        """Measure what a listener hears behind a bad network, sent by Legato and by others.

        A headless Chromium listens behind a link of 50 ms each way, which is bad from 5 s before the speech; every
        sender says the same 12 s. Senders: `legato:audio`; `legato:data`, sent ahead; `stock`, aiortc's own path, 96
        kb/s stereo; `fixed`, Opus at 24 kb/s; `browser`, another Chromium, with `:nack` (pinned to 250 ms), `:red` or
        `:ptime` (adaptivePtime) if asked for.

        pesq, pesq_phrase and visqol are against what was sent; tier_pesq is that against the voice's best tier.
        delay_mean_ms is the mean time sound waited in the receiver's buffer; 50 ms of way come on top, and a frame.
        Needs root, Chromium, playwright and the extra `judge`. A run takes some 25 s; one that the machine spoilt is
        repeated, and counted where it stays so. Give the same --out to go on after an interruption.
        """
        missing = _missing()
        if missing:
            typer.echo(f"legato bench network needs more than there is: {missing}.", err=True)
            raise typer.Exit(1)
        from .asked import ask
        from .rows import Folder

        try:
            asked = ask(
                senders=senders,
                scenarios=scenarios,
                seeds=seeds,
                repeats=repeats,
                profile=profile,
                controller=controller,
                delay_ms=delay,
                lead_s=lead,
            )
            folder = Folder(out or Path("runs") / time.strftime("network-%Y%m%d-%H%M%S"), asked.common)
        except ValueError as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(2) from None
        signal.signal(signal.SIGTERM, _leave)
        try:
            result = _bench(asked, folder, plots=plots)
        except (RuntimeError, ImportError) as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(1) from error
        if as_json:
            typer.echo(json.dumps(result))


def _leave(number: int, _: object) -> None:
    """Ends the bench as an interruption does, so that no process and no namespace stays behind."""
    raise SystemExit(128 + number)


def _missing() -> str | None:
    from quality.lab import tun

    from . import chromium

    return tun.available() or chromium.available()


def _bench(asked: "Asked", folder: "Folder", *, plots: bool) -> dict[str, Any]:
    """The figures. Raises RuntimeError where a run fails again and again, ImportError where judges are missing."""
    from rich.console import Console

    from ..report import leave_network
    from .bench import Bench, summary
    from .clip import make_clip
    from .table import progress_of, show

    console = Console(file=sys.stderr, width=None if sys.stderr.isatty() else WIDTH)
    bench = Bench(asked, clip=make_clip(), folder=folder)
    with progress_of(console) as progress:
        task = progress.add_task("starting", total=asked.count)

        def say(line: str) -> None:
            progress.update(task, description=line[:60])
            if not console.is_terminal:
                print(line, file=sys.stderr, flush=True)
            elif "not valid" in line or "failed" in line:
                console.print(line)

        rows = bench.rows(say=say, done=lambda: progress.advance(task))
    medians = summary(rows)
    show(medians, console)
    if plots:
        _draw(asked, folder, rows, console)
        leave_network(folder, asked, rows, medians)
    console.print(f"Rows, recordings and plots are in {folder.path}/.")
    return {
        "rows": rows,
        "summary": medians,
        "invalid": sum(not made["valid"] for made in rows),
        "repeated": sum(made["attempt"] for made in rows),
        **asked.common,
        "out": str(folder.path),
    }


def _draw(asked: "Asked", folder: "Folder", rows: list[dict[str, Any]], console: Any) -> None:
    try:
        from .plots import draw
    except ImportError:
        console.print("There are no plots without matplotlib: pip install legato-speech[judge].")
        return
    for scenario in asked.scenarios:
        draw(folder, scenario, [made for made in rows if made["scenario"] == scenario.name])
