"""What a listener who writes down what he hears makes of written forms: Whisper tiny.en, on forty rendered texts."""

import csv
import re
from pathlib import Path

import pytest

from adaptive.speech.offline import render
from adaptive.speech.reading.english import EnglishReading

from .written_forms import spaced

LARGEST = 0.05
"""Share of words that may be heard otherwise."""


def alike(text: str) -> str:
    """Compared without the places where one word may be written as two."""
    return re.sub(r"\b(?:o clock)\b", "o'clock", spaced(text)).replace(" oh ", " o ")


@pytest.mark.long
@pytest.mark.judge
@pytest.mark.voices
@pytest.mark.parametrize("voice", ["heart", "joe"])
def test_forty_texts_are_heard_as_they_are_meant(voice: str, reading: EnglishReading) -> None:
    """The listener writes numbers his own way, so his writing is read as any other before it is compared."""
    jiwer = pytest.importorskip("jiwer")
    from quality.perceptual import transcribe

    with (Path(__file__).parent / "heard.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len(rows) == 40
    wanted = [alike(row["read"]) for row in rows]
    heard = []
    for row in rows:
        rendering = render(row["written"], voice=voice)
        heard.append(alike(reading.say(transcribe(rendering.samples, rate=rendering.rate, threads=1))))
    wrong = [pair for pair in zip(wanted, heard, strict=True) if pair[0] != pair[1]]
    rate = jiwer.wer(wanted, heard)
    print(f"{voice}: WER {rate:.3f}", *wrong, sep="\n")
    assert rate <= LARGEST, wrong
