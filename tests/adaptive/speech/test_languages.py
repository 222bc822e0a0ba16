"""Which language a text is in, and who speaks it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.speech.languages import language_of, languages_in, runs, voice_for
from adaptive.speech.voices.joe import INFO as JOE
from adaptive.speech.voices.kumo import INFO as KUMO

KNOWN = ("en-US", "zh-CN", "ja", "ru")


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        ("Hello there.", ("en-US",)),
        ("你好，世界。", ("zh-CN",)),
        ("打开 Bluetooth 设置", ("zh-CN", "en-US")),
        ("The word 你好 means hello", ("en-US", "zh-CN")),
        ("カナと漢字", ("ja",)),
        ("Привет, Bob and Ann!", ("en-US", "ru")),
        ("مرحبا", ()),
        ("12:30, 5 %", ()),
    ],
)
def test_languages_by_letters(text: str, languages: tuple[str, ...]) -> None:
    assert languages_in(text, KNOWN) == languages
    assert language_of(text, KNOWN) == next(iter(languages), None)


def test_runs_of_a_mixed_clause() -> None:
    assert list(runs("(3) 打开 Wi-Fi, 好", KNOWN)) == [("zh-CN", "(3) 打开 "), ("en-US", "Wi-Fi, "), ("zh-CN", "好")]


@given(st.text(st.sampled_from(list("ab你好カпр 1,م")), max_size=30))
def test_runs_are_all_of_the_text(text: str) -> None:
    found = list(runs(text, KNOWN))
    assert "".join(run for _, run in found) == (text if found else "")


@pytest.mark.parametrize(
    ("text", "voice"),
    [
        ("Hello.", "joe"),
        ("你好。", "kumo"),
        ("Say 你好 to them.", "joe"),
        ("打开 Bluetooth 设置", "kumo"),
        ("<speak>你好</speak>", "kumo"),
        ("123", "joe"),
        ("Привет", "joe"),
    ],
)
def test_the_voice_that_speaks_it(text: str, voice: str) -> None:
    assert voice_for(text, (JOE, KUMO), "joe") == voice


def test_most_of_it_decides() -> None:
    russian = replace(JOE, name="ivan", languages=("ru-RU",))
    assert voice_for("Привет всем, Bob", (JOE, russian), "joe") == "ivan"
    assert voice_for("Привет, Bob and Ann", (JOE, russian), "joe") == "joe"
