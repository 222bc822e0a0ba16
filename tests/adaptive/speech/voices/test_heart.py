"""Heart as it is installed: its chunks are what hibari itself makes of the whole clause."""

import itertools

import numpy as np
import pytest
from hibari import dsp
from hibari.voices import voice_path
from numpy.typing import NDArray

from adaptive.speech.voices.heart import GAIN, HeartVoice, with_durations
from adaptive.speech.voices.heart_sound import HeartSound
from adaptive.speech.voices.loudness import level
from adaptive.speech.voices.sessions import open_session
from adaptive.ticks import TICK_RATE

pytestmark = pytest.mark.voices

TEXT = "Turn left at the third corner, then go straight for 2 miles."
HOP = 300


class Drawn:
    """A generator that says what was drawn already, in the order in which hibari draws."""

    def __init__(self, noise: NDArray[np.complex64]) -> None:
        self._noise = noise

    def standard_normal(self, shape: tuple[int, int], dtype: type) -> NDArray[np.float32]:
        drawn: NDArray[np.float32] = np.ascontiguousarray(self._noise.T).view(dtype)
        assert drawn.shape == shape
        return drawn


def test_sounds_as_hibari_does_whatever_it_is_cut_into(rng: np.random.Generator) -> None:
    session = open_session(with_durations(voice_path("heart")))
    ids = rng.integers(43, 160, (1, 30))
    *outputs, durations = session.run(None, {"ids": ids, "speed": np.array([1], np.float32)})
    outputs = [output[0] for output in outputs]
    sound = HeartSound(outputs, seed=5)
    expected = dsp.synth(*outputs, rng=Drawn(sound.noise(0, sound.frames)))
    edges = [0, 1, 2, 20, 21, 50, sound.frames]
    pieces = [sound.samples(start, stop) for start, stop in itertools.pairwise(edges)]
    assert np.abs(np.concatenate(pieces) - expected).max() < 1e-6
    assert durations.sum() * 2 == sound.frames


def test_how_a_clause_is_cut_is_not_in_its_samples(heart: HeartVoice, cut) -> None:
    clause = heart.prepare(TEXT, seed=1)
    whole = clause.decode(0, clause.frames, tier="full")
    assert np.abs(cut(clause, "full", HOP, 9) - whole).max() < 1e-6


def test_a_seed_decides(heart: HeartVoice) -> None:
    first, again, other = (heart.prepare(TEXT, seed=seed).decode(0, 80, tier="full") for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_words_are_where_they_sound(heart: HeartVoice) -> None:
    clause = heart.prepare(TEXT)
    assert [word.text for word in clause.words] == TEXT.split()
    edges = [edge for word in clause.words for edge in (word.start, word.end)]
    assert edges == sorted(edges)
    assert edges[-1] <= clause.frames * TICK_RATE / 80
    assert not any(word.estimated for word in clause.words)
    samples = clause.decode(0, clause.frames, tier="full")
    corner = next(word for word in clause.words if word.text == "corner,")
    then = next(word for word in clause.words if word.text == "then")
    onset = 0.04 * TICK_RATE  # a soft consonant sounds a little before the network counts it
    said, pause = (
        samples[int(start) // 2 : int(end) // 2]
        for start, end in ((corner.start, corner.end), (corner.end, then.start - onset))
    )
    assert len(pause) > 1000
    assert np.mean(pause**2) < np.mean(said**2) / 10


def test_faster_is_shorter(heart: HeartVoice) -> None:
    assert heart.prepare(TEXT, speed=1.5).frames < 0.8 * heart.prepare(TEXT).frames
    with pytest.raises(ValueError, match="speed must be between"):
        heart.prepare(TEXT, speed=9)


def test_has_one_tier_and_says_so(heart: HeartVoice) -> None:
    clause = heart.prepare("Yes.")
    with pytest.raises(ValueError, match="heart has no tier 'light': it has full"):
        clause.decode(0, 1, tier="light")
    with pytest.raises(ValueError, match="are not in a clause of"):
        clause.decode(clause.frames, 1, tier="full")


def test_what_cannot_be_said_has_no_frames(heart: HeartVoice) -> None:
    silent = heart.prepare("👍 你好")
    assert silent.frames == 0
    assert [word.text for word in silent.words] == ["👍", "你好"]
    assert len(silent.decode(0, 0, tier="full")) == 0


def test_is_as_loud_as_joe(heart: HeartVoice, joe) -> None:
    def loudness(voice) -> float:
        clause = voice.prepare(TEXT, seed=3)
        samples = clause.decode(0, clause.frames, tier="full")
        return 10 * np.log10(np.mean(samples[np.abs(samples) > 0.01] ** 2))

    assert abs(loudness(heart) - loudness(joe)) < 3


def test_the_limiter_bends_peaks_and_nothing_else(rng: np.random.Generator) -> None:
    samples = rng.uniform(-2, 2, 1000).astype(np.float32)
    bent = level(samples, GAIN)
    assert np.abs(bent).max() <= 1
    quiet = np.abs(samples * np.float32(GAIN)) <= 0.7
    assert np.array_equal(bent[quiet], samples[quiet] * np.float32(GAIN))
    order = np.argsort(samples)
    assert np.all(np.diff(bent[order]) >= 0)
