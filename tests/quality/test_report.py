"""Reports: one folder, one page that needs nothing else, and two side by side."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from adaptive.audio.wav import write_wav
from quality.plots import Curve, Span, bars, changes, curves, grid, spread, timelines
from quality.report import Recording, Report, Table, compare, read, rebuild, write, write_comparison

PNG = b"\x89PNG\r\n\x1a\n"


def report(**changed: object) -> Report:
    fields: dict[str, object] = {
        "title": "A <bench>",
        "says": "What was done & how.",
        "command": "legato bench nothing --n 3",
        "settings": {"voice": "tone", "n": 3},
        "figures": {"p50_ms": 42.0, "wire_kbps": 60.5, "failures": 0, "rungs": ["12k", "24k"], "unmeasured_ms": None},
        "tables": (
            Table(
                title="Rows",
                rows=(
                    {"sender": "a", "seed": 1, "pesq": 4.0, "never": None},
                    {"sender": "b", "seed": 1, "pesq": None, "never": None},
                ),
            ),
        ),
        "seeds": (1,),
        "versions": {"python": "3"},
    }
    return Report(**{**fields, **changed})  # type: ignore[arg-type]


def test_a_folder_holds_everything_and_the_page_needs_nothing_else(tmp_path: Path) -> None:
    tone = np.sin(np.arange(4800) / 10).astype(np.float32) / 4
    write_wav(tmp_path / "heard.wav", tone, 48_000)
    recorded = report(recordings=(Recording(file="heard.wav", caption="Heard."),))
    page = write(tmp_path, recorded, pictures={"bars.png": (bars({"a": {"x": 1.0}}, title="T", y="ms").png(), "Bars.")})
    html = page.read_text()
    assert "A &lt;bench&gt;" in html
    assert "What was done &amp; how." in html
    assert set(re.findall(r'src="([^;]{5,20});', html)) == {"data:image/png", "data:audio/flac"}
    assert not re.search(r'(src|href)="(?!data:)', html), "nothing is loaded from anywhere"
    assert "<script" not in html
    assert "never" not in html, "a column without a value is left out"
    assert read(tmp_path).figures == recorded.figures
    assert (tmp_path / "bars.png").read_bytes().startswith(PNG)
    again = json.loads((tmp_path / "report.json").read_text())
    (tmp_path / "heard.wav").unlink()
    assert "heard.wav is missing" in rebuild(tmp_path).read_text()
    assert json.loads((tmp_path / "report.json").read_text()) == again


def test_a_page_of_several_recordings_plays_what_was_recorded(tmp_path: Path) -> None:
    import base64
    import io

    import soundfile

    samples = np.random.default_rng(0).uniform(-0.5, 0.5, 9600).astype(np.float32)
    write_wav(tmp_path / "heard.wav", samples, 48_000)
    html = write(tmp_path, report(recordings=(Recording(file="heard.wav", caption=""),))).read_text()
    found = re.search(r"audio/flac;base64,([^\"]+)", html)
    assert found is not None
    heard, rate = soundfile.read(io.BytesIO(base64.b64decode(found[1])))
    assert rate == 48_000
    assert np.abs(heard - samples).max() < 1e-4


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "cannot be read"),
        ("[]", "not a report of form 1"),
        ('{"form": 2}', "not a report of form 1"),
        (
            '{"form": 1, "title": "x", "tables": [], "pictures": [{}], "recordings": [], "seeds": []}',
            "lacks or misuses",
        ),
    ],
)
def test_what_is_no_report_is_said_to_be_none(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(ValueError, match=says):
        read(tmp_path)
    with pytest.raises(ValueError, match=r"There is no report\.json"):
        read(tmp_path / "none")


def test_two_reports_are_compared(tmp_path: Path) -> None:
    picture = {"same.png": (bars({"a": {"x": 1.0}}, title="T", y="ms").png(), "Same.")}
    rows = (
        {"sender": "b", "seed": 1, "pesq": 3.0},
        {"sender": "a", "seed": 1, "pesq": 4.5},
    )
    second = report(
        settings={"voice": "tone", "n": 4},
        figures={"p50_ms": 21.0, "wire_kbps": 60.5, "new_ms": 1.0},
        tables=(Table(title="Rows", rows=rows),),
    )
    write(tmp_path / "one", report(), pictures=picture)
    write(tmp_path / "two", second, pictures=picture)
    found = compare(read(tmp_path / "one"), read(tmp_path / "two"))
    assert found.settings == (("n", 3, 4),)
    assert found.changes == {"p50 ms": -50.0, "wire kb/s": 0.0}
    assert ("new_ms", None, 1.0) in found.figures
    a, b = found.tables[0].rows
    assert (a["sender"], a["seed"], a["pesq"], a["second pesq"], a["difference pesq"]) == ("a", 1, 4.0, 4.5, 0.5)
    assert (b["sender"], b["pesq"], b["second pesq"], b["difference pesq"]) == ("b", None, 3.0, None)
    html = write_comparison(tmp_path / "both", found, first=tmp_path / "one", second=tmp_path / "two").read_text()
    assert html.count("data:image/png") == 3, "both pictures, and what changed"
    assert (tmp_path / "both" / "changes.png").is_file()


def test_rows_of_one_instant_are_compared_whatever_they_say() -> None:
    one, two = (
        report(tables=(Table(title="T", rows=({"at_s": 0.0, "rung": rung, "delay_ms": delay},)),))
        for rung, delay in (("24k", 100.0), ("32k", 80.0))
    )
    (line,) = compare(one, two).tables[0].rows
    assert (line["rung"], line["second rung"]) == ("24k", "32k")
    assert line["difference delay_ms"] == -20.0


def test_every_kind_of_picture_can_be_drawn(tmp_path: Path) -> None:
    pictures = [
        curves({"a": Curve(x=[1, 2], y=[1, 4], low=[0, 3], high=[2, 5])}, title="T", x="kb/s", y="PESQ", ticks=[1, 2]),
        spread({"a": [3.0, 1.0, 2.0]}, title="T", x="ms"),
        bars({"g": {"a": 1.0, "b": None}, "h": {"a": 2.0}}, title="T", y="ms"),
        grid(["a"], ["x", "y"], [[1.0, 2.0]], title="T", x="d", y="loss", unit="PESQ"),
        changes({"p50 ms": -300.0, "wire kb/s": 4.0}, title="T"),
        timelines(
            {"lead, s": {"a": [(0, 1.0), (1, None), (2, 3.0)]}, "kb/s": {"b": [(0, 2.0)]}},
            title="T",
            spans=[Span(0, 1, "outage")],
            steps=True,
        ),
    ]
    for number, picture in enumerate(pictures):
        assert picture._repr_png_().startswith(PNG)
        picture.save(tmp_path / f"{number}.svg")
