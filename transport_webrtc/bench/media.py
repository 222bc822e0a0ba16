"""`legato bench media`: what sending costs beside aiortc's own path, and how late packets leave while a core renders.

All contenders run in every round, one after the other, each in processes of its own: a sender, whose CPU time is
measured, and the listeners. Every session speaks all the time. `stock` is aiortc's PCM path; `alone` is this project's
track and speaker, with nothing deciding and nothing coming back; `legato` sends the same with the adaptive controller,
pings, transport-wide feedback, a copy of every frame (RED) and retransmission of the 2 % of packets that are lost;
`data` sends the same speech ahead on the data track, to listeners that acknowledge it, 2 % of it lost, too.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..reported import OUT
from .report import leave_figures

if TYPE_CHECKING:
    from .ends import Measured

ANSWER_S = 90.0
"""A process that says nothing for so long beyond what it was asked to do has failed."""
TEXT = (
    "The night train left the old station at a quarter past nine, and nobody on the platform waved. "
    "Far below, the river carried small lights towards the sea; one by one they went out."
)


CONTENDERS = ("stock", "alone", "legato", "data")


class BenchFailed(RuntimeError):
    """A process of the bench came to an end or fell silent."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One contender in one round."""

    quiet: "Measured"
    busy: "Measured"
    """While a core renders."""
    timer_p99_s: float

    def cpu_percent(self, sessions: int) -> float:
        """Of one core, a session."""
        return 100 * self.quiet.cpu_s / self.quiet.wall_s / sessions


@contextmanager
def process(target: Callable[..., None], *arguments: Any, ends: bool = True) -> Iterator[Connection]:
    """Runs `target(link, *arguments)` in a process of its own; gives the other end of the link.

    A target that `ends` by itself is given time for it; any other one is ended.
    """
    context = get_context("spawn")
    here, there = context.Pipe()
    child = context.Process(target=target, args=(there, *arguments), daemon=True)
    child.start()
    there.close()
    try:
        yield here
        child.join(10 if ends else 0)
    finally:
        if child.is_alive():
            child.terminate()
        child.join()
        here.close()


def get(link: Connection, seconds: float = ANSWER_S) -> Any:
    """What a process says. Raises BenchFailed where it does not."""
    try:
        if not link.poll(seconds):
            raise BenchFailed(f"A process of the bench said nothing for {seconds:.0f} s.")
        return link.recv()
    except (EOFError, ConnectionResetError):
        raise BenchFailed("A process of the bench ended before its time; what it said is above.") from None


def run_contender(name: str, recording: Path, *, sessions: int, seconds: float, voice: str) -> Run:
    """One contender: connects its sessions, then measures them twice. Raises BenchFailed."""
    from .ends import bare_timer, listen, render_for_ever, send

    speech_s = 2 * seconds + 4 * ANSWER_S
    with (
        process(send, name, str(recording), sessions, speech_s) as sender,
        process(listen, sessions, name) as listeners,
    ):
        sender.send(get(listeners))
        listeners.send(get(sender))
        get(sender)
        sender.send(seconds)
        quiet = get(sender, ANSWER_S + seconds)
        with process(render_for_ever, voice, TEXT, ends=False) as busy, process(bare_timer) as timer:
            get(busy)
            get(timer)
            timer.send(seconds)
            sender.send(seconds)
            beside, timer_p99_s = get(sender, ANSWER_S + seconds), get(timer)
        sender.send(None)
        listeners.send(None)
        return Run(quiet=quiet, busy=beside, timer_p99_s=timer_p99_s)


