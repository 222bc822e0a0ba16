"""Streaming against whole, sample by sample."""

import numpy as np
import pytest

from adaptive.audio.resampling import StreamingResampler, resample
from adaptive.audio.torchaudio_import import torchaudio

PAIRS = [pair for rate in (8_000, 16_000, 22_050, 24_000, 44_100) for pair in ((rate, 48_000), (48_000, rate))]


def noise(length: int) -> np.ndarray:
    return (np.random.default_rng(3).standard_normal(length) * 0.2).astype(np.float32)


def in_blocks(resampler: StreamingResampler, samples: np.ndarray, seed: int = 1) -> np.ndarray:
    lengths = np.random.default_rng(seed)
    out, at = [], 0
    while at < len(samples):
        count = int(lengths.integers(0, resampler.source // 20))
        out.append(resampler.push(samples[at : at + count]))
        at += count
    return np.concatenate([*out, resampler.flush()])


def error_db(got: np.ndarray, expected: np.ndarray) -> float:
    return float(10 * np.log10(np.mean((got - expected) ** 2) / np.mean(expected**2) + 1e-30))


@pytest.mark.parametrize(("source", "target"), [*PAIRS, (48_000, 48_000), (22_050, 16_000)])
def test_blocks_give_what_the_whole_gives(source: int, target: int) -> None:
    samples = noise(source // 2 + 17)
    whole = resample(samples, source, target)
    got = in_blocks(StreamingResampler(source, target), samples)
    assert len(got) == len(whole) == -(-len(samples) * target // source)
    assert error_db(got, whole) < -100


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_what_both_rates_can_hold_comes_out_unchanged_and_nothing_else(source: int, target: int) -> None:
    frequency = round(0.44 * min(source, target))
    tone = np.sin(2 * np.pi * frequency * np.arange(source) / source).astype(np.float32)
    ideal = np.sin(2 * np.pi * frequency * np.arange(target) / target)
    got = in_blocks(StreamingResampler(source, target), tone)
    inner = slice(target // 10, -target // 10)
    assert error_db(got[inner], ideal[inner]) < -70


@pytest.mark.parametrize("rate", [8_000, 22_050])
def test_there_and_back(rate: int) -> None:
    samples = resample(resample(noise(rate), rate, 16 * rate), 16 * rate, rate)
    low = np.convolve(samples, np.hanning(9) / np.hanning(9).sum(), mode="same").astype(np.float32)
    back = in_blocks(StreamingResampler(48_000, rate), in_blocks(StreamingResampler(rate, 48_000), low))
    inner = slice(rate // 10, len(low) - rate // 10)
    assert error_db(back[inner], low[inner]) < -50


def test_output_comes_as_soon_as_its_surroundings_are_there() -> None:
    resampler = StreamingResampler(24_000, 48_000)
    out = resampler.push(noise(2_400))
    assert len(out) == 2 * (2_400 - resampler.reach)
    assert resampler.reach < 0.004 * 24_000


def test_reset_forgets() -> None:
    resampler, samples = StreamingResampler(22_050, 48_000), noise(5_000)
    resampler.push(noise(999))
    resampler.reset()
    assert error_db(in_blocks(resampler, samples), resample(samples, 22_050, 48_000)) < -100


def test_rates_must_be_positive() -> None:
    with pytest.raises(ValueError, match="positive"):
        StreamingResampler(0, 48_000)


def test_torchaudio_works_beside_this_torch() -> None:
    assert callable(torchaudio.functional.resample)
    assert callable(torchaudio.transforms.MelSpectrogram)
