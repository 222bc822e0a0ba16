"""A voice from somebody else's distribution, installed as they would install it: it is listed, and it speaks."""

import json
import os
import subprocess
import sys
import wave
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "example_voice"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which it is installed."""
    target, source = tmp_path_factory.mktemp("installed"), tmp_path_factory.mktemp("source")
    for file in EXAMPLE.glob("*.*"):
        (source / file.name).write_bytes(file.read_bytes())
    install = "-m pip -q --disable-pip-version-check install --no-deps --no-index --no-build-isolation --target"
    subprocess.run([sys.executable, *install.split(), str(target), str(source)], check=True)
    path = os.pathsep.join(filter(None, (str(target), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path}


def legato(environment: dict[str, str], *arguments: str) -> dict:
    command = [sys.executable, "-c", "from transport_webrtc.cli import main; main()", *arguments, "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_it_is_listed(installed: dict[str, str]) -> None:
    voices = {voice["name"]: voice for voice in legato(installed, "voices")["voices"]}
    assert voices["chime"]["switch"] == "clause"
    assert [tier["name"] for tier in voices["chime"]["tiers"]] == ["full", "light"]


def test_it_speaks_and_changes_its_tier_between_clauses(installed: dict[str, str], tmp_path: Path) -> None:
    heard = tmp_path / "chime.wav"
    told = legato(
        installed,
        "say",
        "One two three. Four five six.",
        "--voice",
        "chime",
        "--tiers",
        "full,light",
        "--every",
        "0.8",
        "-o",
        str(heard),
    )
    assert told["clauses"] == 2
    assert {chunk["tier"] for chunk in told["chunks"]} == {"full", "light"}
    assert told["switches"] == []  # between clauses there is no seam
    with wave.open(str(heard)) as file:
        assert file.getnframes() / file.getframerate() == pytest.approx(told["duration_s"], abs=0.05)
    assert told["duration_s"] > 6 * 0.3
