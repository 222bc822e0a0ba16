"""The line of what is played, and the numbers of messages on it."""

from hypothesis import given
from hypothesis import strategies as st

from adaptive.control.plan import Format
from adaptive.delivery.frames import Frame
from adaptive.delivery.line import Line, nearest


def line(*stretches: tuple[int, int, int]) -> Line:
    """Of (utterance, first position, frames)."""
    made = Line()
    for utterance, first, count in stretches:
        for index in range(count):
            made.add(Frame(utterance, first + index * 960, 960, Format(), b""))
    return made


@given(st.integers(0, 2**20), st.integers(-0x7FFF, 0x7FFF))
def test_a_number_is_the_nearest_with_its_low_bits(reference: int, offset: int) -> None:
    assert nearest((reference + offset) % 0x10000, reference) == reference + offset


def test_utterances_stand_one_after_another() -> None:
    made = line((7, 0, 2), (8, 4800, 3))
    assert made.end == 4800
    assert [made.find(7, 960), made.find(8, 4800), made.find(8, 5760)] == [960, 1920, 2880]
    assert made.find(9, 0) is None
    assert [made.at(0), made.at(960), made.at(1920), made.at(1921), made.at(4800)] == [
        (7, 0),
        (7, 960),
        (7, 1920),
        (8, 4801),
        (8, 7680),
    ]


def test_what_lies_beyond_an_utterance_is_its_end() -> None:
    made = line((1, 0, 2), (2, 0, 2))
    assert [made.find(1, 50_000), made.find(2, 50_000)] == [1920, 3840]


def test_an_utterance_number_that_comes_again_is_the_later_one() -> None:
    made = line((1, 0, 2), (2, 0, 2), (1, 0, 1))
    assert made.find(1, 0) == 3840
    made.forget(3000)
    assert made.at(4000) == (1, 160)
    assert made.find(2, 0) == 1920


def test_an_empty_line_is_nowhere() -> None:
    assert Line().at(0) is None
    assert Line().find(0, 0) is None
