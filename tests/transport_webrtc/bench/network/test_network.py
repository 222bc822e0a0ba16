"""The bench for real: a browser behind the link hears an aiortc track and Legato, and the rows say so."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from quality.lab import tun
from transport_webrtc.bench.network import chromium, register

PROGRAM = "from transport_webrtc.cli import main; main()"
MISSING = tun.available() or chromium.available()


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, "bench", "network", *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--senders", "zoom"), "There is no sender 'zoom'"),
        (("--scenarios", "rain"), "There is no scenario 'rain'"),
        (("--profile", "shout"), "There is no profile 'shout'"),
        (("--controller", "nobody"), "There is no controller named 'nobody'"),
    ],
)
@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
def test_what_was_asked_wrongly_is_told_before_anything_starts(arguments: tuple[str, ...], complaint: str) -> None:
    app = typer.Typer()
    app.callback()(lambda: None)
    register(app)
    answer = CliRunner().invoke(app, ["network", *arguments])
    assert answer.exit_code == 2
    assert answer.stderr.startswith(complaint)


@pytest.mark.long
@pytest.mark.browser
@pytest.mark.voices
@pytest.mark.judge
@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
def test_one_network_for_real_and_not_again_what_is_done(tmp_path: Path) -> None:
    asked = ("--senders", "fixed,legato:audio,browser", "--scenarios", "step40", "--repeats", "0", "--json")
    answer = bench(*asked, "--out", str(tmp_path))
    assert answer.returncode == 0, answer.stderr
    result = json.loads(answer.stdout.splitlines()[-1])
    rows = {row["sender"]: row for row in result["rows"]}
    assert list(rows) == ["fixed", "legato:audio", "browser"]
    for row in rows.values():
        assert row["first_audio_ms"] < 3000
        assert row["visqol"] > 2
        assert row["clock_slip"] is not None
    assert rows["fixed"]["under_capacity_ms"] is None, "48 kb/s into 40"
    assert 500 < rows["fixed"]["peak_queue_ms"] < 3000
    assert 40 < rows["fixed"]["wire_kbps"] < 55
    assert (tmp_path / "step40.png").exists()
    assert len(list(tmp_path.glob("runs/*/heard.wav"))) == 3
    again = bench(*asked, "--out", str(tmp_path), "--no-plots")
    assert json.loads(again.stdout.splitlines()[-1])["rows"] == result["rows"]
