"""`legato voices`: which voices are installed, what they are, and their files built ahead of time."""

import json
import os
import textwrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .calibrating import calibrate, show, tier_figures
from .words import JSON, Device

if TYPE_CHECKING:
    from adaptive.speech.calibration.figures import Calibration
    from adaptive.speech.voice import VoiceInfo

_CHANGES = {"chunk": "changed at any time", "clause": "changed between clauses", "load": "fixed when it is loaded"}
WHY_JOE = (
    "joe speaks unless asked otherwise because its tier can change from one chunk to the next, in the middle of a"
    " sentence. Where that does not matter take heart, which is cheaper: legato serve --voices heart."
)


def describe(info: "VoiceInfo", calibration: "Calibration | None" = None) -> dict[str, Any]:
    """A voice as `--json` prints it. What a tier costs and how it sounds is None until it was measured here."""
    from adaptive.speech.calibration.files import kept

    calibration = calibration or kept(info.name)
    if calibration is not None:
        left_out = calibration.ladder()[1]
        tiers = [tier_figures(tier, left_out) for tier in calibration.tiers]
    else:
        tiers = [{"name": tier, "cost": None, "visqol": None, "mel_lsd": None, "wer": None} for tier in info.tiers]
    return {
        "name": info.name,
        "languages": list(info.languages),
        "licence": info.licence,
        "rate": info.rate,
        "switch": info.switch.value,
        "tiers": tiers,
        "summary": info.summary,
    }


def _show(voice: dict[str, Any], *, default: bool) -> None:
    tiers = ", ".join(
        tier["name"] + ("" if tier["cost"] is None else f" {tier['cost']:.3f} s")
        for tier in voice["tiers"]
        if not tier.get("left_out")
    )
    facts = [", ".join(voice["languages"]) or "any language", f"{voice['rate'] / 1000:g} kHz", f"tiers: {tiers}"]
    if len(voice["tiers"]) > 1:
        facts.append(_CHANGES[voice["switch"]])
    typer.echo(typer.style(voice["name"], bold=True) + (" (speaks unless asked otherwise)" if default else ""))
    for line in ("; ".join(facts), voice["summary"], f"Licence: {voice['licence']}"):
        typer.echo(textwrap.indent(textwrap.fill(line, 96), "    "))


def _show_all(voices: list[dict[str, Any]]) -> None:
    from ..settings import Settings

    names = [voice["name"] for voice in voices]
    for voice in voices:
        _show(voice, default=voice["name"] == Settings.model_fields["voice"].default)
    if {"joe", "heart"} <= set(names):
        typer.echo(textwrap.fill(WHY_JOE, 100))


def build(names: list[str]) -> list[str]:
    """Loads each of them, which builds the files of those that need any; a bar for each. Returns those that are ready.

    Raises ValueError for an unknown name, ModelFilesError.
    """
    from adaptive.speech.registry import load_voice

    from .progress import VoiceProgress

    progress = VoiceProgress(names)
    progress.start()
    try:
        for name in names:
            load_voice(name, progress=progress)
            progress.ready(name)
    finally:
        progress.close()
    return names


def _calibrate(names: list[str], *, again: bool, as_json: bool) -> None:
    from adaptive.speech.voices.model_files import ModelFilesError

    try:
        measured = calibrate(names, again=again)
    except (ValueError, ModelFilesError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    if as_json:
        typer.echo(json.dumps({"voices": [describe(*one) for one in measured.values()]}))
        return
    for name, (_, calibration) in measured.items():
        show(name, calibration)


def register(app: typer.Typer) -> None:
    """Adds the verb."""

    @app.command()
    def voices(
        what: Annotated[
            str | None,
            typer.Argument(help="calibrate: measure what each tier costs here, and how it sounds.", show_default=False),
        ] = None,
        again: Annotated[
            bool, typer.Option("--again", help="With calibrate: measure also what was measured before.")
        ] = False,
        to_build: Annotated[
            bool,
            typer.Option("--build", help="Build now the files that voices otherwise build on their first use."),
        ] = False,
        voice: Annotated[
            str | None, typer.Option(help="Only this one, by its name or as piper:FILE.onnx; all of them by default.")
        ] = None,
        device: Annotated[
            Device | None, typer.Option(help="Where models compute that have a choice. [LEGATO_DEVICE, or auto]")
        ] = None,
        as_json: Annotated[bool, typer.Option("--json", help=JSON)] = False,
    ) -> None:
        """List the installed voices with their licences, languages and tiers, or build their files.

        A tier is a precision at which the voice computes; seconds beside it are CPU time for a second of speech in
        chunks of .4 s, once `legato voices calibrate` has measured them. Examples:

        `legato voices`

        `legato voices calibrate --voice joe`

        `legato voices --build` (before the first start, in a container's image)
        """
        from adaptive.speech.registry import infos, unknown_voice
        from adaptive.speech.voices.model_files import ModelFilesError, cache_root

        if what not in (None, "calibrate"):
            typer.echo(f"legato voices knows one word, calibrate, and not {what!r}.", err=True)
            raise typer.Exit(2)
        if device is not None:
            os.environ["LEGATO_DEVICE"] = device
        found = [describe(info) for info in infos() if voice in (None, info.name)]
        if voice is not None and (sentence := unknown_voice(voice)) is not None:
            typer.echo(sentence, err=True)
            raise typer.Exit(2)
        if what == "calibrate":
            _calibrate([voice] if voice is not None else [one["name"] for one in found], again=again, as_json=as_json)
            return
        if not to_build:
            typer.echo(json.dumps({"voices": found})) if as_json else _show_all(found)
            return
        try:
            built = build([voice] if voice is not None else [one["name"] for one in found])
        except ModelFilesError as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(1) from None
        if as_json:
            typer.echo(json.dumps({"ready": built, "cache": str(cache_root())}))
        else:
            typer.echo(f"Ready: {', '.join(built)}. Their files are in {cache_root()}.")
