"""`legato voices`: which voices are installed, and what they are."""

import json
import textwrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from adaptive.speech.voice import VoiceInfo


_CHANGES = {"chunk": "changed at any time", "clause": "changed between clauses", "load": "fixed when it is loaded"}


def describe(info: "VoiceInfo") -> dict[str, Any]:
    """A voice as `--json` prints it. What a tier costs and how it sounds is None until it was measured here."""
    return {
        "name": info.name,
        "languages": list(info.languages),
        "licence": info.licence,
        "rate": info.rate,
        "switch": info.switch.value,
        "tiers": [{"name": tier, "cost": None, "visqol": None, "mel_lsd": None, "wer": None} for tier in info.tiers],
        "summary": info.summary,
    }


def _show(voice: dict[str, Any]) -> None:
    tiers = ", ".join(tier["name"] for tier in voice["tiers"])
    facts = [", ".join(voice["languages"]) or "no language", f"{voice['rate'] / 1000:g} kHz", f"tiers: {tiers}"]
    if len(voice["tiers"]) > 1:
        facts.append(
            {"chunk": "changed at any time", "clause": "changed between clauses"}.get(voice["switch"], "fixed")
        )
    typer.secho(voice["name"], bold=True)
    for line in ("; ".join(facts), voice["summary"], f"Licence: {voice['licence']}"):
        typer.echo(textwrap.indent(textwrap.fill(line, 96), "    "))


def register(app: typer.Typer) -> None:
    """Adds the verb."""

    @app.command()
    def voices(
        as_json: Annotated[bool, typer.Option("--json", help="Print them as one JSON object.")] = False,
    ) -> None:
        """List the installed voices with their licences, languages and precision tiers."""
        from adaptive.speech.registry import infos

        found = [describe(info) for info in infos()]
        if as_json:
            typer.echo(json.dumps({"voices": found}))
            return
        for voice in found:
            _show(voice)
