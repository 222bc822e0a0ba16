"""Clauses and how they are spoken, from plain text and from SSML."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.speech.reading.ssml import Notice
from adaptive.speech.spoken import SpokenClause, SpokenReader

PIECES = (
    "<speak>",
    "</speak>",
    "<break time='1s'/>",
    '<prosody rate="slow">',
    "</prosody>",
    "<s>",
    "</s>",
    '<say-as interpret-as="characters">',
    "</say-as>",
    "<x>",
    "</x>",
    "&amp;",
    "&x;",
    "Hello there, ",
    "you. ",
    "一二。",
    "<",
    "\x00",
    "\ud800",
)


def read(text: str) -> list[SpokenClause | Notice]:
    return SpokenReader().feed(text, True)


def test_plain_text_is_split_as_ever() -> None:
    assert read("One. <b>Two</b>") == [SpokenClause(text="One."), SpokenClause(text=" <b>Two</b>")]


def test_a_break_and_a_rate_belong_to_clauses() -> None:
    text = '<speak>Wait.<break time="2s"/> Now <prosody rate="slow">go on</prosody> quickly.<break/></speak>'
    assert read(text) == [
        SpokenClause(text="Wait.", pause_s=2.0),
        SpokenClause(text=" Now"),
        SpokenClause(text=" go on", rate=0.75),
        SpokenClause(text=" quickly.", pause_s=0.4),
    ]


def test_breaks_in_a_row_add_up_to_a_limit() -> None:
    assert read('<speak>a<break time="1s"/><break time="2s"/></speak>') == [SpokenClause(text="a", pause_s=3.0)]
    assert read("<speak>a" + '<break time="9s"/>' * 3 + "</speak>") == [SpokenClause(text="a", pause_s=10.0)]


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map(lambda parts: "<speak>" + "".join(parts)), st.data())
def test_pieces_cut_anywhere_give_what_the_whole_gives(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    reader = SpokenReader()
    found = [each for begin, end in pairwise([0, *cuts, len(text)]) for each in reader.feed(text[begin:end], False)]
    found += reader.feed("", True)
    whole = read(text)
    assert [each for each in found if isinstance(each, SpokenClause)] == [
        each for each in whole if isinstance(each, SpokenClause)
    ]
    assert [each for each in found if isinstance(each, Notice)] == [each for each in whole if isinstance(each, Notice)]


@pytest.mark.parametrize("text", ["Hello. There", "<speak>Hello.</speak>"])
def test_text_after_the_final_piece_is_refused(text: str) -> None:
    reader = SpokenReader()
    reader.feed(text, True)
    with pytest.raises(ValueError, match="closed"):
        reader.feed("More", False)
