"""`legato say` as it is called: files, figures, and sentences where it cannot."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner, Result

from adaptive.audio.wav import read_wav
from adaptive.control.plan import Bandwidth, Rung
from quality.seam_judge import LIMIT, LIMIT_DECODED, judge_seam
from transport_webrtc.cli import say

FIELDS = {
    "voice",
    "sample_rate",
    "duration_s",
    "first_audio_ms",
    "real_time_factor",
    "clauses",
    "chunks",
    "switches",
    "words",
}
SWITCH = {"at_s", "kind", "from", "to", "seam_r", "lag_samples", "level_db", "branch_snr_db"}
TEXT = (
    "Peter Piper picked a peck of pickled peppers, and nobody knows what he did with them. She had your dark suit in"
    " greasy wash water all year."
)


def legato_say(*arguments: str, stdin: str | bytes | None = None) -> Result:
    app = typer.Typer()
    say.register(app)
    return CliRunner().invoke(app, list(arguments), input=stdin)


def figures(result: Result) -> dict:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout.splitlines()[-1])


def test_it_writes_the_file_and_prints_one_object(tmp_path: Path) -> None:
    out = tmp_path / "note.wav"
    found = figures(legato_say("A steady note, held.", "-o", str(out), "--voice", "tone-24000", "--json"))
    samples, rate = read_wav(out)
    assert set(found) == FIELDS
    assert rate == found["sample_rate"] == 48_000
    assert len(samples) / rate == pytest.approx(found["duration_s"], abs=1e-4)
    assert found["clauses"] == 2
    assert [word["text"] for word in found["words"]] == ["A", "steady", "note,", "held."]
    assert all(first["start_s"] < second["start_s"] for first, second in pairwise(found["chunks"]))
    assert found["first_audio_ms"] > 0
    assert found["switches"] == []


def test_tiers_take_turns_and_every_switch_is_judged_and_kept(tmp_path: Path) -> None:
    folder = tmp_path / "branches"
    arguments = ("--voice", "tone", "--tiers", "full,light", "--every", "0.3", "--branches", str(folder), "--json")
    found = figures(legato_say("A single steady note", *arguments))
    assert len(found["switches"]) >= 3
    kept = json.loads((folder / "switches.json").read_text())
    assert len(kept) == len(found["switches"])
    for switch, files in zip(found["switches"], kept, strict=True):
        assert set(switch) == SWITCH
        assert switch["seam_r"] <= LIMIT
        assert switch["lag_samples"] == 0
        heard, old, new = (read_wav(folder / files["files"][side])[0] for side in ("heard", "old", "new"))
        again = judge_seam(heard, old, new, at=files["at_sample"], fade=files["fade_samples"])
        assert again.r == pytest.approx(switch["seam_r"], abs=0.05)
        assert again.branch_snr_db == pytest.approx(30, abs=2)


def test_text_comes_from_standard_input() -> None:
    found = figures(legato_say("-", "--voice", "tone", "--json", stdin="Piped in."))
    assert [word["text"] for word in found["words"]] == ["Piped", "in."]


def test_people_get_sentences(tmp_path: Path) -> None:
    out = tmp_path / "note.wav"
    result = legato_say("A steady note", "-o", str(out), "--voice", "tone", "--tiers", "full,light", "--every", ".3")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert f"s of speech in {out}" in result.stderr
    assert "switches of tier" in result.stderr
    assert "1 clause." in result.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("", "--voice", "tone"), "nothing to say"),
        (("...", "--voice", "tone"), "nothing to say"),
        (("Hello", "--voice", "nobody"), "nobody"),
        (("你好世界", "--voice", "heart"), "whose letters are Chinese"),
        (("Hello", "--voice", "tone", "--tiers", "full,huge", "--every", "1"), "no tier huge"),
        (("Hello", "--voice", "tone", "--tiers", "full,light"), "add --every"),
        (("Hello", "--voice", "tone", "--codec", "mp3"), "not mp3"),
        (("Hello", "--voice", "tone", "--rungs", "32000:FB"), "add --codec opus"),
        (("Hello", "--voice", "tone", "--codec", "opus", "--rungs", "fast"), "such as 32000:FB"),
        (("Hello", "--voice", "tone", "--codec", "opus", "--rungs", "32000:FB:30"), "20, 40 or 60 ms"),
        (("Hello", "--voice", "tone", "-o", "/nowhere/at/all.wav"), "the folder /nowhere/at does not exist"),
        (("Привет, как дела?", "--voice", "joe"), "joe speaks en-US and can read no word of this text"),
    ],
)
def test_what_cannot_be_done_is_a_sentence_and_exit_code_two(arguments: tuple[str, ...], sentence: str) -> None:
    result = legato_say(*arguments)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert "Traceback" not in result.output


def test_bytes_that_are_no_text_are_refused() -> None:
    result = legato_say("-", "--voice", "tone", stdin=b"\xff\xfe\x00")
    assert result.exit_code == 2
    assert "not UTF-8" in result.stderr


def test_rungs_are_read() -> None:
    assert say.parse_rungs("32000:fb, 16000:WB:40") == [
        Rung(bitrate=32_000, bandwidth=Bandwidth.FB, frame_ms=20),
        Rung(bitrate=16_000, bandwidth=Bandwidth.WB, frame_ms=40),
    ]


@pytest.mark.voices
def test_switches_of_joe_are_not_heard() -> None:
    seams = figures(legato_say(TEXT, "--tiers", "full,mixed,light", "--every", "0.3", "--json"))["switches"]
    assert len(seams) >= 20
    assert max(seam["seam_r"] for seam in seams) <= LIMIT
    assert {seam["lag_samples"] for seam in seams} == {0}
    assert max(abs(seam["level_db"]) for seam in seams) <= 1
    differences = [seam["branch_snr_db"] for seam in seams if seam["branch_snr_db"] is not None]
    assert len(differences) >= 0.9 * len(seams)
    assert np.percentile(differences, 5) >= 10
    assert max(differences) <= 60


@pytest.mark.voices
@pytest.mark.parametrize(
    ("turns", "kind", "limit"),
    [
        (("--tiers", "full,light", "--rungs", "24000:FB"), "tier", LIMIT_DECODED),
        (("--rungs", "32000:FB,16000:WB"), "rung", LIMIT),
    ],
)
def test_switches_of_joe_are_not_heard_through_opus(turns: tuple[str, ...], kind: str, limit: float) -> None:
    seams = figures(legato_say(TEXT, *turns, "--every", "0.3", "--codec", "opus", "--json"))["switches"]
    assert len(seams) >= 20
    assert {seam["kind"] for seam in seams} == {kind}
    assert max(seam["seam_r"] for seam in seams) <= limit
