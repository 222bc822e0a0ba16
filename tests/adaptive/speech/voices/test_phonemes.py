import logging
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.speech.voices.phonemes import LETTERS, EnglishReader, english


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
    ("text", "words"),
    [
        ("I paid $9.99 at 7:30 pm.", ["I", "paid", "$9.99", "at", "7:30 pm."]),
        ("③ of ٢٠", ["③", "of", "٢٠"]),
        ("½ a cup", ["½", "a", "cup"]),
        ("Well-known 👍 stuff [x](y z)", ["Well-known", "👍", "stuff", "[x](y", "z)"]),
    ],
)
def test_words_stay_as_they_are_written(reader: EnglishReader, text: str, words: list[str]) -> None:
    read = reader.read(text)
    assert [word.text for word in read] == words
    assert all(word.phonemes for word in read if LETTERS.search(word.text))


def test_a_written_form_sounds_as_the_words_that_it_stands_for(reader: EnglishReader) -> None:
    assert sounds(reader, "It costs $9.99 in March.") == sounds(
        reader, "It costs nine dollars and ninety-nine cents in March."
    )


def test_a_letter_a_that_is_spelt_is_no_article(reader: EnglishReader) -> None:
    assert reader.read("Flight 705A left.")[0].phonemes.endswith("ˈA")
    assert reader.read("A flight left.")[0].phonemes == "ɐ"


def sounds(reader: EnglishReader, text: str) -> str:
    return " ".join(word.phonemes for word in reader.read(text))


def test_a_word_that_breaks_the_reader_is_left_out_and_said_so(caplog, monkeypatch) -> None:
    reader = EnglishReader()
    phonemes = reader._phonemes

    def trip(text: str) -> list[str]:
        if "xyzzy" in text:
            raise IndexError("no such room")
        return phonemes(text)

    monkeypatch.setattr(reader, "_phonemes", trip)
    with caplog.at_level(logging.WARNING):
        words = reader.read("say xyzzy now")
    assert [(word.text, bool(word.phonemes)) for word in words] == [("say", True), ("xyzzy", False), ("now", True)]
    assert "cannot read 'xyzzy' (no such room)" in caplog.text


@pytest.mark.parametrize("piece", ["a-", "-1", "/", "A-", "Ab", "one-"])
def test_a_run_without_an_end_takes_no_time(reader: EnglishReader, piece: str) -> None:
    """hibari alone takes 4 to 11 s, in which nobody else is rendered for."""
    written = (piece * 200)[:200]
    began = time.process_time()
    words = reader.read(written)
    assert time.process_time() - began < 1.0
    assert [word.text for word in words] == ([] if piece == "/" else [written])


def test_a_long_word_stays_one(reader: EnglishReader) -> None:
    (word,) = reader.read("Pneumonoultramicroscopicsilicovolcanoconiosis")
    assert " " not in word.phonemes
