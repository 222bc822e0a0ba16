"""Networks that come and go under the audio track, on virtual time: what is late is not said again, what is lost is."""

import numpy as np
import pytest
from road import WORD, WORDS, Road

from adaptive.control.ladder import LOWEST
from adaptive.control.plan import Protection
from quality.lab.scenarios import Step


def lossy(at_s, seconds, way="both"):
    """Nothing arrives of what leaves for so long."""
    return (
        Step(at_s=at_s, direction=way, settings={"loss": 1.0}),
        Step(at_s=at_s + seconds, direction=way, settings={"loss": 0.0}),
    )


def stalled(at_s, seconds, kbps=400):
    """What leaves for so long waits, and arrives after that."""
    return (
        Step(at_s=at_s, direction="down", settings={"rate_kbps": 0.001}),
        Step(at_s=at_s + seconds, direction="down", settings={"rate_kbps": kbps}),
    )


@pytest.fixture
def drive(virtually, scripted, step):
    """Says twelve seconds on a road with these steps, and gives the road."""

    def run(*steps, seconds=18.0, protection=None, holds_s=0.0):
        async def whole(loop):
            renderer = scripted(lambda text: [step(0.01, 0.5) for _ in text.split()])
            road = Road(loop, renderer, *steps, protection=protection)
            road.far.receiver.target.wanted_s = holds_s
            try:
                await road.say(seconds)
            finally:
                road.close()
            assert road.words == WORDS.split()
            assert len(road.when("finished")) == 1
            return road

        return virtually(whole)

    return run


@pytest.mark.parametrize(("place", "seconds"), [(3.05, 0.7), (3.2, 1.0), (3.35, 3.0), (3.5, 3.0)])
def test_a_queue_that_stands_still_is_no_outage(drive, seconds, place):
    road = drive(*stalled(place, seconds))
    assert np.array_equal(road.heard, np.arange(24 * WORD)), "every tick once, in order"
    assert road.silence_s <= seconds + 0.35  # what was held from the end of a word on, a probe and its answer
    assert len(road.when("paused")) == len(road.when("resumed")) == 1


def test_what_is_still_on_a_long_way_when_word_comes_back_is_not_said_again(drive):
    long = Step(at_s=-1.9, direction="both", settings={"delay_ms": 200.0})
    road = drive(long, *stalled(3.05, 1.15))
    assert np.array_equal(road.heard, np.arange(24 * WORD))


def test_a_path_that_held_packets_back_is_trusted_with_more(drive):
    road = drive(*stalled(2.0, 0.7), *stalled(5.0, 3.0))
    assert np.array_equal(road.heard, np.arange(24 * WORD))
    assert len(road.when("paused")) == 1, "the second one is sat out"
    assert road.silence_s <= 3.0
    waiting = [len(b.samples) for time, b in road.left.items() if 5.8 < time / 48_000 - 2.0 < 8.0]
    assert set(waiting) == {LOWEST.frame_ms * 48}, "what waits is light"
    after = [len(b.samples) for time, b in road.left.items() if time / 48_000 - 2.0 > 8.5]
    assert set(after) == {960}


def many():
    """The silences of T-Mobile UMTS (mahimahi), driving, from second 175 on; between two it is wide."""
    ends = (
        (-0.15, 0.61),
        (0.65, 0.93),
        (0.94, 1.27),
        (1.28, 4.3),
        (4.32, 5.6),
        (7.64, 9.3),
        (10.05, 10.9),
        (12.15, 14.1),
    )
    return [step for start, end in ends for step in stalled(start, end - start, kbps=4_000)]


def test_that_shows_in_a_silence_too_short_to_be_taken_for_an_outage(drive):
    road = drive(*stalled(2.0, 0.45), *stalled(5.0, 3.0))
    assert np.array_equal(road.heard, np.arange(24 * WORD))
    assert not road.when("paused")
    assert road.silence_s <= 3.2


def test_a_drive_of_many_stalls(drive):
    road = drive(*many())
    assert np.array_equal(road.heard, np.arange(24 * WORD))
    assert road.silence_s <= 2.6, "what the longest takes, less what the receiver had"


def test_speech_in_a_queue_that_hardly_moves_is_light(drive):
    narrow, wide = (
        Step(at_s=at_s, direction="down", settings={"rate_kbps": kbps}) for at_s, kbps in ((2, 12), (8, 400))
    )
    road = drive(narrow, wide, seconds=24.0)
    assert np.array_equal(road.heard, np.arange(24 * WORD)), "a receiver throws away what is far too much"
    light = [time / 48_000 - 2.0 for time, b in road.left.items() if len(b.samples) == LOWEST.frame_ms * 48]
    assert light[0] == pytest.approx(2.8, abs=0.3)
    assert light[-1] < 8.7
    assert not road.when("paused")


@pytest.mark.parametrize("seconds", [3.0, 10.0])
def test_it_is_no_less_an_outage_where_all_is_lost(drive, seconds):
    road = drive(*stalled(2.0, 0.7), *lossy(6.2, seconds), seconds=22.0 + seconds)
    assert road.whole_words == [1] * 24
    assert [at for at in road.when("paused") if at > 6.0] == ([] if seconds < 4 else [pytest.approx(10.2, abs=0.15)])
    again = drive(*stalled(2.0, 0.7), *lossy(5.2, 1.0), *lossy(8.1, seconds), seconds=22.0 + seconds)
    assert again.whole_words == [1] * 24
    assert again.when("paused")[-1] == pytest.approx(8.6, abs=0.15), "trusted no more"


@pytest.mark.parametrize(("place", "seconds"), [(3.0, 0.3), (3.3, 0.3), (3.15, 0.45), (3.4, 0.6)])
def test_words_that_a_short_gap_swallowed_are_said_again(drive, seconds, place):
    road = drive(*lossy(place, seconds))
    assert road.whole_words == [1] * 24
    again = np.flatnonzero(np.diff(road.heard) < 0)
    assert len(again) == 1
    assert road.heard[again[0]] - road.heard[again[0] + 1] < (seconds + 0.8) * 48_000, "and no more than is needed"


def test_what_a_receiver_makes_up_or_has_copies_of_is_not_said_again(drive):
    road = drive(*lossy(3.3, 0.15), *lossy(5.4, 0.19))
    assert np.all(np.diff(road.heard) > 0)
    road = drive(*lossy(3.25, 0.28), protection=Protection(copies=(6,)))
    assert np.all(np.diff(road.heard) > 0)
    assert np.max(np.diff(road.heard)) < 0.2 * 48_000


def test_what_is_asked_for_again_is_waited_for(drive):
    road = drive(*lossy(3.25, 0.25), protection=Protection(nack=True), holds_s=0.4)
    assert np.array_equal(road.heard, np.arange(24 * WORD))
    assert road.fates.missing(0.0) == []


def test_a_word_that_is_being_said_is_finished_before_speech_is_held(drive):
    road = drive(*lossy(3.1, 3.0))
    held = [b for time, b in road.left.items() if time / 48_000 - 2.0 < 6.0][-1]
    assert (held.start + np.count_nonzero(held.samples)) % WORD in (0, 240), "5 ms in which the next one fades"
    assert road.whole_words == [1] * 24


def test_skip_is_held_at_once_and_says_nothing_again(virtually, scripted, step):
    async def whole(loop):
        road = Road(loop, scripted(lambda text: [step(0.01, 0.5) for _ in text.split()]), *lossy(3.2, 0.4))
        try:
            await road.say(16.0, keep="skip")
        finally:
            road.close()
        assert np.all(np.diff(road.heard) > 0)

    virtually(whole)
