"""Where an utterance goes on that was cut off: words and clauses that were heard to their end are not said again."""

import pytest

from adaptive.control.profiles import Keep
from adaptive.speech.voice import Word
from adaptive.utterance import Text


@pytest.fixture
def text():
    made = Text()
    made.add("Turn left,", (Word(text="Turn", start=0, end=900), Word(text="left,", start=1_000, end=2_000)), start=0)
    made.add("—", (), start=2_500)
    made.add(
        "then stop.",
        (Word(text="then", start=3_100, end=3_900), Word(text="stop.", start=4_000, end=5_000)),
        start=3_000,
    )
    return made


@pytest.mark.parametrize(
    ("heard", "word", "clause"),
    [
        (0, 0, 0),
        (899, 0, 0),
        (900, 900, 0),
        (1_999, 1_000, 0),
        (2_000, 2_000, 0),
        (2_700, 2_700, 2_500),
        (3_050, 3_050, 3_000),
        (4_999, 4_000, 3_000),
        (9_000, 9_000, 3_000),
    ],
)
def test_taken_up(text, heard, word, clause):
    assert text.taken_up(Keep.RESUME, heard) == word
    assert text.taken_up(Keep.RESTART, heard) == clause
    assert text.taken_up(Keep.SKIP, heard) == heard


def test_before_any_clause_is_known_it_goes_on_where_it_was():
    assert Text().taken_up(Keep.RESUME, 700) == 700
    assert Text().taken_up(Keep.RESTART, 700) == 0


@pytest.mark.parametrize(
    ("position", "end"), [(0, 0), (1, 900), (899, 900), (900, 900), (1_500, 2_000), (2_700, 2_700), (4_200, 5_000)]
)
def test_where_the_word_ends_that_has_begun(text, position, end):
    assert text.word_end(position) == end


@pytest.mark.parametrize(
    ("start", "end", "missed"),
    [
        (0, 449, False),
        (0, 450, True),
        (2_000, 3_100, False),
        (600, 1_400, False),
        (600, 1_500, True),
        (4_000, 4_299, False),
        (4_100, 4_400, True),
    ],
)
def test_a_word_cannot_be_made_out_of_less_than_half_or_with_so_much_missing(text, start, end, missed):
    assert text.misses(start, end, most=300 if start >= 4_000 else 1_000) is missed


def test_without_words_whatever_is_missing_counts():
    assert Text().misses(0, 100, most=1_000)
