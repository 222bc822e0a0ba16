import numpy as np
import pytest

from adaptive.speech.voices.tone import RATES, load
from adaptive.ticks import TICK_RATE

TEXT = "one two  three"


@pytest.mark.parametrize("rate", RATES)
def test_is_a_sine_to_the_last_sample(rate: int) -> None:
    voice = load(rate=rate)
    clause = voice.prepare(TEXT)
    samples = clause.decode(0, clause.frames, tier="full")
    assert len(samples) == round(len(TEXT) * 0.06 * rate)
    assert np.allclose(samples, 0.3 * np.sin(2 * np.pi * 440 * np.arange(len(samples)) / rate), atol=1e-7)


def test_words_lie_where_their_characters_sound() -> None:
    character = round(0.06 * TICK_RATE)
    words = load().prepare(TEXT).words
    assert [(word.text, word.start, word.end) for word in words] == [
        ("one", 0, 3 * character),
        ("two", 4 * character, 7 * character),
        ("three", 9 * character, 14 * character),
    ]


@pytest.mark.parametrize("tier", ["full", "light"])
def test_is_the_same_however_it_is_cut(tier: str, cut) -> None:
    clause = load(rate=22_050).prepare(TEXT, seed=4)
    assert np.array_equal(cut(clause, tier, 441, 5), clause.decode(0, clause.frames, tier=tier))


def test_light_is_the_tone_with_noise_30_db_below() -> None:
    clause = load().prepare(TEXT)
    full, light = (clause.decode(0, clause.frames, tier=tier) for tier in ("full", "light"))
    assert 10 * np.log10(np.mean(full**2) / np.mean((light - full) ** 2)) == pytest.approx(30, abs=0.5)


def test_speed_and_refusals() -> None:
    voice = load()
    assert voice.prepare(TEXT, speed=2).frames == voice.prepare(TEXT).frames / 2
    with pytest.raises(ValueError, match="speed must be between"):
        voice.prepare(TEXT, speed=-1)
    with pytest.raises(ValueError, match="no tier 'mixed'"):
        voice.prepare(TEXT).decode(0, 1, tier="mixed")
    with pytest.raises(ValueError, match="has the rates 8000"):
        load(rate=11_025)
