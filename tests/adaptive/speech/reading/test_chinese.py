"""How written Chinese is read aloud."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.speech.reading.chinese import chinese

from .written_forms import failures, forms, unspaced

AWKWARD = st.lists(
    st.sampled_from([form.written for form in forms("chinese")])
    | st.text(st.sampled_from(list("019.,:/-~+¥$℃%³&<>@# ApmGT一个元年月楼，。")), max_size=10)
    | st.text(max_size=6),
    max_size=5,
).map("".join)


def test_awkward_forms_are_read_as_expected() -> None:
    assert Counter(form.kind for form in forms("chinese")).total() == 100
    wrong = failures("chinese", chinese().say, unspaced)
    assert len(wrong) <= 5, wrong


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("他是No.1，买了2个iPhone 15。", "他是第一，买了两个iPhone 十五。"),
        ("血压120/80mmHg", "血压一百二十，八十毫米汞柱"),
        ("住3-5楼，温度-5度", "住三到五楼，温度负五度"),
        ("苏-27和COVID-19", "苏二十七和COVID十九"),
        ("编号0012，第12次，共100次", "编号零零一二，第十二次，共一百次"),
        ("①②A+B", "一 二 A加B"),
        ("大约1/3的人，约2/5，约8:30", "大约三分之一的人，约五分之二，约八点三十分"),
        ("v1.2.3版", "v一点二点三版"),
        ("没有数字", "没有数字"),
    ],
)
def test_says(written: str, read: str) -> None:
    assert unspaced(chinese().say(written)) == unspaced(read)


def test_spans_say_what_was_written() -> None:
    spans = chinese().spans("２０２４年卖了￥5，<b>好</b>！")
    assert [(span.written, span.read) for span in spans if span.changed] == [
        ("２０２４", "二零二四"),
        ("￥5", "五元"),
        ("<b>", ""),
        ("</b>", ""),
    ]


@settings(deadline=None, max_examples=200)
@given(AWKWARD)
def test_no_written_character_is_lost_and_no_digit_left_to_guess(text: str) -> None:
    spans = chinese().spans(text)
    assert "".join(span.written for span in spans) == text
    assert not any(character in "0123456789" for span in spans for character in span.read)
