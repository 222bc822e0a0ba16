"""How written English is read aloud."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.speech.reading.english import EnglishReading
from adaptive.speech.voices.phonemes import english

from .written_forms import failures, forms, spaced

AWKWARD = st.lists(
    st.sampled_from([form.written for form in forms("english")])
    | st.text(st.sampled_from(list("019.,:;/-–+$€%°'\"&<>[]()@#_ ApmTIxkX²½µ你")), max_size=12)
    | st.text(max_size=6),
    max_size=6,
).map(" ".join)


def test_awkward_forms_are_read_as_expected(reading: EnglishReading) -> None:
    assert Counter(form.kind for form in forms("english")).total() == 100
    wrong = failures("english", reading.say, spaced)
    assert len(wrong) <= 5, wrong


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("It's $5.00, then 5 USD.", "It's five dollars, then five U.S dollars."),
        (
            "Call 911 or 1-800-555-0199.",
            "Call nine one one or one, eight zero zero, five five five, zero one nine nine.",
        ),
        ("v2.0, then 1.0.3", "V two dot zero, then one dot zero dot three"),
        ("x < y and <b>bold</b>", "x less than y and bold"),
        ("See [the docs](https://example.com/a-b).", "See the docs."),
        ("Henry VIII and I", "Henry the eighth and I"),
        ("I may 5 times", "I may five times"),
        ("No. I won't.", "No. I won't."),
        ("DO NOT PANIC", "DO NOT PANIC"),
        ("don't say 'hello'", "don't say 'hello'"),
        ("at 7.30 p.m. I ran 7.30 km", "at seven thirty P.M. I ran seven point three zero kilometers"),
        ("at 3pm-5pm", "at three P.M. to five P.M."),
        ("a 3.5-inch, 20th-century disk", "a three point five-inch, twentieth-century disk"),
        (
            "1234567890123456789th",
            "one two three four five six seven eight nine zero one two three four five six seven eight nineth",
        ),
        ("from 1990 to 1250 people", "from nineteen ninety to one thousand two hundred fifty people"),
    ],
)
def test_says(reading: EnglishReading, written: str, read: str) -> None:
    assert reading.say(written) == read


def test_a_word_that_is_read_leads_back_to_what_was_written(reading: EnglishReading) -> None:
    spans = reading.words("He paid $9.99 (twice!) at 7:30 pm, so <b>there</b>.")
    assert [(span.written, span.read) for span in spans if span.changed] == [
        ("$9.99", "nine dollars and ninety-nine cents"),
        ("7:30 pm,", "seven thirty P.M.,"),
        ("<b>there</b>.", "there."),
    ]


@settings(deadline=None, max_examples=300)
@given(AWKWARD)
def test_no_written_character_is_lost_and_all_of_it_is_taken(text: str) -> None:
    spans = english().reading.words(text)
    assert "".join("".join(span.written.split()) for span in spans) == "".join(text.split())


@settings(deadline=None, max_examples=200)
@given(AWKWARD)
def test_no_digit_is_left_to_guess(text: str) -> None:
    assert not any(character in "0123456789" for character in english().reading.say(text))
