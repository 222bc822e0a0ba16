"""The seam judge on the classes that its command reports: a part of them always, all in the long tests."""

import json
from collections.abc import Callable

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from quality import seam_classes, seam_validation
from quality.seam_classes import FAULTY, GOOD, HIDDEN, Speech
from quality.seam_validation import CAUGHT, SEAMS, VOICES, rendered, validate

pytestmark = pytest.mark.voices


@pytest.fixture(scope="module")
def speech() -> dict[str, list[np.ndarray]]:
    return rendered()


def held(speech: dict[str, list[np.ndarray]], seams: int) -> None:
    rows = {row["class"]: row for row in validate(speech, seams=seams)}
    assert set(rows) == {*GOOD, *FAULTY, *HIDDEN}
    assert {row["seams"] for row in rows.values()} == {seams}
    for name in GOOD:
        assert rows[name]["flagged_125"] == 0, rows[name]
    for name in FAULTY:
        assert rows[name]["flagged_150"] >= CAUGHT, rows[name]
    for name in HIDDEN:
        assert rows[name]["flagged_150"] == 0, "a smooth fade hides it from r"
        assert rows[name]["lag_caught"] >= 0.95, rows[name]
    assert all(row["held"] for row in rows.values())


def test_a_part_of_the_seams(speech: dict[str, list[np.ndarray]]) -> None:
    held(speech, 80)


@pytest.mark.long
def test_all_the_seams(speech: dict[str, list[np.ndarray]]) -> None:
    held(speech, SEAMS)


def test_the_command_says_what_was_not_held(
    speech: dict[str, list[np.ndarray]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a fault that nobody could hear in the place of one that is heard."""
    faults: dict[str, Callable[..., seam_classes.Switch]] = {"impulses": seam_classes.untouched}
    monkeypatch.setattr(seam_validation, "FAULTY", faults)
    monkeypatch.setattr(seam_validation, "rendered", lambda: speech)
    app = typer.Typer()
    app.command()(seam_validation.main)
    result = CliRunner().invoke(app, ["--seams", "8", "--json"])
    assert result.exit_code == 1
    found = json.loads(result.stdout.splitlines()[-1])
    assert found["held"] is False
    assert [row["class"] for row in found["rows"] if not row["held"]] == ["impulses"]
    assert set(found["rows"][0]["flagged_150_by_voice"]) == set(VOICES)


def test_classes_are_what_they_say() -> None:
    time = np.arange(48_000) / 48_000
    samples = (0.3 * np.sin(2 * np.pi * 300 * time)).astype(np.float32)
    speech, chance, place = Speech.of(samples), np.random.default_rng(0), 24_000
    gone = seam_classes.dropped(speech, place, chance).heard
    np.testing.assert_array_equal(gone[place:-960], samples[place + 960 :])
    late = seam_classes.misaligned(speech, place, chance)
    assert late.lag == 24
    np.testing.assert_array_equal(late.heard[:place], samples[:place])
    hit = seam_classes.impulse(speech, place, chance).heard - samples
    assert np.flatnonzero(hit).tolist() == [place]
    assert hit[place] == pytest.approx(0.09, abs=1e-3)
