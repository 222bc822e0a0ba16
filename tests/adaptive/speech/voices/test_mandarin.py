"""Mandarin to phonemes: tones, sandhi, readings that depend on the word, and English among it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.speech.voices.mandarin import ipa, mandarin


def said(text: str) -> dict[str, str]:
    return {word.text: word.phonemes for word in mandarin().read(text)}


@pytest.mark.parametrize(
    ("syllable", "sounds"),
    [
        *(("ma1", "ma→"), ("ma2", "ma↗"), ("ma3", "ma↓"), ("ma4", "ma↘"), ("ma5", "ma")),
        *(("zhi1", "ꭧɨ→"), ("zi4", "ʦɨ↘"), ("xue2", "ɕɥe↗"), ("nü3", "ny↓"), ("er2", "ɚ↗"), ("r5", "ɚ"), ("xyz", "")),
    ],
)
def test_a_syllable(syllable: str, sounds: str) -> None:
    assert ipa(syllable) == sounds


def test_a_character_is_read_as_its_word_has_it() -> None:
    """行 is háng in a bank and xíng when one walks; 重 is chóng in the city and zhòng when it matters."""
    assert said("银行行长在重庆，步行很重要。") == {
        "银行行长": "i↗nxa↗ŋxa↗ŋꭧa↓ŋ",
        "在": "ʦai↘",
        "重庆": "ꭧʰʊ↗ŋʨʰi↘ŋ",
        "，": ",",
        "步行": "pu↘ɕi↗ŋ",
        "很": "xə↓n",
        "重要": "ꭧʊ↘ŋjau↘",
        "。": ".",
    }


def test_tones_change_where_they_meet() -> None:
    """Two third tones: the first rises. 不 and 一 rise before a fourth tone."""
    assert said("你好")["你好"] == "ni↗xau↓"
    assert said("不是")["不是"].startswith("pu↗")
    assert said("一定")["一定"].startswith("i↗")
    assert said("一千")["一千"].startswith("i↘")


def test_english_is_read_and_not_dropped() -> None:
    words = said("打开 Bluetooth 设置")
    assert words["Bluetooth"]
    assert "→" not in words["Bluetooth"]


def test_a_clause_as_written_falls_into_its_words_and_loses_no_character() -> None:
    clause = "打开Wi-Fi，然后“重启”路由器（两次）！"
    assert mandarin().words(clause) == ("打开", "Wi-Fi，", "然后“", "重启”", "路由器（", "两次）！")
    assert "".join(mandarin().words(clause)) == clause


def test_written_forms_are_read_as_words_and_named_as_written() -> None:
    """With the tones that numbers have beside what they count: yí gè, yì bǎi."""
    clause = "第1天他花￥1,280买了1个iPhone 15，705A房间<b>很好</b>。"
    read = mandarin().read(clause)
    assert "".join("".join(word.text for word in read).split()) == "".join(clause.split())
    words = {word.text: word.phonemes for word in read}
    assert words["￥1,280"].startswith("i↘ʨʰjɛ→n")
    assert words["1个"].startswith("i↗")
    assert words["705A"].endswith("ˈA")
    assert mandarin().words("他3月5日买了2个。") == ("他", "3月", "5日", "买", "了", "2个。")


@pytest.mark.parametrize("text", ["", "   ", "……", "，。！", "\x00"])
def test_what_has_nothing_to_say_has_no_words(text: str) -> None:
    assert mandarin().read(text) == ()


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_takes_any_text(text: str) -> None:
    mandarin().read(text)
    assert "".join("".join(mandarin().words(text)).split()) == "".join(text.split())
