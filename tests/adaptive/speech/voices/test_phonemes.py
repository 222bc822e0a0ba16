import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.speech.voices.phonemes import LETTERS, EnglishReader, english, readable


@pytest.fixture(scope="module")
def reader() -> EnglishReader:
    return english()


PIECES = [
    "1st",
    "7:30",
    "$9.99",
    "12/25/2024",
    "3½",
    "③",
    "١٢",
    "İ",
    "😀",
    "C++",
    "[a](/b/)",
    "e@x.com",
    "-",
    "'",
    " ",
    "²",
]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=8).map("".join))
def test_reads_whatever_it_is_given(text: str) -> None:
    for word in english().read(text):
        assert isinstance(word.phonemes, str)


@pytest.mark.parametrize("text", ["", "   ", "👍", "...", "?!", "—", "你好", "\x00"])
def test_nothing_to_say_is_no_words(reader: EnglishReader, text: str) -> None:
    assert reader.read(text) == ()


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("I paid $9.99 at 7:30 pm.", "I paid $9.99 at seven thirty P.M."),
        ("③ of ٢٠", "3 of 20"),
        ("½ a cup", "one half a cup"),
        ("Well-known 👍 stuff", "Well-known 👍 stuff"),
    ],
)
def test_words_stay_words(reader: EnglishReader, text: str, read: str) -> None:
    words = reader.read(text)
    assert [word.text for word in words] == read.split()
    assert all(word.phonemes for word in words if LETTERS.search(word.text))


def test_a_number_nobody_reads_is_read_digit_by_digit(reader: EnglishReader) -> None:
    number = "12345678901234567890" * 3
    assert [word.text for word in reader.read(number)] == list(number)
    assert readable("1,000,000") == "1,000,000"


def test_a_word_that_breaks_the_reader_is_left_out_and_said_so(caplog, monkeypatch) -> None:
    reader = EnglishReader()
    normalise = reader._normalise

    def trip(text: str) -> str:
        if "xyzzy" in text:
            raise IndexError("no such room")
        return normalise(text)

    monkeypatch.setattr(reader, "_normalise", trip)
    with caplog.at_level(logging.WARNING):
        words = reader.read("say xyzzy now")
    assert [(word.text, bool(word.phonemes)) for word in words] == [("say", True), ("xyzzy", False), ("now", True)]
    assert "cannot read 'xyzzy' (no such room)" in caplog.text
