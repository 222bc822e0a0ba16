"""A report opened from a file in a real Chromium."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adaptive.audio.wav import write_wav
from quality.plots import bars
from quality.report import Recording, Report, Table, compare, read, write, write_comparison

pytestmark = [pytest.mark.browser, pytest.mark.alone]


def test_it_opens_from_a_file_shows_its_pictures_plays_its_recording_and_complains_of_nothing(
    browsers: Callable[[str], Any], tmp_path: Path
) -> None:
    tone = (np.sin(np.arange(48_000) / 20) / 4).astype(np.float32)
    for name, opinion in (("one", 3.0), ("two", 4.0)):
        folder = tmp_path / name
        folder.mkdir()
        write_wav(folder / "heard.wav", tone, 48_000)
        report = Report(
            title="A run",
            says="What was done.",
            command="legato simulate --out run",
            figures={"mean_opinion": opinion, "mean_delay_ms": 120.5},
            tables=(Table(title="Rows", rows=({"sender": "a", "pesq": opinion},)),),
            recordings=(Recording(file="heard.wav", caption="What was heard."),),
        )
        picture = bars({"a": {"": opinion}}, title="Opinion", y="opinion, 1 to 4.5")
        write(folder, report, pictures={"opinion.png": (picture.png(), "Opinion.")})
    both = compare(read(tmp_path / "one"), read(tmp_path / "two"))
    write_comparison(tmp_path / "both", both, first=tmp_path / "one", second=tmp_path / "two")
    complaints: list[str] = []
    page = browsers("no-user-gesture-required").new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: request.url.startswith(("file:", "data:")) or complaints.append(request.url))
    page.goto((tmp_path / "one" / "report.html").as_uri())
    assert page.title() == "A run"
    assert page.evaluate("[...document.images].every((image) => image.complete && image.naturalWidth > 300)")
    sound = page.evaluate(
        "async () => { const a = document.querySelector('audio'); await a.play(); return [a.duration, a.error]; }"
    )
    assert sound == [pytest.approx(1.0, abs=0.01), None]
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "a narrow screen shows all of it"
    page.goto((tmp_path / "both" / "report.html").as_uri())
    assert page.evaluate("document.images.length") == 3
    assert "+33.3 %" not in page.inner_text("main"), "the change is in the picture"
    assert page.inner_text("table >> nth=0").startswith("figure")
    page.close()
    assert complaints == []
