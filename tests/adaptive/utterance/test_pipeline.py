"""Every sample once and in order; bounded; silence where there is nothing, without a click."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.speech.renderer import Chunk
from adaptive.utterance import Pipeline
from adaptive.utterance.fade import FADE_TICKS, faded_out

SECOND = 48_000


def ramp(start, count):
    return ((np.arange(start, start + count) % 16_000 + 1) / 32_768).astype(np.float32)


def chunk(start, ticks, *, tier="full", pause=0, samples=None):
    return Chunk(
        start=start,
        samples=ramp(start, ticks) if samples is None else samples,
        tier=tier,
        frames=1,
        render_s=0.01,
        clause=0,
        pause_after=pause,
    )


def pipeline(*lengths, total=None, **options):
    made = Pipeline(target=options.pop("target", 57_600), limit=options.pop("limit", 96_000), **options)
    for length in lengths:
        made.write(chunk(made.written, length))
    if total is not None:
        made.finish(total)
    return made


@given(
    lengths=st.lists(st.integers(0, 3_000), min_size=1, max_size=30),
    frames=st.lists(st.sampled_from([960, 1_920, 2_880]), min_size=1),
)
def test_every_sample_comes_once_and_the_last_frame_is_filled_with_silence(lengths, frames):
    total = sum(lengths)
    made = pipeline(*lengths, total=total)
    got, number = [], 0
    while (block := made.take(frames[number % len(frames)], 0.0)) is not None:
        assert len(block) == frames[number % len(frames)]
        got.append(block)
        number += 1
    heard = np.concatenate(got) if got else np.zeros(0, np.float32)
    np.testing.assert_array_equal(heard[:total], ramp(0, total))
    assert not heard[total:].any()
    assert made.done
    assert made.taken == total


def test_a_hole_or_an_overlap_between_chunks_is_refused():
    made = pipeline(960)
    for start in (959, 961):
        with pytest.raises(ValueError, match="cannot follow 960"):
            made.write(chunk(start, 10))
    with pytest.raises(ValueError, match="announced"):
        made.finish(961)
    made.finish(960)
    with pytest.raises(ValueError, match="cannot follow"):
        made.write(chunk(960, 10))


def test_the_renderer_is_held_at_the_target_and_never_passes_the_limit():
    made = pipeline(target=57_600, limit=96_000)
    taken = 0
    for turn in range(200):
        while made.written < made.grant():
            made.write(chunk(made.written, 9_600))
        assert made.ready <= 96_000
        assert made.ready >= 57_600
        made.take(2_880, turn * 0.06)
        taken += 2_880
    assert made.taken == taken
    assert made.stats.most_ready <= 96_000


def test_long_chunks_lower_the_grant_so_that_the_limit_holds():
    made = pipeline(target=76_800, limit=96_000)
    for turn in range(100):
        while made.written < made.grant():
            made.write(chunk(made.written, 38_400))
        assert made.ready <= 96_000
        made.take(960, turn * 0.02)


def test_one_chunk_may_always_come_when_nothing_is_ready_even_one_longer_than_the_limit():
    made = pipeline(100_000)
    while made.ready > 3_200:
        assert made.grant() <= made.written
        made.take(960, 0.0)
    while made.take(2_880, 1.0) is not None:
        pass
    assert made.grant() == made.written + 1


def test_what_is_ready_before_an_utterance_counts():
    assert pipeline(target=50_000).grant(ahead=20_000) == 30_000
    assert pipeline(target=50_000).grant(ahead=60_000) == 0


def test_pause_blocks_ends_without_a_click_and_loses_nothing():
    made = pipeline(4_800, total=4_800)
    first = made.take(960, 0.0)
    made.pause()
    ending = made.take(960, 0.02)
    np.testing.assert_array_equal(ending[:FADE_TICKS], faded_out(ramp(960, FADE_TICKS)))
    assert not ending[FADE_TICKS:].any()
    assert [made.take(960, t) for t in (0.04, 0.06)] == [None, None]
    made.resume()
    rest = [made.take(960, 0.1 + i * 0.02) for i in range(4)]
    assert made.take(960, 1.0) is None
    np.testing.assert_array_equal(
        np.concatenate([first, *rest])[960 + FADE_TICKS :], ramp(0, 4_800)[960 + FADE_TICKS :]
    )
    assert rest[0][0] < 0.01 * ramp(960, 1)[0]
    assert made.stats.underruns == 0


def test_an_underrun_is_counted_keeps_the_position_and_goes_on_with_the_next_sample():
    made = pipeline(1_920)
    assert made.take(960, 0.0) is not None
    ending = made.take(960, 0.02)
    assert made.taken == 960
    np.testing.assert_array_equal(ending[:FADE_TICKS], faded_out(ramp(960, FADE_TICKS)))
    assert not ending[FADE_TICKS:].any()
    assert made.take(960, 0.04) is None
    made.write(chunk(1_920, 2_000))
    again = made.take(960, 0.12)
    np.testing.assert_array_equal(again[FADE_TICKS:], ramp(960 + FADE_TICKS, 960 - FADE_TICKS))
    assert made.stats.underruns == 1
    assert made.stats.largest_underrun_s == pytest.approx(0.1)


def test_before_the_beginning_there_is_no_underrun():
    made = pipeline(500)
    assert made.take(960, 0.0) is None
    made.write(chunk(500, 2_000))
    assert made.grant() > made.written
    np.testing.assert_array_equal(made.take(960, 5.0), ramp(0, 960))
    assert made.stats.underruns == 0


def test_waiting_for_text_at_the_end_of_a_clause_is_no_underrun():
    made = Pipeline(target=57_600, limit=96_000)
    made.text_open = True
    made.write(chunk(0, 1_200, pause=300))
    assert made.take(960, 0.0) is not None
    assert made.take(960, 0.02) is not None
    assert made.take(960, 0.04) is None
    made.write(chunk(1_200, 1_200))
    assert made.take(960, 3.0) is not None
    assert (made.stats.underruns, made.stats.waits_for_text) == (0, 1)


def test_a_cut_gives_five_milliseconds_that_fall_to_zero_and_ends_it():
    made = pipeline(48_000)
    made.take(960, 0.0)
    tail = made.cut()
    assert len(tail) == FADE_TICKS
    assert tail[0] == pytest.approx(ramp(960, 1)[0], rel=0.01)
    assert abs(tail[-1]) < 1e-4
    assert made.done
    assert made.take(960, 0.02) is None


@pytest.mark.parametrize("prepare", [lambda p: None, lambda p: (p.take(960, 0.0), p.pause(), p.take(960, 0.02))])
def test_a_cut_where_nothing_sounds_gives_nothing(prepare):
    made = pipeline(4_800)
    prepare(made)
    assert len(made.cut()) == 0


def test_it_can_go_back_to_what_was_not_heard():
    made = pipeline(*[960] * 10, total=9_600)
    while made.take(960, 0.0) is not None:
        pass
    made.heard(4_000)
    assert made.rewind(4_000) == 4_000
    block = made.take(960, 1.0)
    np.testing.assert_array_equal(block[FADE_TICKS:], ramp(4_000 + FADE_TICKS, 960 - FADE_TICKS))
    assert made.rewind(0) == 3_840


def test_what_nobody_hears_is_not_kept_for_ever():
    made = pipeline(keep=48_000)
    for number in range(300):
        made.write(chunk(made.written, 4_800))
        made.take(4_800, number * 0.1)
        made.heard(0)
    assert made.taken - made.rewind(0) <= 48_000 + 4_800
