"""What is taken out of a recording is found missing, what is put in is found added, to the hundredth of a second."""

from itertools import pairwise

import numpy as np
import pytest

from adaptive.codec.opus import OpusDecoder, OpusEncoder
from adaptive.control.plan import Bandwidth
from quality.continuity import Continuity, compare

RATE = 48_000
LATEST_S = 4.0
EXACT = 0.025
"""Two steps: an edge falls between steps."""


def made_up_speech(seconds: float, seed: int) -> np.ndarray:
    """Harmonics of a gliding pitch under formants that move every 60 to 140 ms, with pauses of known places."""
    chance = np.random.default_rng(seed)
    count = round(seconds * RATE)
    time = np.arange(count) / RATE
    pitch = 120 + 25 * np.sin(2 * np.pi * 0.7 * time + chance.uniform(0, 6))
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    edges = [0]
    while edges[-1] < count:
        edges.append(edges[-1] + round(chance.uniform(0.06, 0.14) * RATE))
    out = np.zeros(count)
    for start, end in pairwise(edges):
        end = min(end, count)
        formants, part = chance.uniform([250, 900, 2200], [850, 2100, 3600]), slice(start, end)
        for harmonic in range(1, 30):
            hz = harmonic * 120
            gain = sum(np.exp(-(((hz - formant) / 150) ** 2)) for formant in formants) + 0.1
            out[part] += gain * np.sin(harmonic * phase[part])
    return (0.2 * out / np.abs(out).max()).astype(np.float32)


def silence(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * RATE), np.float32)


SAID = np.concatenate([made_up_speech(3, 1), silence(0.3), made_up_speech(4, 2), silence(0.5), made_up_speech(2, 3)])
SPEECH_S = 9.0


def judged(*parts: np.ndarray) -> Continuity:
    return compare(np.concatenate(parts), SAID, rate=RATE, latest_s=LATEST_S)


def until(seconds: float) -> np.ndarray:
    return SAID[: round(seconds * RATE)]


def since(seconds: float) -> np.ndarray:
    return SAID[round(seconds * RATE) :]


def test_the_same_later_has_nothing_added_and_nothing_lost() -> None:
    found = judged(silence(0.35), SAID, silence(1))
    assert found.speech_s == pytest.approx(SPEECH_S, abs=EXACT)
    assert found.start_s == pytest.approx(0.35, abs=EXACT)
    assert (found.silence_added_s, found.lost_speech_s) == pytest.approx((0, 0), abs=EXACT)
    assert found.largest_gap_s <= 0.02, "pauses of the reference are no gaps"
    assert np.nanmax(found.lags_s) == pytest.approx(0.35, abs=EXACT)


@pytest.mark.parametrize("at", [0.8, 3.15, 5.0, 8.6])
def test_a_stall_adds_silence_and_loses_nothing(at: float) -> None:
    """In speech and in a pause."""
    found = judged(silence(0.2), until(at), silence(0.7), since(at), silence(1))
    assert found.silence_added_s == pytest.approx(0.7, abs=EXACT)
    assert found.largest_gap_s == pytest.approx(0.7, abs=EXACT)
    assert found.lost_speech_s == pytest.approx(0, abs=EXACT)
    assert found.lags_s[-5] == pytest.approx(0.9, abs=EXACT)


@pytest.mark.parametrize(("at", "speech"), [(0.5, 1.0), (2.6, 0.7), (5.0, 1.0), (7.0, 0.5)])
def test_a_hole_is_silence_and_lost_speech(at: float, speech: float) -> None:
    """One second is missing; a pause in it was silent anyway."""
    found = judged(silence(0.2), until(at), silence(1), since(at + 1), silence(1))
    assert found.silence_added_s == pytest.approx(speech, abs=EXACT)
    assert found.largest_gap_s == pytest.approx(speech, abs=EXACT)
    assert found.lost_speech_s == pytest.approx(speech, abs=2 * EXACT)


@pytest.mark.parametrize("at", [1.0, 4.0])
def test_speech_left_out_is_lost_without_silence(at: float) -> None:
    """As a receiver does that throws away its queue."""
    found = judged(silence(1), until(at), since(at + 0.8), silence(2))
    assert found.lost_speech_s == pytest.approx(0.8, abs=2 * EXACT)
    assert found.silence_added_s == pytest.approx(0, abs=EXACT)


def test_the_end_missing_is_silence_to_the_end() -> None:
    found = judged(silence(0.2), until(5), silence(8))
    assert found.silence_added_s == pytest.approx(4.3, abs=EXACT)
    assert found.lost_speech_s == pytest.approx(4.3, abs=2 * EXACT)


def test_a_recording_that_ends_early_is_as_silent() -> None:
    found = judged(until(5))
    assert found.silence_added_s == pytest.approx(4.3, abs=EXACT)
    assert found.lost_speech_s == pytest.approx(4.3, abs=2 * EXACT)


def test_nothing_heard_is_everything_lost() -> None:
    found = judged(silence(12))
    assert found.start_s is None
    assert (found.lost_speech_s, found.silence_added_s) == pytest.approx((SPEECH_S, SPEECH_S), abs=EXACT)


def test_other_speech_is_no_match() -> None:
    found = judged(made_up_speech(10, 9))
    assert found.lost_speech_s > 0.9 * SPEECH_S


def test_stretching_is_neither_loss_nor_silence() -> None:
    """10 ms are repeated every 200: the lag grows by half a second and every word is there."""
    blocks = [until(9.8)[at : at + RATE // 5] for at in range(0, len(SAID), RATE // 5)]
    found = judged(silence(0.1), *(np.concatenate([block, block[-RATE // 100 :]]) for block in blocks))
    assert found.lost_speech_s <= 0.1
    assert found.largest_gap_s <= 0.03
    assert found.lags_s[-5] == pytest.approx(0.1 + 0.01 * 9.7 * 5, abs=0.05)


def test_a_codec_at_twelve_kilobits_loses_nothing_even_if_a_tenth_is_concealed() -> None:
    encoder, decoder, chance = OpusEncoder(), OpusDecoder(), np.random.default_rng(1)
    encoder.configure(bitrate=12_000, bandwidth=Bandwidth.WB)
    out, before = [], True
    for at in range(0, len(SAID) - 960, 960):
        packet = encoder.encode(SAID[at : at + 960])
        before = bool(chance.random() > 0.1) or not before
        out.append(decoder.decode(packet if before else None, 960))
    found = judged(silence(0.2), *out, silence(1))
    assert found.lost_speech_s <= 0.15
    assert found.silence_added_s == pytest.approx(0, abs=0.1)


def test_a_silent_reference_is_refused() -> None:
    with pytest.raises(ValueError, match="silent"):
        compare(SAID, silence(3), rate=RATE, latest_s=1)
