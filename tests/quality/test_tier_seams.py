"""Three hundred changes of tier in joe's sentences, at random, with two seeds: none may be heard."""

import random
from itertools import islice

import numpy as np
import pytest

from adaptive.speech.offline import Switch, render
from adaptive.speech.voice import Voice
from adaptive.ticks import TICK_RATE
from quality.seam_judge import LIMIT, Seam, judge_seam
from transport_webrtc.bench.texts import sentences

pytestmark = [pytest.mark.voices, pytest.mark.long]

SENTENCES, SWITCHES = 30, 300
SOUNDING_S, SOUNDING_DB = 0.010, -40
"""A switch is at a place that sounds where a branch is louder than this, so much around it."""
LAGS = slice(TICK_RATE // 400, TICK_RATE // 60)
"""Periods of a voice, 60 to 400 Hz."""
BESIDE = round(0.03 * TICK_RATE)
"""Pitch and level are taken from so much on each side."""
PERCENTILES = (50, 90, 95)


@pytest.fixture(scope="module")
def switches() -> list[tuple[Switch, Seam]]:
    from adaptive.speech.voices.joe import load

    voice: Voice = load()
    rng = random.Random(7)
    found: list[tuple[Switch, Seam]] = []
    for number, text in enumerate(islice(sentences(11), SENTENCES)):
        tiers = rng.sample(voice.info.tiers, len(voice.info.tiers))
        spoken = render(text, voice=voice, tiers=tiers, every_s=rng.uniform(0.25, 0.45), seed=number % 2)
        found += [
            (switch, judge_seam(switch.heard, switch.old, switch.new, at=switch.at - switch.start, fade=switch.fade))
            for switch in spoken.switches
        ]
    return found


def test_every_one_of_three_hundred_is_smooth(switches: list[tuple[Switch, Seam]]) -> None:
    seams = [seam for _, seam in switches]
    assert len(seams) >= SWITCHES
    assert max(seam.r for seam in seams) <= LIMIT
    assert {seam.lag_samples for seam in seams} == {0}
    assert max(abs(seam.level_db) for seam in seams) <= 1
    apart = [seam.branch_snr_db for switch, seam in switches if seam.branch_snr_db is not None and sounds(switch)]
    assert len(apart) > 0.8 * SWITCHES
    assert min(apart) >= 10
    assert max(apart) < 60


def sounds(switch: Switch) -> bool:
    """In a pause neither branch is heard, and the speech beside it may be no more than the noise of an s, which no two
    tiers make alike: how far the branches are apart there says nothing of the switch."""
    around, at = round(SOUNDING_S * TICK_RATE), switch.at - switch.start
    place = slice(max(0, at - around), at + switch.fade + around)
    return any(np.mean(np.square(branch[place])) > 10 ** (SOUNDING_DB / 10) for branch in (switch.old, switch.new))


def level_db(samples: np.ndarray) -> float:
    """Not below −45 dBFS: how deep a silence is depends on the tier, and is not heard."""
    return 10 * np.log10(max(float(np.mean(np.square(samples, dtype=np.float64))), 10**-4.5))


def pitch(samples: np.ndarray) -> float | None:
    """Semitones above 1 Hz, by autocorrelation; None where it is not voiced."""
    windowed = samples * np.hanning(len(samples))
    spectrum = np.abs(np.fft.rfft(windowed, 4 * len(samples))) ** 2
    likeness = np.fft.irfft(spectrum)[: LAGS.stop]
    lag = LAGS.start + int(np.argmax(likeness[LAGS]))
    return 12 * np.log2(TICK_RATE / lag) if likeness[lag] > 0.5 * likeness[0] > 1e-4 else None


def steps(signal: np.ndarray, begin: int, end: int) -> tuple[float, float | None]:
    """How far level (dB) and pitch (semitones) go from one side of a place to the other."""
    before, behind = signal[max(0, begin - BESIDE) : begin], signal[end : end + BESIDE]
    if len(before) < BESIDE or len(behind) < BESIDE:
        return 0.0, None
    low, high = pitch(before), pitch(behind)
    return abs(level_db(behind) - level_db(before)), None if low is None or high is None else abs(high - low)


def test_pitch_and_level_step_no_further_than_in_speech_that_did_not_switch(switches) -> None:
    places = [(switch, switch.at - switch.start) for switch, _ in switches]
    heard = [steps(switch.heard, at, at + switch.fade) for switch, at in places]
    plain = [steps(branch, at, at + switch.fade) for switch, at in places for branch in (switch.old, switch.new)]
    for which, least in ((0, 0.5), (1, 0.2)):
        switched = np.percentile([step[which] for step in heard if step[which] is not None], PERCENTILES)
        unswitched = np.percentile([step[which] for step in plain if step[which] is not None], PERCENTILES)
        assert np.all(switched <= 1.1 * unswitched + least), (which, switched, unswitched)
