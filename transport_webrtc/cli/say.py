"""`legato say`: speaks a text into a WAV file, the whole way without a network, and judges every switch on it."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .files import check_writable
from .words import JSON, VOICE, Device, counted

if TYPE_CHECKING:
    from adaptive.control.plan import Rung
    from adaptive.speech.offline import Rendering, Switch
    from adaptive.speech.voice import Voice
    from quality.seam_judge import Seam

BAD_INPUT = 2
"""Exit code for what the caller can put right."""
FAILED = 1
"""… and for what they cannot."""
FRAMES_MS = (20, 40, 60)


def register(app: typer.Typer) -> None:
    """Adds the verb."""

    @app.command()
    def say(
        text: Annotated[str, typer.Argument(help="What to say; - reads it from standard input.")],
        out: Annotated[
            Path | None,
            typer.Option("--out", "-o", help="WAV file to write, 48 kHz mono. Without it nothing is written."),
        ] = None,
        voice: Annotated[str, typer.Option(help=VOICE)] = "joe",
        tiers: Annotated[
            str | None,
            typer.Option(
                help="Tiers of precision, best first in `legato voices`. Several take turns, such as full,light, and"
                " need --every."
            ),
        ] = None,
        every: Annotated[
            float | None, typer.Option(help="Seconds from one turn of tiers or rungs to the next, such as 0.4.")
        ] = None,
        codec: Annotated[str, typer.Option(help="none, or opus: through encoder and decoder.")] = "none",
        rungs: Annotated[
            str | None,
            typer.Option(
                help="Rungs of Opus, bit/s:bandwidth[:ms] with the bandwidths NB, MB, WB, SWB and FB; needs --codec"
                " opus. Several take turns, such as 32000:FB,16000:WB, and need --every."
            ),
        ] = None,
        branches: Annotated[
            Path | None,
            typer.Option(help="Folder for WAV files of what was heard around each switch, and of both its branches."),
        ] = None,
        speed: Annotated[float, typer.Option(help="0.25 to 4; above 1 speaks faster.")] = 1.0,
        device: Annotated[
            Device | None, typer.Option(help="Where models compute that have a choice. [LEGATO_DEVICE, or auto]")
        ] = None,
        seed: Annotated[int, typer.Option(help="The same seed gives the same samples.")] = 0,
        as_json: Annotated[bool, typer.Option("--json", help=JSON)] = False,
    ) -> None:
        """Speak a text into a file, and judge every switch of tier or rung on the way.

        Speech goes the way it takes to a listener: clause by clause, chunk by chunk, seams crossfaded, through Opus
        where asked. Each switch is compared with its two branches, the same speech had it not switched:

        - seam_r: how much the joint sticks out of the speech around it; up to 1.25 is not heard (2.0 after Opus).
        - lag_samples: how far the two branches are apart in time; 0 is aligned.
        - level_db: how much louder the new branch is than the old one; within 1 dB is not heard.
        - branch_snr_db: how much the branches differ at all; none where they are the same.

        Without `-o` nothing is written and the figures alone are shown. Examples:

        `legato say "Turn left at the bridge." -o left.wav`

        `legato say - -o story.wav --tiers full,light --every 0.4 --json < story.txt`

        `legato say "Hello there." -o hello.wav --codec opus --rungs 32000:FB,16000:WB --every 1`
        """
        if device is not None:
            os.environ["LEGATO_DEVICE"] = device
        try:
            turns = [tier.strip() for tier in tiers.split(",")] if tiers else None
            operating_points = parse_rungs(rungs) if rungs else None
            _check_turns(turns, operating_points, every=every, codec=codec)
            check_writable(out)
            spoken = _read(text, voice)
            figures = run(
                spoken,
                out=out,
                voice=_load(voice),
                branches=branches,
                tiers=turns,
                every_s=every,
                codec=codec,
                rungs=operating_points,
                speed=speed,
                seed=seed,
            )
        except ValueError as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(BAD_INPUT) from None
        except OSError as error:
            typer.echo(f"{error.filename or out} cannot be written: {error.strerror}.", err=True)
            raise typer.Exit(BAD_INPUT) from None
        if as_json:
            typer.echo(json.dumps(figures))
        else:
            _show(figures, out)


def run(text: str, *, out: Path | None, voice: "Voice", branches: Path | None, **options: Any) -> dict[str, Any]:
    """Speaks and writes; `options` are those of `adaptive.render`. Returns the figures that `--json` prints.

    Raises ValueError for what cannot be spoken so, OSError for what cannot be written.
    """
    from adaptive.audio.wav import write_wav
    from adaptive.speech.offline import render

    rendering = render(text, voice=voice, **options)
    for notice in rendering.notices:
        typer.echo(notice, err=True)
    seams = [judge(switch, rendering.rate) for switch in rendering.switches]
    if out is not None:
        write_wav(out, rendering.samples, rendering.rate)
    if branches is not None:
        _write_branches(branches, rendering, seams)
    return describe(rendering, seams)


def judge(switch: "Switch", rate: int) -> "Seam":
    """The judgement on a switch, by its kind."""
    from quality.seam_judge import judge_codec_seam, judge_seam

    heard, old, new, at = switch.heard, switch.old, switch.new, switch.at - switch.start
    if switch.kind == "rung":
        return judge_codec_seam(heard, old, new, at=at, rate=rate)
    return judge_seam(heard, old, new, at=at, fade=switch.fade, rate=rate)


def describe(rendering: "Rendering", seams: Sequence["Seam"]) -> dict[str, Any]:
    """The figures as `--json` prints them; what was not measured is None."""
    rate = rendering.rate
    first_audio_s, factor = rendering.first_audio_s, rendering.real_time_factor
    return {
        "voice": rendering.voice.name,
        "sample_rate": rate,
        "duration_s": round(rendering.duration_s, 4),
        "first_audio_ms": None if first_audio_s is None else round(1000 * first_audio_s, 2),
        "real_time_factor": None if factor is None else round(factor, 4),
        "clauses": len(rendering.clauses),
        "chunks": [
            {
                "start_s": round(chunk.start / rate, 5),
                "frames": chunk.frames,
                "tier": chunk.tier,
                "render_ms": round(1000 * chunk.render_s, 2),
            }
            for chunk in rendering.chunks
        ],
        "switches": [_describe(*pair, rate) for pair in zip(rendering.switches, seams, strict=True)],
        "words": [
            {
                "text": word.text,
                "start_s": round(word.start / rate, 4),
                "end_s": round(word.end / rate, 4),
                "estimated": word.estimated,
            }
            for word in rendering.words
        ],
    }


def _describe(switch: "Switch", seam: "Seam", rate: int) -> dict[str, Any]:
    return {
        "at_s": round(switch.at / rate, 5),
        "kind": switch.kind,
        "from": switch.before,
        "to": switch.after,
        "seam_r": round(seam.r, 3),
        "lag_samples": seam.lag_samples,
        "level_db": round(seam.level_db, 2),
        "branch_snr_db": None if seam.branch_snr_db is None else round(seam.branch_snr_db, 1),
    }


def parse_rungs(text: str) -> list["Rung"]:
    """`32000:FB,16000:WB:40`: bit/s, bandwidth and, where it is not 20, milliseconds of a frame. Raises ValueError."""
    from adaptive.control.plan import Bandwidth, Rung

    rungs = []
    for item in text.split(","):
        bitrate, _, rest = item.strip().partition(":")
        bandwidth, _, frame_ms = rest.partition(":")
        try:
            rung = Rung(bitrate=int(bitrate), bandwidth=Bandwidth(bandwidth.upper()), frame_ms=int(frame_ms or 20))
        except ValueError:
            raise ValueError(
                f"A rung is bit/s:bandwidth[:ms], such as 32000:FB or 16000:WB:40, not {item!r}."
            ) from None
        if rung.frame_ms not in FRAMES_MS or not 500 <= rung.bitrate <= 512_000:
            raise ValueError(f"A rung has 500 to 512000 bit/s and frames of 20, 40 or 60 ms, unlike {item!r}.")
        rungs.append(rung)
    return rungs


def _check_turns(tiers: list[str] | None, rungs: list["Rung"] | None, *, every: float | None, codec: str) -> None:
    """Raises ValueError for options that need another one."""
    if rungs and codec == "none":
        raise ValueError("--rungs are rungs of Opus: add --codec opus.")
    for option, turns in (("--tiers", tiers), ("--rungs", rungs)):
        if len(turns or ()) > 1 and every is None:
            raise ValueError(
                f"Several {option} take turns: add --every with the seconds of a turn, such as --every 0.4."
            )


def _read(text: str, voice: str) -> str:
    """The text itself or what standard input holds. Raises ValueError where that is nothing `voice` can say."""
    from adaptive.speech.registry import infos
    from adaptive.speech.scripts import unreadable
    from adaptive.speech.text import speakable

    if text == "-":
        try:
            text = sys.stdin.buffer.read().decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"The text on standard input is not UTF-8 (byte {error.start}).") from None
    if not speakable(text):
        raise ValueError("There is nothing to say: the text holds no letter and no digit.")
    for info in infos():
        if info.name == voice and (sentence := unreadable(text, info)) is not None:
            raise ValueError(sentence)
    return text


def _load(name: str) -> "Voice":
    """The voice, loaded and warm; what it builds on first use is told on standard error."""
    from rich.console import Console

    from adaptive.speech.registry import load_voice
    from adaptive.speech.voices.model_files import ModelFilesError

    with Console(stderr=True).status(f"Loading {name} …") as status:
        try:
            voice = load_voice(name, progress=lambda what, share: status.update(f"{what} {share:.0%}"))
            voice.warm()
        except ModelFilesError as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(FAILED) from None
    return voice


def _write_branches(folder: Path, rendering: "Rendering", seams: Sequence["Seam"]) -> None:
    """Three WAV files a switch, and `switches.json` that says where in them it lies."""
    from adaptive.audio.wav import write_wav

    folder.mkdir(parents=True, exist_ok=True)
    index = []
    for number, (switch, seam) in enumerate(zip(rendering.switches, seams, strict=True)):
        sides = {"heard": switch.heard, "old": switch.old, "new": switch.new}
        files = {side: f"{number:03d}-{switch.kind}-{side}.wav" for side in sides}
        for side, samples in sides.items():
            write_wav(folder / files[side], samples, rendering.rate)
        place = {"at_sample": switch.at - switch.start, "fade_samples": switch.fade}
        index.append({**_describe(switch, seam, rendering.rate), **place, "files": files})
    (folder / "switches.json").write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")


def _show(figures: dict[str, Any], out: Path | None) -> None:
    """For people, on standard error: the file, the times, the worst switch."""
    where = f" in {out}" if out else ""
    clauses = counted(figures["clauses"], "clause")
    typer.echo(f"{figures['duration_s']:.2f} s of speech{where}, {clauses}.", err=True)
    if figures["first_audio_ms"] is not None:
        typer.echo(
            f"First audio after {figures['first_audio_ms']:.0f} ms; "
            f"{figures['real_time_factor']:.3f} s of rendering for a second of speech.",
            err=True,
        )
    for kind in ("tier", "rung"):
        if switches := [switch for switch in figures["switches"] if switch["kind"] == kind]:
            worst = max(switch["seam_r"] for switch in switches)
            many = counted(len(switches), "switch", "switches")
            typer.echo(f"{many} of {kind}, the worst with seam_r {worst:.2f}.", err=True)
    if out is None:
        typer.echo("No file was written; -o hello.wav writes one.", err=True)
