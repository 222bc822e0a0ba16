"""The streaming comparison: cut as one likes it says the same, and it knows better speech from worse."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.codec.opus import OpusDecoder, OpusEncoder
from adaptive.control.plan import Bandwidth
from quality.calibrate import LOSSES, VOICES
from quality.estimate import HOP, WINDOW, Comparison, Samples
from quality.scale import CONSTANTS, Scale, Summary, calibrated, summary

RATE = 48_000


def sound(seconds: float, seed: int = 1) -> Samples:
    """Noise that comes and goes, its colour too."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal(round(seconds * RATE))
    time = np.arange(len(noise)) / RATE
    smooth = np.convolve(noise, np.ones(24) / 24, "same") * 3
    return (0.1 * (np.sin(2 * np.pi * 1.5 * time) ** 2 * smooth + 0.02 * noise)).astype(np.float32)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 12_000), max_size=12))
def test_however_it_is_cut_the_same_frames_come_out(lengths: list[int]) -> None:
    said = sound(1.0)
    heard = (said + sound(1.0, seed=2) * np.float32(0.1)).astype(np.float32)
    whole = Comparison().push(said, heard)
    comparison, at, pieces = Comparison(), 0, []
    for length in [*lengths, len(said)]:
        pieces.append(comparison.push(said[at : at + length], heard[at : at + length]))
        at += length
    for name in ("active", "lsd", "nsim"):
        cut = np.concatenate([getattr(piece, name) for piece in pieces])
        np.testing.assert_allclose(cut, getattr(whole, name), atol=2e-3)
    assert len(whole.lsd) == (len(said) - WINDOW) // HOP, "the last frame waits for its successor"


def test_equal_speech_is_at_no_distance_and_silence_is_no_speech() -> None:
    said = sound(1.0)
    found = Comparison().push(said, said)
    assert found.lsd.max() == 0
    assert found.nsim.min() > 0.999
    assert found.active.mean() > 0.5
    silent = np.zeros(RATE, np.float32)
    assert not Comparison().push(silent, silent).active.any()
    assert summary([Comparison().push(silent, silent)]) is None


def test_signals_of_two_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in length"):
        Comparison().push(np.zeros(10, np.float32), np.zeros(9, np.float32))


def test_damage_is_told_from_coding() -> None:
    said = sound(2.0)
    noisy = (said + 0.003 * np.random.default_rng(3).standard_normal(len(said))).astype(np.float32)
    holes = said.copy()
    lost = [(at, at + 2_400) for at in range(4_000, len(holes) - 4_000, 12_000)]
    for start, end in lost:
        holes[start:end] = 0
    coded, broken = (summary([Comparison().push(said, heard)], lost) for heard in (noisy, holes))
    assert coded is not None
    assert broken is not None
    assert coded.distance_db > broken.distance_db
    assert 2 * coded.damage < broken.damage
    unseen = summary([Comparison().push(said, holes)])
    assert unseen is not None
    assert unseen.damage == 0, "where nothing was lost, it is of coding"


def test_the_scale_falls_with_both_distances_and_stays_on_its_axis() -> None:
    def opinion(unlike: float, damage: float) -> float:
        return calibrated().opinion(Summary(frames=100, distance_db=1.0, unlike=unlike, damage=damage))

    assert 4.2 < opinion(0.01, 0.0) <= 4.5
    for better, worse in pairwise((0.01, 0.02, 0.04, 0.06, 0.1, 0.2)):
        assert opinion(better, 0.0) > opinion(worse, 0.0)
        assert opinion(better, 0.1) > opinion(worse, 0.1)
    for better, worse in pairwise((0.0, 0.01, 0.03, 0.1, 0.3)):
        assert opinion(0.02, better) > opinion(0.02, worse)
    assert 1.0 <= opinion(1.0, 1.0) < 1.1
    assert isinstance(calibrated(), Scale)


def test_the_scale_holds_for_a_voice_it_was_not_fitted_to() -> None:
    trust = json.loads(CONSTANTS.read_text())["trust"]
    assert trust["rmse_left_out"] <= 0.35
    assert max(trust["rmse_voice_left_out"].values()) <= 0.35
    for voice in VOICES:
        assert len(trust["rmse_left_out_by_loss"][voice]) == len(LOSSES)
        assert max(trust["rmse_left_out_by_loss"][voice].values()) <= 0.5


LADDER = ((8_000, "NB"), (12_000, "WB"), (16_000, "WB"), (24_000, "FB"), (32_000, "FB"), (48_000, "FB"))


def coded(said: Samples, bitrate: int, bandwidth: str) -> Samples:
    """Through the codec, its delay taken off."""
    encoder, decoder = OpusEncoder(), OpusDecoder()
    encoder.configure(bitrate=bitrate, bandwidth=Bandwidth(bandwidth))
    padded = np.pad(said, (0, encoder.lookahead + -(len(said) + encoder.lookahead) % 960))
    out = [decoder.decode(encoder.encode(padded[at : at + 960]), 960) for at in range(0, len(padded), 960)]
    return np.concatenate(out)[encoder.lookahead :][: len(said)]


@pytest.mark.voices
@pytest.mark.parametrize("voice", ["joe", "heart"])
def test_rates_are_ordered_right_window_by_window(voice: str) -> None:
    import adaptive

    text = "The birch canoe slid on the smooth planks. We sell six fresh fish each Thursday."
    said = adaptive.render(text, voice=voice, seed=2).samples
    windows = [slice(at, at + 2 * RATE) for at in range(0, len(said) - 2 * RATE, RATE // 2)]
    found = []
    for bitrate, bandwidth in LADDER:
        heard = coded(said, bitrate, bandwidth)
        found.append([summary([Comparison().push(said[window], heard[window])]) for window in windows])
    for worse, better in pairwise(found):
        pairs = [(a, b) for a, b in zip(worse, better, strict=True) if a is not None and b is not None]
        assert len(pairs) >= 4
        assert np.mean([a.unlike > b.unlike for a, b in pairs]) >= 0.95, "so all pairs further apart are in order too"
        gains = [calibrated().opinion(b) - calibrated().opinion(a) for a, b in pairs]
        assert np.mean(gains) > 0
