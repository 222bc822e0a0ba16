"""Cleaning and splitting, whatever the text and wherever its pieces were cut."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.speech.text import LIMIT, ClauseSplitter, clean, pause_after, speakable, spoken_length

PROSE = st.text(st.sampled_from(list(" \n\t.,;:!?…—–\"')(。，”andorbutMrDre.g.12\u200b\x00\ud800")), max_size=500)
ANY = st.text(st.characters(), max_size=300)


def made_of(*parts: str, most: int = 60) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(parts), max_size=most).map("".join)


AWKWARD = {
    "no stops": made_of("word ", "another ", "and ", "1,250 ", "x"),
    "only 。": made_of("今天", "很好", "。", "下雨"),
    "only commas": made_of("one, ", "two,", "三，", "four ", ","),
    "runs of 400": st.sampled_from("a一🙂.,。1é ").map(lambda character: character * 400)
    | made_of("a" * 130, "一" * 130),
    "emoji": made_of("👍🏽", "👩‍👩‍👧‍👦", "🇫🇷", "❤️", " ok ", ".", most=200),
    "several scripts": made_of("Hello ", "你好", "Привет ", "مرحبا ", "नमस्ते ", "カナ", "。", ". ", "สวัสดี"),
    "markup": made_of(
        "<b>", "</b>", "<br/>", "&amp;", "&#8212;", '<a href="x, y. z">', "Hello. ", "<!-- ", "-->", "<", "&"
    ),
    "ssml": made_of("<speak>", "Hello. ", "<break/>", "</speak>", "you, "),
}


def split(text: str) -> list[str]:
    return ClauseSplitter().feed(text, True)


@settings(max_examples=300, deadline=None)
@given(PROSE | ANY, st.lists(st.integers(0, 500), max_size=20))
def test_pieces_cut_anywhere_give_the_clauses_of_the_whole(text: str, cuts: list[int]) -> None:
    splitter = ClauseSplitter()
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    clauses = [clause for begin, end in pairwise(places) for clause in splitter.feed(text[begin:end], False)]
    clauses += splitter.feed("", True)
    assert "".join(clauses) == clean(text)
    assert clauses == split(text)
    assert all(1 <= spoken_length(clause) <= LIMIT for clause in clauses)


@pytest.mark.parametrize("kind", AWKWARD)
def test_no_character_is_lost(kind: str) -> None:
    @settings(max_examples=60, deadline=None)
    @given(AWKWARD[kind], st.integers(1, 500))
    def check(text: str, size: int) -> None:
        splitter = ClauseSplitter()
        pieces = [text[begin : begin + size] for begin in range(0, len(text), size)]
        clauses = [clause for piece in pieces for clause in splitter.feed(piece, False)] + splitter.feed("", True)
        assert "".join(clauses) == clean(text)
        assert all(1 <= spoken_length(clause) <= LIMIT for clause in clauses)

    check()


@settings(max_examples=200, deadline=None)
@given(PROSE | ANY)
def test_clean_text_is_clean(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned == cleaned.strip()
    assert "  " not in cleaned
    cleaned.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("  one\r\n two\t", "one two"),
        ("one\n\n  two", "one\n\ntwo"),
        ("one\x00two\x1b", "one two"),
        ("soft\u00adhyphen \ufeffmark", "softhyphen mark"),
        ("lone \ud83d surrogate", "lone surrogate"),
        ("", ""),
    ],
)
def test_clean(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("Turn left. Then go on.", ["Turn left.", " Then go on."]),
        (
            "Dr. Smith said it costs 3.14 dollars, e.g. at 7 p.m. today. Yes.",
            ["Dr. Smith said it costs 3.14 dollars,", " e.g. at 7 p.m. today.", " Yes."],
        ),
        (
            "Hello there, this is one, and two, and three.",
            ["Hello there,", " this is one, and two, and three."],
        ),
        ("Oh, no. Yes.", ["Oh, no.", " Yes."]),
        (
            "The quick brown fox jumps over the lazy dog while engineers watch and wait",
            ["The quick brown fox jumps over the lazy dog", " while engineers watch and wait"],
        ),
        ('"Really?!" He left.', ['"Really?!"', " He left."]),
        ("See No. 10 now. No. Yes. No.", ["See No. 10 now.", " No.", " Yes.", " No."]),
        ("1. Buy milk. 2. Go.", ["1. Buy milk.", " 2. Go."]),
        ("Chapter one\n\nIt was dark.", ["Chapter one\n\n", "It was dark."]),
        ("你好，世界。今天很好！", ["你好，世界。", "今天很好！"]),
        (
            "今天天气很好，你好，我们去公园，晚上再回家，你觉得怎么样，我们都在等你的回答，好吗？",
            ["今天天气很好，", "你好，我们去公园，", "晚上再回家，你觉得怎么样，", "我们都在等你的回答，好吗？"],
        ),
        ("苹果、橘子、香蕉，还有西瓜、葡萄、草莓。", ["苹果、橘子、", "香蕉，还有西瓜、葡萄、草莓。"]),
    ],
)
def test_splits_where_a_reader_would_breathe(text: str, clauses: list[str]) -> None:
    assert split(text) == clauses


def test_a_long_run_is_cut_after_punctuation_else_between_words_else_anywhere() -> None:
    assert split("Yes. " + "word " * 30 + "end, " + "word " * 60)[1].endswith("end,")
    words = split("word " * 100)
    assert all(clause.strip().replace("word", "").strip() == "" for clause in words)
    assert [len(clause) for clause in split("x" * 450)] == [200, 200, 50]
    assert split("字" * 49 + "12345" + "字" * 9) == ["字" * 49, "12345" + "字" * 9]
    assert split("AI " + "字" * 250)[0] == "AI " + "字" * 49
    assert all(len(clause) % 3 == 0 for clause in split("e\u0301\u0323" * 100))


def test_lengths_are_counted_by_how_long_they_take_to_say() -> None:
    assert [spoken_length(text) for text in ("word,", "字，", "カナ", "한", "")] == [5, 5, 4, 4, 0]


def test_a_sentence_is_given_out_as_soon_as_white_space_follows_it() -> None:
    splitter = ClauseSplitter()
    assert splitter.feed("Let me check", False) == []
    assert splitter.feed(".", False) == []
    assert splitter.feed(" ", False) == ["Let me check."]


def test_text_after_the_final_piece_is_refused() -> None:
    splitter = ClauseSplitter()
    splitter.feed("Done.", True)
    with pytest.raises(ValueError, match="closed"):
        splitter.feed("More.", False)


def test_pauses_grow_with_the_weight_of_the_punctuation() -> None:
    texts = ("word", "word,", "word;", 'word."', "word\n")
    assert sorted(texts, key=pause_after) == list(texts)
    assert len({pause_after(text) for text in texts}) == len(texts)


def test_speakable_needs_a_letter_or_a_digit() -> None:
    assert speakable("... 7")
    assert speakable("你")
    assert not speakable('... "—" !')
