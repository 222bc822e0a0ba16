"""Samples taken ahead of their time: every one once, whatever is taken back."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from adaptive.speech.renderer import Chunk
from adaptive.utterance import Pipeline, Timeline
from adaptive.utterance.fade import FADE_TICKS
from adaptive.utterance.pipeline import AHEAD_STEP


def ramp(start, count):
    return ((np.arange(start, start + count) % 16_000 + 1) / 32_768).astype(np.float32)


def pipeline(*lengths, total=None):
    made = Pipeline(target=57_600, limit=96_000)
    for length in lengths:
        write(made, length)
    if total is not None:
        made.finish(total)
    return made


def write(made, length):
    chunk = Chunk(start=made.written, samples=ramp(made.written, length), tier="a", frames=1, render_s=0.0, clause=0)
    made.write(chunk)


@given(
    lengths=st.lists(st.integers(1, 9_000), min_size=1, max_size=8),
    asked=st.lists(st.integers(1, 9_600), min_size=1, max_size=6),
)
def test_every_sample_is_taken_once_and_in_order(lengths, asked):
    made, taken = Pipeline(target=57_600, limit=96_000), []

    def take():
        for ticks in asked * 3:
            samples = made.take_ahead(ticks)
            if samples is not None:
                assert 0 < len(samples) <= ticks
                assert made.total is not None or len(samples) % AHEAD_STEP == 0
                taken.append(samples)

    for length in lengths:
        write(made, length)
        take()
        assert made.ready >= min(FADE_TICKS, made.written), "the end is still to come"
    made.finish(sum(lengths))
    while not made.done:
        take()
    np.testing.assert_array_equal(np.concatenate(taken), ramp(0, sum(lengths)))
    assert made.stats.underruns == 0


def test_nothing_is_taken_while_it_is_paused_or_over():
    made = pipeline(4_800, total=4_800)
    made.pause()
    assert made.take_ahead(960) is None
    made.resume()
    assert len(made.take_ahead(9_600)) == 4_800
    assert made.take_ahead(960) is None


def test_what_is_taken_back_comes_again_and_fades_in():
    made = pipeline(9_600, total=9_600)
    made.take_ahead(9_600)
    made.heard(2_000)
    assert made.rewind(5_000) == 5_000
    np.testing.assert_array_equal(made.before(960), ramp(4_040, 960))
    again = made.take_ahead(9_600)
    assert len(again) == 4_600
    assert again[0] < 0.01
    np.testing.assert_array_equal(again[FADE_TICKS:], ramp(5_000 + FADE_TICKS, 4_600 - FADE_TICKS))


def test_what_comes_before_is_told_as_far_as_it_is_kept():
    made = pipeline(960, 960, 960)
    assert not len(made.before(960))
    made.take_ahead(1_920)
    np.testing.assert_array_equal(made.before(1_440), ramp(480, 1_440))
    made.heard(1_920)
    made.rewind(1_920)
    assert len(made.before(960)) <= 960


def test_a_timeline_knows_what_comes_next():
    line = Timeline()
    assert line.next_tick is None
    line.add(20, "b")
    line.add(10, "a")
    assert line.next_tick == 10
    assert list(line.until(11)) == [(10, "a")]
    assert line.next_tick == 20


def test_what_is_skipped_is_left_out_and_what_follows_fades_in():
    made = pipeline(4_800, 4_800)
    made.take(960, 0.0)
    assert len(made.fall()) == FADE_TICKS
    assert len(made.fall()) == 0
    assert made.taken == 960
    assert made.skip(3_000) == 3_000
    np.testing.assert_array_equal(made.take(960, 0.0)[FADE_TICKS:], ramp(3_960 + FADE_TICKS, 960 - FADE_TICKS))
    assert made.skip(99_999) == 9_600 - 4_920
    write(made, 960)
    made.finish(made.written)
    np.testing.assert_array_equal(made.take(960, 0.0)[FADE_TICKS:], ramp(9_600 + FADE_TICKS, 960 - FADE_TICKS))