def measure(*, sessions: int, seconds: float, rounds: int, voice: str, say: Callable[[str], None]) -> dict[str, Any]:
    """The figures. Raises BenchFailed."""
    import numpy as np

    from adaptive.speech.offline import render

    runs: dict[str, list[Run]] = {name: [] for name in CONTENDERS}
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder) / "speech.npy"
        np.save(recording, render(TEXT, voice=voice).samples)
        for number in range(rounds):
            for name in CONTENDERS if number % 2 == 0 else CONTENDERS[::-1]:
                run = run_contender(name, recording, sessions=sessions, seconds=seconds, voice=voice)
                runs[name].append(run)
                say(
                    f"round {number + 1} {name:6s} {run.cpu_percent(sessions):.2f} % of a core a session, "
                    f"late p99 {_ms(run.busy.late_p99_s)} ms, bare timer {_ms(run.timer_p99_s)} ms"
                )
    return figures(runs, sessions=sessions, seconds=seconds)


def figures(runs: dict[str, list[Run]], *, sessions: int, seconds: float) -> dict[str, Any]:
    """Medians over the rounds."""

    def over(name: str, what: Callable[[Run], float | None]) -> float | None:
        known = [value for run in runs[name] if (value := what(run)) is not None]
        return median(known) if known else None

    stock, alone, legato, data = (over(name, lambda run: run.cpu_percent(sessions)) for name in CONTENDERS)
    return {
        "sessions": sessions,
        "seconds": seconds,
        "rounds": len(runs["legato"]),
        "legato_cpu_percent": _rounded(legato),
        "stock_cpu_percent": _rounded(stock),
        "alone_cpu_percent": _rounded(alone),
        "control_cpu_percent": None if legato is None or alone is None else _rounded(legato - alone),
        "ratio": _rounded(legato / stock) if legato and stock else None,
        "data_cpu_percent": _rounded(data),
        "data_rungs": sorted({rung for run in runs["data"] for rung in run.quiet.rungs}),
        "pacing_p99_ms": _ms(over("legato", lambda run: run.busy.late_p99_s)),
        "stock_pacing_p99_ms": _ms(over("stock", lambda run: run.busy.late_p99_s)),
        "bare_timer_p99_ms": _ms(over("legato", lambda run: run.timer_p99_s)),
        "quiet_pacing_p99_ms": _ms(over("legato", lambda run: run.quiet.late_p99_s)),
        "legato_packets_per_s": _rounded(over("legato", lambda r: r.quiet.packets / r.quiet.wall_s / sessions)),
        "legato_repeats_per_s": _rounded(over("legato", lambda r: r.quiet.repeats / r.quiet.wall_s / sessions)),
        "legato_rungs": sorted({rung for run in runs["legato"] for rung in run.quiet.rungs}),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 2)


def register(bench_app: typer.Typer) -> None:
    """Adds the bench."""

    @bench_app.command("media")
    def media(
        sessions: Annotated[int, typer.Option(min=1, max=200, help="Listeners at the same time.")] = 25,
        seconds: Annotated[float, typer.Option(min=1, help="Measured in each of the two parts of a run.")] = 10.0,
        rounds: Annotated[int, typer.Option(min=1, help="Both contenders run in each; figures are medians.")] = 3,
        voice: Annotated[str, typer.Option(help="Voice of the recording, and of the rendering beside it.")] = "heart",
        out: Annotated[Path | None, typer.Option(file_okay=False, help=OUT)] = None,
        as_json: Annotated[bool, typer.Option("--json", help="One JSON object on the last line of stdout.")] = False,
    ) -> None:
        """What sending costs beside aiortc's own path, and how late packets leave while a core renders."""
        try:
            result = measure(
                sessions=sessions,
                seconds=seconds,
                rounds=rounds,
                voice=voice,
                say=lambda line: print(line, file=sys.stderr, flush=True),
            )
        except BenchFailed as error:
            print(error, file=sys.stderr)
            raise typer.Exit(1) from None
        if out is not None:
            leave_figures(out, "media", result, settings=("sessions", "seconds", "rounds"))
        if as_json:
            print(json.dumps(result))
            return
        from rich.console import Console
        from rich.table import Table

        table = Table("figure", "value", title="legato bench media")
        for name, value in result.items():
            table.add_row(name, "not measured" if value is None else str(value))
        Console().print(table)
