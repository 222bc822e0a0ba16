"""Help that teaches: every name that can be given is in it, and the words are the same everywhere."""

import importlib.metadata
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from adaptive.control.profiles import PROFILES
from adaptive.control.registry import available
from quality.lab import PRESETS, generated
from quality.lab.scenarios import names
from transport_webrtc import cli
from transport_webrtc.signalling.whep import CARRIERS


def told(*arguments: str) -> str:
    result = CliRunner().invoke(cli.make_app(), list(arguments), env={"COLUMNS": "300"})
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize(
    ("verb", "named"),
    [
        (
            "simulate",
            (*names(), *generated.names(), *PROFILES, "ana", "oracle", "adaptive", "fixed:32000+fec", "Examples"),
        ),
        ("listen", (*PRESETS, *PROFILES, *CARRIERS, "Examples")),
        ("serve", (*PROFILES, "adaptive", "fixed", "https://my.page", "stun:", "turn:", "Examples")),
        ("say", ("seam_r", "lag_samples", "level_db", "branch_snr_db", "nothing is written", "--every", "Examples")),
        ("voices", ("--build", "--voice", "Examples")),
        ("doctor", ("--port", "Example")),
    ],
)
def test_the_help_of_a_verb_names_what_can_be_given(verb: str, named: tuple[str, ...]) -> None:
    text = told(verb, "--help")
    for name in named:
        assert name in text, name


def test_controllers_that_come_with_legato_are_named() -> None:
    assert set(available()) <= {"adaptive", "fixed"} | {
        point.name for point in importlib.metadata.entry_points(group="legato.controllers")
    }


def options(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    for name, inner in getattr(command, "commands", {}).items():
        yield from options(inner, f"{path} {name}")
    for option in command.params:
        yield f"{path} {option.name}", option


def test_every_option_is_explained_in_a_sentence_or_more_than_a_word() -> None:
    found = dict(options(typer.main.get_command(cli.make_app()), "legato"))
    assert len(found) > 50
    for path, option in found.items():
        assert len((option.help or "").split()) >= 2, path


def test_the_version() -> None:
    assert told("--version").startswith("legato")


def test_it_starts_as_it_has_to_be_typed(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    command = tmp_path / ".venv" / "bin" / "legato"
    monkeypatch.setattr(sys, "argv", [str(command), "--help"])
    monkeypatch.setenv("PATH", "")
    monkeypatch.chdir(tmp_path)
    assert "Start with: .venv/bin/legato serve --lab" in told("--help")
    command.parent.mkdir(parents=True)
    command.write_text("")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent))
    assert "Start with: legato serve --lab" in told("--help")
