"""A change of the source's rate against two wholly resampled signals, crossfaded."""

import numpy as np
import pytest

from adaptive.audio.rate_switch import FADE_S, SwitchingResampler
from adaptive.audio.resampling import resample
from adaptive.audio.seams import crossfade

TARGET = 48_000
FADE = round(FADE_S * TARGET)


def sound(rate: int, seconds: float = 1.0) -> np.ndarray:
    """The same tones at any rate."""
    time = np.arange(round(seconds * rate)) / rate
    tones = [0.1 * np.sin(2 * np.pi * f * time + f) for f in (137, 440, 1250, 3100)]
    return np.sum(tones, axis=0).astype(np.float32)


def pushed(resampler: SwitchingResampler, samples: np.ndarray, block: int) -> np.ndarray:
    return np.concatenate([resampler.push(samples[at : at + block]) for at in range(0, len(samples), block)])


@pytest.mark.parametrize(
    ("before", "after"), [(24_000, 16_000), (16_000, 24_000), (22_050, 24_000), (44_100, 8_000), (48_000, 22_050)]
)
@pytest.mark.parametrize("change_s", [0.0, 0.003, 0.4137])
def test_it_gives_what_crossfading_the_wholes_gives(before: int, after: int, change_s: float) -> None:
    old, new = sound(before), sound(after)
    resampler = SwitchingResampler(before, TARGET)
    fed = round(change_s * before)
    out = [pushed(resampler, old[:fed], 441)] if fed else []
    handover = resampler.change(after)
    out.append(pushed(resampler, old[fed : fed + handover.old_samples], 100))
    out.append(pushed(resampler, new[handover.new_first :], 333))
    out.append(resampler.flush())
    got = np.concatenate(out)

    whole_old, whole_new = resample(old, before, TARGET), resample(new, after, TARGET)
    seam = handover.seam
    ideal = np.concatenate(
        [
            whole_old[:seam],
            crossfade(whole_old[seam : seam + FADE], whole_new[seam : seam + FADE]),
            whole_new[seam + FADE :],
        ]
    )
    assert len(got) == len(ideal) == resampler.emitted
    assert 10 * np.log10(np.mean((got - ideal) ** 2) / np.mean(ideal**2) + 1e-30) < -100


def test_a_second_change_waits_for_the_first() -> None:
    resampler = SwitchingResampler(24_000, TARGET)
    resampler.push(sound(24_000)[:4_000])
    handover = resampler.change(16_000)
    with pytest.raises(ValueError, match="already"):
        resampler.change(8_000)
    with pytest.raises(ValueError, match="due at the old rate"):
        resampler.push(np.zeros(handover.old_samples + 1, dtype=np.float32))


def test_a_sound_that_ends_before_its_change_is_whole() -> None:
    samples = sound(24_000, 0.2)
    resampler = SwitchingResampler(24_000, TARGET)
    out = [resampler.push(samples)]
    resampler.change(16_000)
    out.append(resampler.flush())
    np.testing.assert_allclose(np.concatenate(out), resample(samples, 24_000, TARGET), atol=1e-5)
