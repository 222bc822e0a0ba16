"""Joe as it is installed: cut anywhere, switched anywhere, and the same every time."""

import itertools
import os
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from adaptive.speech.voice import SwitchPoint
from adaptive.speech.voices.vits import VitsClause, VitsVoice
from adaptive.ticks import TICK_RATE

pytestmark = pytest.mark.voices

TEXT = "Turn left at the third corner, then go straight for two miles."
HOP, RATE = 256, 22_050


@pytest.fixture(scope="module")
def clause(joe: VitsVoice) -> VitsClause:
    return joe.prepare(TEXT, seed=1)


@pytest.fixture(scope="module")
def full(clause: VitsClause) -> NDArray[np.float32]:
    return clause.decode(0, clause.frames, tier="full")


def power(samples: NDArray[np.float32]) -> float:
    return float(np.mean(np.square(samples, dtype=np.float64)))


def test_says_of_itself_what_the_stream_needs(joe: VitsVoice) -> None:
    assert joe.info.tiers == ("full", "mixed", "light")
    assert joe.info.switch is SwitchPoint.CHUNK
    assert (joe.info.rate, joe.info.frame_samples) == (RATE, HOP)


@pytest.mark.parametrize("longest", [3, 30])
def test_how_a_clause_is_cut_is_not_in_its_samples(joe: VitsVoice, full: NDArray, cut, longest: int) -> None:
    fresh = joe.prepare(TEXT, seed=1)
    assert np.abs(cut(fresh, "full", HOP, longest) - full).max() < 1e-5


def test_frames_may_be_asked_for_in_any_order(joe: VitsVoice, full: NDArray) -> None:
    fresh = joe.prepare(TEXT, seed=1)
    half = fresh.frames // 2
    second = fresh.decode(half, fresh.frames - half, tier="full")
    first = fresh.decode(0, half, tier="full")
    assert np.abs(np.concatenate([first, second]) - full).max() < 1e-5


@pytest.mark.parametrize("tier", ["mixed", "light"])
def test_other_tiers_differ_in_precision_alone(clause: VitsClause, full: NDArray, tier: str) -> None:
    other = clause.decode(0, clause.frames, tier=tier)
    assert 10 < 10 * np.log10(power(full) / power(other - full)) < 60
    assert abs(10 * np.log10(power(other) / power(full))) < 0.5
    lags = range(-20, 21)
    likeness = [float(np.dot(full[20:-20], other[20 + lag : len(other) - 20 + lag])) for lag in lags]
    assert lags[int(np.argmax(likeness))] == 0


@pytest.mark.parametrize("tier", ["mixed", "light"])
def test_cutting_costs_a_cheap_tier_less_than_its_precision_does(joe, clause, full, cut, tier: str) -> None:
    whole = clause.decode(0, clause.frames, tier=tier)
    pieces = cut(joe.prepare(TEXT, seed=1), tier, HOP, 20)
    assert power(pieces - whole) < power(whole - full) / 2


def test_the_tiers_are_three_different_things(clause: VitsClause) -> None:
    full, mixed, light = (clause.decode(20, 20, tier=tier) for tier in ("full", "mixed", "light"))
    assert not np.array_equal(mixed, full)
    assert not np.array_equal(light, mixed)


def test_flow_in_pieces_is_the_flow(joe: VitsVoice, rng: np.random.Generator) -> None:
    latent = rng.standard_normal((192, 150), np.float32)
    whole = joe.flow(latent, 0, 150)
    edges = [0, 3, 40, 90, 150]
    pieces = [joe.flow(latent, start, end) for start, end in itertools.pairwise(edges)]
    assert np.abs(np.concatenate(pieces, axis=1) - whole).max() < 1e-4


def test_a_seed_decides(joe: VitsVoice, full: NDArray) -> None:
    again = joe.prepare(TEXT, seed=1)
    assert np.array_equal(again.decode(0, again.frames, tier="full"), full)
    other = joe.prepare(TEXT, seed=-2)
    assert not np.array_equal(other.decode(0, 60, tier="full"), full[: 60 * HOP])


def test_faster_is_shorter(joe: VitsVoice, clause: VitsClause) -> None:
    assert joe.prepare(TEXT, seed=1, speed=1.5).frames < 0.8 * clause.frames
    with pytest.raises(ValueError, match="speed must be between"):
        joe.prepare(TEXT, speed=0)


def test_words_are_where_they_sound(clause: VitsClause, full: NDArray) -> None:
    words = clause.words
    assert [word.text for word in words] == TEXT.split()
    assert not any(word.estimated for word in words)
    edges = [edge for word in words for edge in (word.start, word.end)]
    assert edges == sorted(edges)
    assert edges[-1] <= clause.frames * HOP / RATE * TICK_RATE
    sample = [round(edge * RATE / TICK_RATE) for edge in edges]
    said = np.concatenate([full[start:end] for start, end in zip(sample[::2], sample[1::2], strict=True)])
    corner = [word.text for word in words].index("corner,")
    pause = full[sample[2 * corner + 1] : sample[2 * corner + 2]]
    assert len(pause) > 0.05 * RATE
    assert power(pause) < power(said) / 10


def test_samples_stay_within_full_scale_and_are_as_loud_as_speech(full: NDArray) -> None:
    assert np.abs(full).max() < 1
    assert -28 < 10 * np.log10(power(full)) < -18


@pytest.mark.parametrize("text", ["👍", "", "—", "你好"])
def test_what_cannot_be_said_has_no_frames(joe: VitsVoice, text: str) -> None:
    silent = joe.prepare(text)
    assert silent.frames == 0
    assert [word.text for word in silent.words] == text.split()
    assert len(silent.decode(0, 0, tier="light", tail=3)) == 0


def test_what_is_not_there_is_refused(clause: VitsClause) -> None:
    with pytest.raises(ValueError, match="joe has no tier 'half': it has full, mixed, light"):
        clause.decode(0, 1, tier="half")
    for start, count, tail in ((-1, 2, 0), (0, -1, 0), (clause.frames, 1, 0), (0, 1, -1)):
        with pytest.raises(ValueError, match="are not in a clause of"):
            clause.decode(start, count, tier="full", tail=tail)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads the resident size from Linux's /proc")
def test_memory_does_not_grow_with_what_was_said(joe: VitsVoice, rng: np.random.Generator) -> None:
    def speak(count: int) -> int:
        for number in range(count):
            prepared = joe.prepare(" ".join(rng.choice(TEXT.split(), 9)), seed=number)
            start = 0
            while start < prepared.frames:
                frames = min(int(rng.integers(4, 60)), prepared.frames - start)
                prepared.decode(start, frames, tier=str(rng.choice(joe.info.tiers)), tail=1)
                start += frames
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    settled = speak(3)
    assert speak(4) - settled < 30e6
