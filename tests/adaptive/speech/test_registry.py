"""Voices by name, with a real distribution of someone else's on the path."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from adaptive.speech.registry import available, infos, load_voice

VOICE = """
from dataclasses import replace
from adaptive.speech.voices import tone
INFO = replace(tone.INFO, name="{name}", summary="Somebody else's.")
def load():
    return tone.ToneVoice(info=INFO)
"""


@pytest.fixture
def others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A distribution with a voice of its own, one that claims a name of Legato's, and one whose module is missing."""
    (tmp_path / "others_voice.py").write_text(VOICE.format(name="other"))
    (tmp_path / "others_tone.py").write_text(VOICE.format(name="impostor"))
    metadata = tmp_path / "others-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[legato.voices]\nother = others_voice:load\ntone = others_tone:load\nbroken = others_missing:load\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_knows_its_own_voices_first() -> None:
    assert list(available())[:4] == ["joe", "heart", "kumo", "tone"]


def test_tells_of_voices_without_loading_a_model() -> None:
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from adaptive.speech.registry import infos; print([i.name for i in infos()][:4]);"
            "print(sorted({'onnxruntime', 'onnx', 'torch', 'scipy'} & set(sys.modules)))",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert told.splitlines() == ["['joe', 'heart', 'kumo', 'tone']", "[]"]


def test_what_it_tells_is_complete() -> None:
    for info in infos():
        assert info.licence
        assert info.summary
        assert info.tiers
        assert available()[info.name].name == info.name


def test_finds_a_voice_of_another_distribution(others: Path) -> None:
    assert available()["other"].value == "others_voice:load"
    assert load_voice("other", progress=lambda what, done: None).info.summary == "Somebody else's."
    assert "other" in [info.name for info in infos()]


def test_a_name_of_its_own_cannot_be_taken(others: Path) -> None:
    assert load_voice("tone").info.name == "tone"
    assert "impostor" not in [info.name for info in infos()]


def test_a_voice_that_cannot_be_asked_is_left_out_and_logged(others: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        names = [info.name for info in infos()]
    assert "broken" not in names
    assert "the voice broken (others_missing:load) cannot be listed" in caplog.text


@pytest.mark.parametrize("rate", [8_000, 16_000, 22_050, 24_000, 44_100, 48_000])
def test_the_tone_speaks_at_every_rate(rate: int) -> None:
    info = load_voice(f"tone-{rate}").info
    assert (info.rate, info.frame_samples) == (rate, rate // 50)


def test_an_unknown_name_is_answered_with_the_names_there_are() -> None:
    with pytest.raises(ValueError, match=r"There is no voice 'jo'\. Installed are: joe, heart, kumo, tone"):
        load_voice("jo")


def test_progress_comes_through() -> None:
    told: list[str] = []
    load_voice("tone-8000", progress=lambda what, done: told.append(what))
    assert told == ["tone: ready"]
