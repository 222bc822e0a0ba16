"""Joining and aligning."""

import numpy as np
import pytest

from adaptive.audio.seams import crossfade, find_lag, join, ramp


def noise(length: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(length).astype(np.float32)


@pytest.mark.parametrize("length", [1, 2, 480, 481])
def test_weights_add_up_to_one_and_rise(length: int) -> None:
    weights = ramp(length)
    np.testing.assert_allclose(weights + weights[::-1], 1, atol=1e-6)
    assert np.all(np.diff(weights) > 0)


def test_equal_sides_come_out_unchanged() -> None:
    side = noise(480)
    np.testing.assert_allclose(crossfade(side, side), side)


def test_a_fade_begins_at_the_old_and_ends_at_the_new_side() -> None:
    faded = crossfade(np.zeros(480, dtype=np.float32), np.ones(480, dtype=np.float32))
    assert faded[0] < 1e-4
    assert faded[-1] > 1 - 1e-4


def test_sides_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="one length"):
        crossfade(noise(3), noise(4))


def test_join_fades_within_the_shorter_and_keeps_the_rest() -> None:
    tail, body = noise(100), noise(300, 1)
    joined = join(tail, body)
    assert len(joined) == 300
    np.testing.assert_array_equal(joined[100:], body[100:])
    assert len(join(noise(500), body)) == 300
    np.testing.assert_array_equal(join(tail[:0], body), body)


@pytest.mark.parametrize("lag", [-100, -1, 0, 7, 100])
def test_lag_is_found_to_the_sample_in_spite_of_noise_and_level(lag: int) -> None:
    sound = noise(5_000)
    late = 0.5 * sound[1_000 - lag : 4_000 - lag] + 0.05 * noise(3_000, 5)
    assert find_lag(sound[1_000:4_000], late.astype(np.float32), 120) == lag


def test_a_steady_tone_has_the_shortest_of_its_lags() -> None:
    tone = np.sin(2 * np.pi * np.arange(4_800) / 100).astype(np.float32)
    assert find_lag(tone, tone, 240) == 0


def test_silence_has_no_lag() -> None:
    assert find_lag(np.zeros(1_000, dtype=np.float32), noise(1_000), 100) == 0


def test_too_short_sides_are_refused() -> None:
    with pytest.raises(ValueError, match="more than"):
        find_lag(noise(100), noise(100), 50)
