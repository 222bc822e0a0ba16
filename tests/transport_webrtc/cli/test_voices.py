"""`legato voices` lists what is installed without loading it."""

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from transport_webrtc.cli import make_app

SCRIPT = (
    "import sys, typer; from transport_webrtc.cli import voices; app = typer.Typer(); voices.register(app); "
    "app(standalone_mode=False); print(sorted({'torch', 'onnxruntime', 'aiortc'} & set(sys.modules)), file=sys.stderr)"
)


def test_json_has_every_voice_with_its_tiers_and_loads_no_model(tmp_path):
    environment = {**os.environ, "LEGATO_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", SCRIPT, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert done.stderr.splitlines()[-1] == "[]"
    (line,) = done.stdout.splitlines()
    voices = {voice["name"]: voice for voice in json.loads(line)["voices"]}
    assert set(voices) >= {"joe", "heart", "tone"}
    joe = voices["joe"]
    assert (joe["rate"], joe["switch"], joe["languages"]) == (22_050, "chunk", ["en-US"])
    assert [tier["name"] for tier in joe["tiers"]] == ["full", "mixed", "light"]
    assert joe["tiers"][0]["cost"] is None
    assert voices["heart"]["licence"].startswith("Apache-2.0")


def test_people_get_a_list():
    import typer

    from transport_webrtc.cli import voices

    app = typer.Typer()
    voices.register(app)
    result = CliRunner().invoke(app, [])
    assert result.exit_code == 0
    assert "joe" in result.stdout
    assert "changed at any time" in result.stdout
    assert "Licence: Apache-2.0" in result.stdout
    assert "joe (speaks unless asked otherwise)" in result.stdout
    assert "null" not in result.stdout


def test_files_are_built_ahead(tmp_path, monkeypatch):
    monkeypatch.setenv("LEGATO_CACHE_DIR", str(tmp_path))
    result = CliRunner().invoke(make_app(), ["voices", "--build", "--voice", "tone", "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {"ready": ["tone"], "cache": str(tmp_path)}
    assert "tone: is ready" in result.stderr
    result = CliRunner().invoke(make_app(), ["voices", "--build", "--voice", "bob"])
    assert result.exit_code == 2
    assert "no voice 'bob'" in result.stderr


def _not_installed(*args, **options):
    raise ImportError("no judge")


@pytest.mark.voices
def test_what_was_measured_is_listed_and_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("LEGATO_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("quality.tiers.visqol_audio", lambda *args, **options: 4.5)
    monkeypatch.setattr("quality.tiers.word_error_rate", _not_installed)
    result = CliRunner().invoke(make_app(), ["voices", "calibrate", "--voice", "heart", "--json"])
    assert result.exit_code == 0, result.output
    assert "heart: what its tiers cost\nheart: how full sounds\n" in result.stderr
    (heart,) = json.loads(result.stdout.splitlines()[-1])["voices"]
    (tier,) = heart["tiers"]
    assert 0 < tier["cost"] < 1
    assert [length["frames"] for length in tier["lengths"]] == sorted(length["frames"] for length in tier["lengths"])
    assert (tier["mel_lsd"], tier["visqol"], tier["wer"]) == (0, 4.5, None)
    listed = CliRunner().invoke(make_app(), ["voices", "--voice", "heart", "--json"])
    assert json.loads(listed.stdout)["voices"][0]["tiers"] == heart["tiers"]
    assert CliRunner().invoke(make_app(), ["voices", "celebrate"]).exit_code == 2


@pytest.mark.voices
def test_built_files_of_joe_are_found_again(tmp_path, monkeypatch):
    monkeypatch.setenv("LEGATO_CACHE_DIR", str(tmp_path))
    result = CliRunner().invoke(make_app(), ["voices", "--build", "--voice", "joe"])
    assert result.exit_code == 0
    assert "joe: making the tier light" in result.stderr
    assert list(tmp_path.glob("joe-*/manifest.json"))
    again = CliRunner().invoke(make_app(), ["voices", "--build", "--voice", "joe"])
    assert "making" not in again.stderr
