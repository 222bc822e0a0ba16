"""The judge judged: on speech, with faults that are known."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from adaptive.audio.resampling import resample
from adaptive.audio.seams import crossfade
from adaptive.codec.opus import OpusDecoder, OpusEncoder
from adaptive.control.plan import Bandwidth, Rung
from adaptive.speech.coding import through_opus
from adaptive.speech.offline import render
from quality.seam_judge import FAIL, LIMIT, Seam, judge_codec_seam, judge_seam

pytestmark = pytest.mark.voices

RATE = 48_000
TEXT = "She had your dark suit in greasy wash water all year, and Peter Piper picked a peck of pickled peppers."
FADE = RATE // 100
AROUND = RATE * 3 // 20
PLACES = 24

Signal = np.ndarray
Branches = tuple[Signal, Signal, Signal]


@pytest.fixture(scope="module")
def both() -> list[Signal]:
    return [render(TEXT, voice=voice).samples for voice in ("heart", "joe")]


@pytest.fixture(params=[0, 1], ids=["heart", "joe"])
def speech(request: pytest.FixtureRequest, both: list[Signal]) -> Signal:
    return both[request.param]


def active(speech: Signal) -> Signal:
    """Where there is speech, far enough from the ends."""
    level = np.sqrt(np.convolve(speech**2, np.ones(960) / 960, mode="same"))
    found = np.flatnonzero(level > level.max() * 10 ** (-30 / 20))
    return found[(found > AROUND) & (found < len(speech) - AROUND)]


def by_chance(speech: Signal) -> list[int]:
    return [int(place) for place in np.random.default_rng(7).choice(active(speech), PLACES, replace=False)]


def plosives(speech: Signal) -> list[int]:
    """The sharpest jumps that speech has by itself: where a good judge must hold its peace."""
    places = active(speech)
    found: list[int] = []
    for place in places[np.argsort(-np.abs(np.diff(speech, 2))[places - 1])]:
        if all(abs(int(place) - other) > 2_000 for other in found):
            found.append(int(place))
    return found[:8]


def around(place: int, *signals: Signal) -> Iterator[Signal]:
    return (signal[place - AROUND : place + AROUND] for signal in signals)


def cut(old: Signal, new: Signal, place: int) -> Signal:
    return np.concatenate([old[:place], new[place:]])


def faded(old: Signal, new: Signal, place: int) -> Signal:
    end = place + FADE
    return np.concatenate([old[:place], crossfade(old[place:end], new[place:end]), new[end:]])


def judged(places: list[int], speech: Signal, make: Callable[[Signal, int], Branches], fade: int = 0) -> list[Seam]:
    """`make` gives what was heard, the old and the new branch."""
    return [judge_seam(*around(place, *make(speech, place)), at=AROUND, fade=fade, rate=RATE) for place in places]


def late(signal: Signal, samples: int) -> Signal:
    return np.concatenate([np.zeros(samples, dtype=np.float32), signal[:-samples]])


def narrower(speech: Signal) -> Signal:
    return resample(resample(speech, RATE, 16_000), 16_000, RATE)[: len(speech)]


def noisier(speech: Signal) -> Signal:
    noise = np.random.default_rng(1).standard_normal(len(speech)) * 0.1
    envelope = np.sqrt(np.convolve(speech**2, np.ones(480) / 480, mode="same"))
    return (speech + envelope * noise).astype(np.float32)


def flagged(seams: list[Seam]) -> float:
    return float(np.mean([seam.r > FAIL for seam in seams]))


def test_untouched_speech_is_not_flagged(speech: Signal) -> None:
    seams = judged(by_chance(speech) + plosives(speech), speech, lambda whole, _: (whole, whole, whole))
    assert all(seam.r <= 1 and seam.lag_samples == 0 and seam.level_db == 0 for seam in seams)
    assert all(seam.branch_snr_db is None for seam in seams)


@pytest.mark.parametrize("other", [narrower, noisier])
def test_proper_crossfades_are_good(speech: Signal, other: Callable[[Signal], Signal]) -> None:
    new = other(speech)
    seams = judged(
        by_chance(speech) + plosives(speech), speech, lambda old, place: (faded(old, new, place), old, new), FADE
    )
    assert max(seam.r for seam in seams) <= LIMIT
    assert {seam.lag_samples for seam in seams} == {0}
    assert max(abs(seam.level_db) for seam in seams) < 1


def test_a_small_difference_has_its_snr(speech: Signal) -> None:
    new = noisier(speech)
    seams = judged(by_chance(speech), speech, lambda old, place: (faded(old, new, place), old, new), FADE)
    assert all(seam.branch_snr_db is not None and 17 < seam.branch_snr_db < 23 for seam in seams)


def test_cuts_out_of_phase_are_flagged(both: list[Signal]) -> None:
    lates = np.random.default_rng(5).integers(RATE // 500, RATE // 83, PLACES)
    seams = []
    for speech in both:
        for place, samples in zip(by_chance(speech), lates, strict=True):
            new = late(speech, int(samples))
            seams.append(judge_seam(*around(place, cut(speech, new, place), speech, new), at=AROUND, rate=RATE))
    assert flagged(seams) >= 0.75
    assert np.mean([seam.r > FAIL or seam.lag_samples != 0 for seam in seams]) >= 0.95


def test_impulses_are_flagged(both: list[Signal]) -> None:
    def with_impulse(whole: Signal, place: int) -> Branches:
        heard = whole.copy()
        heard[place] += 0.3 * np.abs(whole[place - 960 : place + 960]).max()
        return heard, whole, whole

    assert flagged([seam for speech in both for seam in judged(by_chance(speech), speech, with_impulse)]) >= 0.75


def test_a_crossfade_of_sides_that_do_not_lie_on_each_other_is_caught_by_its_lag(speech: Signal) -> None:
    for samples in (24, 96, 480):
        new = late(speech, samples)
        seams = [
            judge_seam(*around(place, faded(speech, new, place), speech, new), at=AROUND, fade=FADE, rate=RATE)
            for place in by_chance(speech)
        ]
        assert np.mean([seam.lag_samples == samples for seam in seams]) >= 0.9


def test_a_late_output_is_caught_though_the_branches_are_aligned(speech: Signal) -> None:
    seams = judged(by_chance(speech), speech, lambda old, place: (faded(old, late(old, 48), place), old, old), FADE)
    assert np.mean([seam.lag_samples == 48 for seam in seams]) >= 0.9


def test_a_hole_has_its_level(speech: Signal) -> None:
    def with_hole(whole: Signal, place: int) -> Branches:
        heard = whole.copy()
        heard[place : place + FADE] *= 0.5
        return heard, whole, whole

    levels = [seam.level_db for seam in judged(by_chance(speech), speech, with_hole, FADE)]
    assert np.median(levels) == pytest.approx(-6, abs=0.5)


def test_a_rung_changed_by_ctl_passes_and_a_new_encoder_does_not(speech: Signal) -> None:
    wide, narrow = (
        Rung(bitrate=rate, bandwidth=width, frame_ms=20)
        for rate, width in ((32_000, Bandwidth.FB), (16_000, Bandwidth.WB))
    )
    every = RATE * 2 // 5
    heard, changes = through_opus(speech, (wide, narrow), every)
    branches = {rung: through_opus(speech, (rung,))[0] for rung in (wide, narrow)}
    recreated = with_new_encoders(speech, (wide, narrow), every)
    inside = [change for change in changes if AROUND < change.at < len(speech) - AROUND]

    def jumps(signal: Signal) -> list[float]:
        return [
            judge_codec_seam(
                *around(change.at, signal, branches[change.before], branches[change.after]), at=AROUND, rate=RATE
            ).r
            for change in inside
        ]

    assert max(jumps(heard)) <= LIMIT
    assert max(jumps(recreated)) > FAIL


def with_new_encoders(speech: Signal, rungs: tuple[Rung, Rung], every: int) -> Signal:
    """The fault: encoder and decoder made anew at each change."""
    decoded, late_by = [], 0
    for turn, begin in enumerate(range(0, len(speech), every)):
        rung = rungs[turn % 2]
        encoder, decoder = OpusEncoder(), OpusDecoder()
        late_by = encoder.lookahead
        encoder.configure(bitrate=rung.bitrate, bandwidth=rung.bandwidth)
        for at in range(begin, min(begin + every, len(speech)), 960):
            frame = speech[at : at + 960]
            decoded.append(decoder.decode(encoder.encode(np.pad(frame, (0, 960 - len(frame)))), 960))
    return np.pad(np.concatenate(decoded), (0, late_by))[late_by : late_by + len(speech)]


def test_silence_goes_on_beyond_the_ends() -> None:
    short = np.random.default_rng(0).standard_normal(2_000).astype(np.float32) * 0.1
    assert judge_seam(short, short, short, at=100).r <= 1


def test_signals_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in length"):
        judge_seam(*(np.zeros(length, dtype=np.float32) for length in (9, 9, 8)), at=4)
