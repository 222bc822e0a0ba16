"""Words begin when voices say that they do: against where an aligner hears them, and against its own error.

The aligner is PocketSphinx, which is told the words and finds them to 10 ms. Its own error is measured on joe's words
spoken one by one and put one behind the other at known times. (Whisper's word times are no measure: on those its own
error is 66 ms in the median and 300 ms at the 95th percentile.)
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import islice

import numpy as np
import pytest
from scipy.signal import resample_poly

from adaptive.speech.offline import render
from adaptive.ticks import to_seconds
from transport_webrtc.bench.texts import sentences

pytestmark = [pytest.mark.voices, pytest.mark.long]

RATE = 16_000
SENTENCES = 20
ONSET = 10 ** (-48 / 20)
MEDIAN_S, P95_S = 0.060, 0.120
BIAS_S = 0.015
"""Of a voice's starts, once the aligner's own is taken away."""

Placed = Sequence[tuple[str, float]]
"""Words and when they begin, s."""


def key(word: str) -> str:
    return re.sub(r"[^\w']", "", word.lower()).strip("'")


def heard_at_16k(text: str, voice: str = "joe") -> tuple[np.ndarray, Placed]:
    rendering = render(text, voice=voice)
    words = [(key(word.text), to_seconds(word.start)) for word in rendering.words]
    return resample_poly(rendering.samples, 1, 3).astype(np.float32), words


def aligned(samples: np.ndarray, words: Sequence[str]) -> Placed:
    pocketsphinx = pytest.importorskip("pocketsphinx")
    decoder = pocketsphinx.Decoder(samprate=RATE, loglevel="FATAL")
    decoder.set_align_text(" ".join(words))
    decoder.start_utt()
    decoder.process_raw((np.clip(samples, -1, 1) * 32_767).astype(np.int16).tobytes(), full_utt=True)
    decoder.end_utt()
    if decoder.hyp() is None:
        return []
    frame_s = 1 / decoder.config["frate"]
    return [(re.sub(r"\(\d+\)", "", part.word), part.start_frame * frame_s) for part in decoder.seg()]


def errors(claimed: Placed, true: Placed) -> Iterator[float]:
    matcher = SequenceMatcher(a=[word for word, _ in claimed], b=[word for word, _ in true], autojunk=False)
    for begin, other, count in matcher.get_matching_blocks():
        for step in range(count):
            yield claimed[begin + step][1] - true[other + step][1]


@cache
def alone(word: str) -> np.ndarray:
    samples, _ = heard_at_16k(word + ".")
    sounding = np.flatnonzero(np.abs(samples) > ONSET)
    return samples[sounding[0] : sounding[-1] + 1]


def one_by_one(text: str, random: np.random.Generator) -> tuple[np.ndarray, Placed]:
    """The words of `text`, with up to 30 ms between them and 200 ms behind a comma."""
    parts, placed = [np.zeros(4_800)], []
    for word in text.split():
        placed.append((key(word), sum(map(len, parts)) / RATE))
        gap = random.uniform(0, 0.03) + 0.2 * word.endswith(",")
        parts += [alone(key(word)), np.zeros(round(gap * RATE))]
    samples = np.concatenate([*parts, np.zeros(4_800)])
    return (samples + 1e-4 * random.standard_normal(len(samples))).astype(np.float32), placed


def told(name: str, found: Sequence[float]) -> None:
    size = np.abs(found)
    print(
        f"{name}: {len(found)} words, {np.median(size):.3f} s off in the median, {np.percentile(size, 95):.3f} s at"
        f" the 95th percentile, {np.median(found):+.3f} s on the whole"
    )


@pytest.fixture(scope="module")
def own() -> list[float]:
    """The aligner's errors on words put where they are."""
    random = np.random.default_rng(3)
    found: list[float] = []
    for text in islice(sentences(5), SENTENCES):
        samples, placed = one_by_one(text, random)
        found += errors(aligned(samples, [word for word, _ in placed]), placed)
    told("the aligner against words put where they are", found)
    assert len(found) > 15 * SENTENCES
    return found


@pytest.mark.parametrize("voice", ["joe", "heart", "kumo"])
def test_words_begin_when_they_are_heard_to(voice: str, own: list[float]) -> None:
    off: list[float] = []
    for text in islice(sentences(5), SENTENCES):
        samples, words = heard_at_16k(text, voice)
        off += errors(words, aligned(samples, [word for word, _ in words]))
    told(f"{voice} against the aligner", off)
    assert len(off) > 15 * SENTENCES
    assert np.median(np.abs(off)) <= MEDIAN_S
    assert np.percentile(np.abs(off), 95) <= P95_S
    assert abs(np.median(off) + np.median(own)) <= BIAS_S
