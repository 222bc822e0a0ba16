"""`--out` and `legato report`."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from transport_webrtc.bench.report import leave_figures
from transport_webrtc.cli import make_app


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(make_app(), arguments)
    assert result.exit_code == code, result.output
    return result.output


def test_a_simulation_leaves_a_report_and_two_are_compared(tmp_path: Path) -> None:
    one, two, both = (str(tmp_path / name) for name in ("one", "two", "both"))
    run("simulate", "--trace", "step24", "--seconds", "8", "--out", one)
    run("simulate", "--trace", "step24", "--seconds", "8", "--controller", "fixed:24000", "--out", two)
    left = json.loads((tmp_path / "one" / "report.json").read_text())
    assert left["settings"]["controller"] == "adaptive"
    assert len(left["tables"][0]["rows"]) >= 8
    assert {path.name for path in (tmp_path / "one").iterdir()} == {"report.json", "report.html", "simulation.png"}
    (tmp_path / "one" / "report.html").unlink()
    run("report", one)
    assert (tmp_path / "one" / "report.html").is_file()
    told = json.loads(run("report", one, two, "--out", both, "--json").splitlines()[-1])
    assert ["controller", "adaptive", "fixed:24000"] in told["settings"]
    assert Path(told["page"]) == tmp_path / "both" / "report.html"
    assert told["change_percent"]


def test_a_folder_without_a_report_is_refused_with_a_sentence(tmp_path: Path) -> None:
    assert "report.json" in run("report", str(tmp_path), code=2)


def test_a_bench_leaves_its_figures(tmp_path: Path) -> None:
    figures = {"n": 3, "voice": "tone", "p50_ms": 40.0, "legato_cpu_percent": 2.5, "ratio": None}
    leave_figures(tmp_path, "media", figures, settings=("n", "voice"))
    left = json.loads((tmp_path / "report.json").read_text())
    assert left["settings"] == {"n": 3, "voice": "tone"}
    assert left["figures"] == {"p50_ms": 40.0, "legato_cpu_percent": 2.5, "ratio": None}
    assert {picture["file"] for picture in left["pictures"]} == {"ms.png", "percent.png"}


def test_without_matplotlib_there_is_a_report_without_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    leave_figures(tmp_path, "media", {"p50_ms": 40.0}, settings=())
    assert json.loads((tmp_path / "report.json").read_text())["pictures"] == []
    assert "matplotlib" in capsys.readouterr().err
