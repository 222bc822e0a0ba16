"""Any Piper voice: two speakers in one file, files that are none, and languages that need espeak."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import onnx
import pytest
from hibari.voices import voice_path

from adaptive.speech.registry import load_voice, unknown_voice, voice_name
from adaptive.speech.voices.piper_config import PiperConfig
from adaptive.speech.voices.piper_reading import reader
from adaptive.speech.workers import WorkerRenderer

from .vits_files import joe_config, write_two_speakers

pytestmark = pytest.mark.voices
TEXT = "Turn left at the third corner."


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory):
    patch = pytest.MonkeyPatch()
    directory = tmp_path_factory.mktemp("two")
    patch.setenv("LEGATO_CACHE_DIR", str(directory / "cache"))
    patch.setenv("LEGATO_DEVICE", "cpu")
    yield write_two_speakers(directory)
    patch.undo()


def level_db(samples: np.ndarray) -> float:
    return 10 * np.log10(float(np.mean(np.square(samples, dtype=np.float64))))


@pytest.mark.long
def test_a_file_of_two_speakers_has_a_ladder_for_each(two: Path) -> None:
    low, high = (load_voice(f"piper:{two}#{speaker}") for speaker in ("low", "1"))
    assert (low.info.name, high.info.name) == ("two-low", "two-1")
    assert low.info.tiers == ("full", "mixed", "light")
    clauses = [voice.prepare(TEXT, seed=3) for voice in (low, high)]
    said = {
        (number, tier): clause.decode(0, clause.frames, tier=tier)
        for number, clause in enumerate(clauses)
        for tier in low.info.tiers
    }
    for number in range(2):
        full = said[number, "full"]
        assert -30 < level_db(full) < -18
        for tier in ("mixed", "light"):
            assert 8 < level_db(full) - level_db(said[number, tier] - full) < 60
    assert level_db(said[0, "full"] - said[1, "full"]) > level_db(said[0, "full"]) - 25, "one voice, not two"


def test_speakers_and_files_that_are_not_there_are_told(tmp_path: Path) -> None:
    path = tmp_path / "some.onnx"
    assert unknown_voice(f"piper:{path}") == f"There is no file {path}: the model."
    path.write_bytes(b"")
    assert "some.onnx.json" in (unknown_voice(f"piper:{path}") or "")
    path.with_name("some.onnx.json").write_text(json.dumps(joe_config()))
    with pytest.raises(ValueError, match="has no speaker 'bob'; it has 0 to 0"):
        load_voice(f"piper:{path}#bob")


def test_what_is_no_vits_export_is_refused_with_what_was_found(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("LEGATO_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "heart.onnx"
    path.with_name("heart.onnx.json").write_text(json.dumps(joe_config()))
    onnx.save(onnx.load(voice_path("heart")), str(path))
    with pytest.raises(
        ValueError, match=r"heart\.onnx: This is not a Piper VITS.* Found in it: inputs .*; nodes \d+ × "
    ):
        load_voice(f"piper:{path}")
    path.write_bytes(b"these are no protocol buffers")
    with pytest.raises(ValueError, match="is not an ONNX model"):
        load_voice(f"piper:{path}")
    path.with_name("heart.onnx.json").write_text("{}")
    with pytest.raises(ValueError, match="it has no 'phoneme_id_map'"):
        load_voice(f"piper:{path}")
    assert not [left for left in (tmp_path / "cache").iterdir() if left.is_dir()]


def test_listeners_know_a_voice_by_its_name_and_not_by_where_it_lies() -> None:
    assert voice_name("piper:/srv/voices/en_US-amy-low.onnx") == "en_US-amy-low"
    assert voice_name("piper:/srv/voices/vctk.onnx#p225") == "vctk-p225"
    assert voice_name("joe") == "joe"
    with pytest.raises(ValueError, match="the same name"):
        WorkerRenderer(voices=("piper:/a/amy.onnx", "piper:/b/amy.onnx"))


def config(tmp_path: Path, **told) -> PiperConfig:
    file = tmp_path / "voice.onnx.json"
    file.write_text(json.dumps(joe_config() | told))
    return PiperConfig.load(file)


def test_other_languages_are_read_by_espeak_where_it_is_installed(tmp_path: Path, monkeypatch) -> None:
    german = config(tmp_path, espeak={"voice": "de"}, language={"code": "de_DE"})
    monkeypatch.setitem(sys.modules, "piper.phonemize_espeak", None)
    with pytest.raises(ValueError, match=r"pip install legato-speech\[espeak\]"):
        reader(german)

    def phonemize(voice: str, text: str) -> list[list[str]]:
        assert voice == "de"
        return [list({"Guten Tag.": "ɡˈuːtən tˈɑːk.", "Zum": "tsʊm", "Tor": "tˈoːɾ"}.get(text, "tsʊmtˈoːɾ"))]

    espeak = SimpleNamespace(EspeakPhonemizer=lambda: SimpleNamespace(phonemize=phonemize))
    monkeypatch.setitem(sys.modules, "piper.phonemize_espeak", espeak)
    read = reader(german)
    assert [(word.text, word.phonemes) for word in read("Guten Tag.")] == [("Guten", "ɡˈuːtən"), ("Tag.", "tˈɑːk.")]
    assert [word.phonemes for word in read("Zum Tor")] == ["tsʊm", "tˈoːɾ"]
    marked = read("<p><b>Guten</b>&nbsp;<br/> Tag.</p>")
    assert [(word.text, word.phonemes) for word in marked] == [
        ("<p><b>Guten</b>&nbsp;<br/>", "ɡˈuːtən"),
        ("Tag.</p>", "tˈɑːk."),
    ]
    assert read("<br/>") == ()


def test_english_needs_no_espeak_and_a_model_of_letters_reads_letters(tmp_path: Path) -> None:
    british = reader(config(tmp_path, espeak={"voice": "en-gb-x-rp"}))
    assert [word.phonemes for word in british("far")] == ["fˈɑː"]
    assert [word.phonemes for word in reader(config(tmp_path))("far")] == ["fˈɑːɹ"]
    ids = {symbol: [number] for number, symbol in enumerate("_^$ abc")}
    letters = reader(config(tmp_path, phoneme_type="text", phoneme_id_map=ids))
    assert [word.phonemes for word in letters("Ab c")] == ["ab", "c"]
    assert [word.phonemes for word in letters("<i>Ab</i> c")] == ["ab", "c"]
