"""The clip, whole and in phrases, and as a server speaks it that changes tiers on the way."""

import numpy as np
import pytest

from adaptive.audio.wav import read_wav
from adaptive.ticks import TICK_RATE
from transport_webrtc.bench.network.clip import LEAST_PHRASE_S, TEXT, Clip, as_spoken, make_clip

WORDS = "one two three four five, six seven eight nine ten, and this is the last of them."


@pytest.fixture(scope="module")
def clip() -> Clip:
    return make_clip(WORDS, "tone")


def test_phrases_are_the_whole_clip_and_none_is_short(clip: Clip) -> None:
    assert clip.tier == "full"
    assert clip.phrases[0].start == 0
    assert clip.phrases[-1].end == len(clip.samples)
    assert [phrase.start for phrase in clip.phrases[1:]] == [phrase.end for phrase in clip.phrases[:-1]]
    assert len(clip.phrases) >= 2
    assert all(phrase.end - phrase.start >= LEAST_PHRASE_S * TICK_RATE for phrase in clip.phrases)


def test_it_is_the_same_every_time_and_as_a_file(clip: Clip, tmp_path) -> None:
    assert np.array_equal(make_clip(WORDS, "tone").samples, clip.samples)
    (tmp_path / "clip.wav").write_bytes(clip.wav)
    samples, rate = read_wav(tmp_path / "clip.wav")
    assert rate == TICK_RATE
    assert samples == pytest.approx(clip.samples, abs=1e-4)


def test_as_spoken_follows_the_switches_that_were_told(clip: Clip) -> None:
    assert np.array_equal(as_spoken(clip, "full", []).samples, clip.samples)
    half = clip.phrases[1].start
    spoken = as_spoken(clip, "full", [{"to": "light", "position": half}])
    light = as_spoken(clip, "light", [])
    assert np.array_equal(spoken.samples[: half - TICK_RATE // 10], clip.samples[: half - TICK_RATE // 10])
    assert np.array_equal(spoken.samples[-TICK_RATE // 2 :], light.samples[-TICK_RATE // 2 :])
    assert not np.array_equal(light.samples, clip.samples)
    assert len(spoken.phrases) == len(light.phrases) == len(clip.phrases)


@pytest.mark.voices
def test_what_everybody_says_takes_twelve_seconds() -> None:
    spoken = make_clip()
    assert spoken.text == TEXT
    assert spoken.seconds == pytest.approx(12, abs=1)
