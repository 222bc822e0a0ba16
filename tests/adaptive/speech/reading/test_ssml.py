"""SSML taken apart, whatever it holds."""

import pytest

from adaptive.speech.reading.ssml import Border, Break, Notice, Part, Plain, Rate, SsmlReader, is_ssml


def parts(text: str) -> list[Part]:
    """With texts that follow one another as one."""
    found: list[Part] = []
    for part in SsmlReader().feed(text, True):
        if isinstance(part, str) and found and isinstance(found[-1], str):
            found[-1] += part
        else:
            found.append(part)
    return found


@pytest.mark.parametrize(
    ("beginning", "ssml"),
    [
        ("<speak>", True),
        (' \n<speak version="1.1"', True),
        ("<speak/>", True),
        ("", None),
        ("  <spe", None),
        ("<speak", None),
        ("<speaker>", False),
        ("<b>", False),
        ("Hello <speak>", False),
    ],
)
def test_what_begins_as_ssml_does(beginning: str, ssml: bool | None) -> None:
    assert is_ssml(beginning) is ssml


def test_what_is_understood() -> None:
    text = (
        '<speak>One <emphasis level="strong">two</emphasis>.<break time="500ms"/><s>Three</s> &amp; <p>four</p></speak>'
    )
    assert parts(text) == [
        "One two.",
        Break(seconds=0.5),
        Border(),
        "Three",
        Border(),
        " & ",
        Border(),
        "four",
        Border(),
    ]


@pytest.mark.parametrize(
    ("attributes", "seconds"),
    [
        ('time="2s"', 2.0),
        ('time="1.5s"', 1.5),
        ('time="+250ms"', 0.25),
        ('time="999s"', 10.0),
        ('strength="none"', 0.0),
        ('strength="x-strong"', 1.0),
        ("", 0.4),
    ],
)
def test_a_break(attributes: str, seconds: float) -> None:
    assert parts(f"<speak>a<break {attributes}/></speak>")[1:] == [Break(seconds=seconds)]


@pytest.mark.parametrize(
    ("rate", "times"),
    [("slow", 0.75), ("1.5", 1.5), ("120%", 1.2), ("+20%", 1.2), ("-50%", 0.5), ("x-fast", 1.6)],
)
def test_a_rate_holds_inside(rate: str, times: float) -> None:
    assert parts(f'<speak><prosody rate="{rate}">a</prosody>b</speak>') == [
        Rate(times=pytest.approx(times)),
        "a",
        Rate(times=1.0),
        "b",
    ]


@pytest.mark.parametrize(
    ("kind", "written", "read"),
    [
        ("characters", "ab-1", "A B 1"),
        ("telephone", "555-0123", "5 5 5 0 1 2 3"),
        ("cardinal", "1990", "1,990"),
        ("ordinal", "22", "22nd"),
        ("ordinal", "113", "113th"),
        ("date", "March 3", "March 3"),
    ],
)
def test_say_as(kind: str, written: str, read: str) -> None:
    assert parts(f'<speak><say-as interpret-as="{kind}">{written}</say-as></speak>') == [read]


def test_the_order_of_a_date() -> None:
    text = '<speak><say-as interpret-as="date" format="dmy">3/4/2025</say-as></speak>'
    assert parts(text) == ["2025-04-03"]


def test_anything_else_is_ignored_with_one_notice() -> None:
    text = '<speak><voice name="x">Hello</voice> <audio src="y">there</audio><prosody pitch="high">.</prosody></speak>'
    found = parts(text)
    notices = [part for part in found if isinstance(part, Notice)]
    assert len(notices) == 1
    assert "<voice>" in notices[0].message
    assert "".join(part for part in found if isinstance(part, str)).split() == ["Hello", "there."]


@pytest.mark.parametrize("name", ["metadata", "desc"])
def test_what_is_no_text_is_not_read(name: str) -> None:
    text = f"<speak>a<{name}>not <b>this</b></{name}>b</speak>"
    assert "not" not in "".join(part for part in parts(text) if isinstance(part, str))


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("<speak>One <break> two</speak> three.", "</speak> three."),
        ("<speak>One &nbsp; two</speak>", "&nbsp; two</speak>"),
        ('<speak>One</speak><!DOCTYPE x [<!ENTITY y "z">]>', '<!DOCTYPE x [<!ENTITY y "z">]>'),
        ("<speak>One", None),
    ],
)
def test_what_cannot_be_read_is_told_and_read_as_plain_text(text: str, rest: str | None) -> None:
    found = parts(text)
    assert "One" in str(found[0])
    notice = next(part for part in found if isinstance(part, Notice))
    assert "read as plain text" in notice.message
    assert [part.text for part in found if isinstance(part, Plain)] == ([rest] if rest else [])
