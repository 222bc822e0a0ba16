"""Whether a voice can read anything of a text."""

import time
from dataclasses import replace

import pytest

from adaptive.speech.scripts import unreadable
from adaptive.speech.voices.joe import INFO


@pytest.mark.parametrize(
    "text",
    ["Hello.", "Привет, Bob!", "12", "π = 3.14", "5 µm", "Ｈｅｌｌｏ", "ﬁ", "Ünlü", "", "…", "🙂"],
)
def test_what_an_english_voice_takes(text: str) -> None:
    assert unreadable(text, INFO) is None


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("Привет, 5!", "Cyrillic"),
        ("你好世界", "Chinese"),
        ("カナと漢字", "Chinese and Hiragana and Katakana"),
        ("مرحبا", "Arabic"),
        ("<speak>你好</speak>", "Chinese"),
    ],
)
def test_what_it_cannot_read_is_said_with_its_languages(text: str, letters: str) -> None:
    sentence = unreadable(text, INFO)
    assert sentence is not None
    assert sentence.startswith("The voice joe speaks en-US")
    assert f"whose letters are {letters}." in sentence
    assert "in Latin letters" in sentence


@pytest.mark.parametrize(
    ("languages", "text", "reads"),
    [
        ((), "Привет", True),
        (("ru-RU",), "Привет", True),
        (("ru-RU",), "Hello", False),
        (("en-GB", "el"), "Γειά σου", True),
        (("ja",), "漢字", True),
        (("xx",), "Привет", True),
        (("en", "xx"), "Привет", True),
    ],
)
def test_other_languages(languages: tuple[str, ...], text: str, reads: bool) -> None:
    assert (unreadable(text, replace(INFO, languages=languages)) is None) is reads


@pytest.mark.parametrize("piece", ["<!--", "<p a=", "[a](", "&#", "</", "<b "])
def test_markup_without_an_end_takes_no_time(piece: str) -> None:
    """It is looked at in the process that sends."""
    began = time.process_time()
    assert unreadable(piece * (20_000 // len(piece)), INFO) is None
    assert time.process_time() - began < 0.4


def test_a_comment_says_nothing() -> None:
    assert unreadable("<!-- Привет\n -->你好<!---->", INFO) is not None
    assert unreadable("<!-- Hello -->你好", INFO) is not None
