"""`legato bench first-audio`: how soon a text can be heard, beside rendering it whole.

Two render workers with the same voice and threads take turns: one streams, the other renders the same texts whole;
while one works the other waits. Every text is new to both, caches are off, voices are warm. With `--concurrency` so
many texts are handed over at the same instant, all their chunks granted: the hardest load for those behind.
"""

import asyncio
import json
import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quality.timeline import Timeline, uninterrupted

from ..reported import OUT
from .report import leave_figures

if TYPE_CHECKING:
    from adaptive.speech.renderer import Renderer

SEED = 1
WHOLE = "transport_webrtc.bench.whole:WholeStream"
CONTINUOUS_S = 0.1
"""An underrun that is still counted as continuous in `continuity_100ms`."""
EVERYTHING = 1 << 62


@dataclass(kw_only=True)
class Hearing:
    """What was measured of one text; None where it failed. Seconds from the call that handed it over."""

    pcm_s: float | None = None
    packet_s: float | None = None
    queue_s: float | None = None
    """Of `pcm_s`, what was not spent rendering its chunks: waiting for a turn and the way between the processes."""
    underrun_s: float | None = None
    render_s: float = 0.0
    speech_s: float = 0.0
    failure: str | None = None


async def hear(
    renderer: "Renderer", text: str, *, id: str, voice: str, tier: str | None, chunk_frames: int | None = None
) -> Hearing:
    """Hands `text` over and listens to its end. `chunk_frames` is the longest a chunk may be; None: the ramp's."""
    from adaptive.speech.renderer import Chunk, RenderFailed, RenderJob
    from adaptive.ticks import to_seconds

    from .onset import Onset

    onset, timeline, hearing = Onset(), Timeline(), Hearing()
    begun = perf_counter()
    stream = renderer.open(RenderJob(id=id, voice=voice, tier=tier, chunk_frames=chunk_frames))
    stream.grant(EVERYTHING)
    stream.feed(text, final=True)
    async for event in stream.events():
        now = perf_counter() - begun
        match event:
            case Chunk():
                timeline.arrived(to_seconds(event.start), now)
                hearing.render_s += event.render_s
                hearing.speech_s += to_seconds(len(event.samples) - event.pause_after)
                if onset.push(event.samples):
                    hearing.pcm_s, hearing.packet_s = now, perf_counter() - begun
                    hearing.queue_s = now - hearing.render_s
            case RenderFailed():
                hearing.failure = event.message
    if hearing.failure is None:
        hearing.underrun_s = timeline.largest_s
        if hearing.pcm_s is None:
            hearing.failure = "Nothing in it was loud enough to be heard."
    return hearing


async def measure(
    texts: list[str], *, voice: str, tier: str | None, concurrency: int, threads: int, workers: int = 1
) -> dict[str, Any]:
    """The figures for `texts`. Raises WorkerFailed where a worker cannot start."""
    from adaptive.speech.cache import CacheSettings
    from adaptive.speech.workers import WorkerRenderer

    settings: dict[str, Any] = {
        "voices": (voice,),
        "threads": threads,
        "cache": CacheSettings(memory_bytes=0),
        "on_progress": _say_progress,
    }
    streaming, whole = WorkerRenderer(workers, **settings), WorkerRenderer(workers, **settings, stream=WHOLE)
    heard: dict[str, list[Hearing]] = {"streaming": [], "whole": []}
    try:
        await streaming.start()
        await whole.start()
        tier = tier or streaming.status().voices[0].tiers[0]
        for first in range(0, len(texts), concurrency):
            batch = texts[first : first + concurrency]
            for name, renderer in (("streaming", streaming), ("whole", whole)):
                hearings = (
                    hear(renderer, text, id=f"{first + place}", voice=voice, tier=tier)
                    for place, text in enumerate(batch)
                )
                heard[name] += await asyncio.gather(*hearings)
    finally:
        await streaming.close()
        await whole.close()
    for failure in {hearing.failure for hearing in heard["streaming"] + heard["whole"] if hearing.failure}:
        print(failure, file=sys.stderr)
    return summary(heard["streaming"], heard["whole"]) | {
        "voice": voice,
        "tier": tier,
        "concurrency": concurrency,
        "threads": threads,
        "workers": workers,
    }


