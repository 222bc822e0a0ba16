"""What was heard, when."""

from adaptive.speech.voice import Word
from adaptive.utterance import HeardClock, Timeline, heard_text


def word(text, start, end):
    return Word(text=text, start=start, end=end)


def test_a_frame_is_heard_the_delay_after_it_left_and_then_goes_on_by_itself():
    clock = HeardClock()
    clock.left(10.0, 0, 960)
    clock.left(10.02, 960, 960)
    assert clock.position(10.05, 0.1) == 0
    assert clock.position(10.11, 0.1) == 480
    assert clock.position(10.13, 0.1) == 1_440
    assert clock.position(11.0, 0.1) == 1_920


def test_silence_in_between_holds_the_position():
    clock = HeardClock()
    clock.left(0.0, 0, 960)
    clock.left(1.0, 960, 960)
    assert clock.position(0.9, 0.0) == 960
    assert clock.position(1.01, 0.0) == 1_440


def test_the_timeline_is_in_order_of_ticks_whatever_order_it_was_given_in():
    line = Timeline()
    for tick, item in ((500, "b"), (100, "a"), (500, "c"), (900, "d")):
        line.add(tick, item)
    assert list(line.until(501)) == [(100, "a"), (500, "b"), (500, "c")]
    assert list(line.until(900)) == []
    assert list(line.until(901)) == [(900, "d")]


def test_heard_text_is_whole_words_as_they_stand_in_the_text():
    clauses = [
        ("Well, hello there.", (word("Well", 0, 10), word("hello", 10, 20), word("there", 20, 30))),
        ("And goodbye!", (word("And", 40, 50), word("goodbye", 50, 60))),
    ]
    assert heard_text(clauses, 0) == ""
    assert heard_text(clauses, 25) == "Well, hello"
    assert heard_text(clauses, 35) == "Well, hello there."
    assert heard_text(clauses, 55) == "Well, hello there. And"
    assert heard_text(clauses, 99) == "Well, hello there. And goodbye!"


def test_heard_text_without_spaces_between_words():
    clauses = [("这个很不错。", (word("这个", 0, 10), word("很", 10, 20), word("不错", 20, 30)))]
    assert heard_text(clauses, 22) == "这个很"


def test_words_that_are_spoken_otherwise_than_written_are_told_as_spoken():
    assert heard_text([("705A", (word("seven", 0, 10), word("oh", 10, 20), word("five", 20, 30)))], 20) == "seven oh"


def test_what_left_by_a_time_arrived_and_what_is_restarted_counts_anew():
    clock = HeardClock()
    assert clock.arrived(5.0) == 0
    for number in range(10):
        clock.left(number * 0.02, number * 960, 960)
    assert clock.arrived(0.1) == 6 * 960
    clock.forget(0.1)
    assert clock.arrived(0.1) == 6 * 960
    clock.restart(6 * 960)
    assert clock.arrived(1.0) == clock.position(1.0, 0.0) == 6 * 960
    clock.left(2.0, 4_800, 960)
    assert clock.position(2.01, 0.0) == 4_800 + 480


def test_which_speech_left_in_a_stretch_of_time():
    clock = HeardClock()
    for frame in range(5):
        clock.left(10.0 + 0.02 * frame, 960 * frame, 960)
    assert clock.within(10.0, 10.05) == (960, 2_880)
    assert clock.within(9.0, 10.0) == (0, 960)
    assert clock.within(10.08, 20.0) is None