def summary(streaming: list[Hearing], whole: list[Hearing]) -> dict[str, Any]:
    """The figures in the order in which they are explained; None for what nothing was measured of."""
    good = [hearing for hearing in streaming if hearing.failure is None]
    speech = sum(hearing.speech_s for hearing in good)
    continuity = uninterrupted([hearing.underrun_s for hearing in good])
    pcm = [hearing.pcm_s for hearing in good]
    return {
        "n": len(streaming),
        "failures": len(streaming) - len(good),
        "p50_ms": _percentile(pcm, 50),
        "p95_ms": _percentile(pcm, 95),
        "p99_ms": _percentile(pcm, 99),
        "packet_p50_ms": _percentile([hearing.packet_s for hearing in good], 50),
        "queue_p95_ms": _percentile([hearing.queue_s for hearing in good], 95),
        "continuity_100ms": continuity[CONTINUOUS_S],
        "continuity_50ms": continuity[0.05],
        "continuity_200ms": continuity[0.2],
        "real_time_factor": round(sum(hearing.render_s for hearing in good) / speech, 4) if speech else None,
        "whole_text_p50_ms": _percentile([hearing.pcm_s for hearing in whole if hearing.failure is None], 50),
    }


def _percentile(seconds: list[float | None], percent: float) -> float | None:
    import numpy as np

    measured = [value for value in seconds if value is not None]
    return round(1000 * float(np.percentile(measured, percent)), 2) if measured else None


def _say_progress(what: str, share: float) -> None:
    print(f"{what} {share:.0%}" if share else f"{what} …", file=sys.stderr)


def _read_texts(file: Path | None, count: int | None) -> list[str]:
    from .texts import sentences

    if file is None:
        return list(islice(sentences(SEED), count or 40))
    lines = dict.fromkeys(line.strip() for line in file.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line][:count]


def _show(figures: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(show_header=False, box=None)
    for name, value in figures.items():
        table.add_row(name, "not measured" if value is None else str(value))
    Console(file=sys.stderr).print(table)


def register(app: typer.Typer) -> None:
    """Adds the bench."""

    @app.command("first-audio")
    def first_audio(
        voice: Annotated[str, typer.Option(help="The voice that is measured; `legato voices` lists them.")] = "joe",
        tier: Annotated[str | None, typer.Option(help="Its tier of precision. [its best]")] = None,
        concurrency: Annotated[
            int, typer.Option(min=1, help="How many texts are handed over at the same instant.")
        ] = 1,
        texts: Annotated[
            Path | None,
            typer.Option(exists=True, dir_okay=False, help="File with one text a line. [made up, of 100 characters]"),
        ] = None,
        n: Annotated[int | None, typer.Option(min=1, help="How many texts are spoken. [40, or the whole file]")] = None,
        threads: Annotated[int, typer.Option(min=1, help="Threads that a render worker computes with.")] = 1,
        workers: Annotated[int, typer.Option(min=1, help="Render workers, as legato serve --workers has them.")] = 1,
        out: Annotated[Path | None, typer.Option(file_okay=False, help=OUT)] = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
    ) -> None:
        """Measure how soon a text can be heard, from the call that hands it over.

        p50, p95 and p99 end when 20 ms of samples above -45 dBFS are ready, packet when the Opus packet holding them
        is. whole_text is the same texts rendered whole, in the same run. Examples:

        `legato bench first-audio`

        `legato bench first-audio --voice heart --concurrency 4 --n 20 --json`
        """
        from adaptive.speech.workers import WorkerFailed

        chosen = _read_texts(texts, n)
        if not chosen:
            raise typer.BadParameter(f"{texts} holds no text.")
        try:
            figures = asyncio.run(
                measure(chosen, voice=voice, tier=tier, concurrency=concurrency, threads=threads, workers=workers)
            )
        except WorkerFailed as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(1) from error
        _show(figures)
        if out is not None:
            leave_figures(out, "first-audio", figures, settings=("voice", "tier", "concurrency", "threads", "n"))
        if as_json:
            typer.echo(json.dumps(figures))
        raise typer.Exit(1 if figures["failures"] else 0)
