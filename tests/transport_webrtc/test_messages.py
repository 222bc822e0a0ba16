"""What may be asked for, and the sentence that answers what may not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.control.profiles import Keep
from transport_webrtc.messages import Event, Limits, Refused, SayMessage, VerbMessage, parse_message

LIMITS = Limits(max_text_chars=100, max_message_bytes=1_000)


def refused(raw):
    with pytest.raises(Refused) as caught:
        parse_message(raw, LIMITS)
    sentence = caught.value.sentence
    assert sentence.endswith(".")
    assert sentence[0].isupper() or sentence.split(" must be ")[0] in SayMessage.model_fields
    return caught.value


def test_everything_a_text_may_come_with():
    raw = {
        "id": "a",
        "say": "Hello.",
        "more": True,
        "voice": "tone",
        "speed": 1.5,
        "profile": "narration",
        "carrier": "audio",
        "priority": 9,
        "interrupt": True,
        "at": 2,
        "keep": "resume",
    }
    message = parse_message(json.dumps(raw), LIMITS)
    assert isinstance(message, SayMessage)
    assert message.model_dump() == {**raw, "keep": Keep.RESUME, "at": 2.0}


def test_text_alone_is_enough():
    message = parse_message(b'{"say": "Hi"}', LIMITS)
    assert (message.speed, message.at, message.carrier, message.interrupt) == (1.0, 0.0, "auto", False)


@pytest.mark.parametrize("verb", ["stop", "pause", "resume", "clear"])
def test_the_other_verbs(verb):
    assert parse_message(json.dumps({verb: True}), LIMITS) == VerbMessage(verb=verb)
    assert parse_message(json.dumps({verb: True, "id": "a"}), LIMITS) == VerbMessage(verb=verb, id="a")
    assert refused(json.dumps({verb: False})).status == 422
    assert "Unknown field: voice" in refused(json.dumps({verb: True, "voice": "joe"})).sentence


@pytest.mark.parametrize(
    ("raw", "status", "words"),
    [
        (b"\xff\xfe\x00\x9c noise", 400, "not JSON"),
        ("{", 400, "not JSON"),
        ("[" * 900, 400, "not JSON"),
        ("9" * 900, 422, "not an object"),
        ('{"say": "é"}'.encode("utf-16"), 400, "not JSON in UTF-8"),
        ("[1]", 422, "not an object"),
        ('"say"', 422, "not an object"),
        ("{}", 422, "exactly one of say"),
        ('{"stp": true}', 422, "Unknown field: stp. A message asks for exactly one of say, stop"),
        ('{"say": "a", "stop": true}', 422, "say and stop"),
        ('{"say": "a", "colour": 1, "size": 2}', 422, "Unknown field: colour, size"),
        ('{"say": "a", "\\ud800": 1}', 422, "Unknown field: \\ud800. Known are say"),
        ('{"stop": true, "\\ud800": 1}', 422, "Unknown field: \\ud800. Beside the verb"),
        ('{"stop": true, "verb": "clear"}', 422, "Unknown field: verb"),
        ('{"\\ud800": 1}', 422, "Unknown field: \\ud800. A message"),
        ('{"say": "a", "x\\ny": 1}', 422, "Unknown field: x\\ny."),
        (json.dumps({"say": "a", "k" * 900: 1}), 422, f"Unknown field: {'k' * 39}…. Known"),
        (json.dumps({"say": "a", **dict.fromkeys("bcdefghi")}), 422, "Unknown field: b, c, d, e, f, …. Known"),
        (json.dumps({"say": ["\ud800" * 90]}), 422, "\\ud800"),
        *(
            (json.dumps({"say": "a", "id": id}), 422, "id must be")
            for id in ("a\nINFO forged", "\x1b[31m", "\u202e", "\ud800", "x" * 129)
        ),
        ('{"say": 7}', 422, "say"),
        ('{"say": "a", "speed": 0.2}', 422, "speed"),
        ('{"say": "a", "speed": 4.1}', 422, "speed must be a number from 0.25 to 4, not 4.1."),
        ('{"say": "a", "speed": NaN}', 422, "speed"),
        ('{"say": "a", "speed": "1"}', 422, "speed"),
        ('{"say": "a", "at": -1}', 422, "at"),
        ('{"say": "a", "at": 1e300}', 422, "at"),
        ('{"say": "a", "priority": 10}', 422, "priority"),
        ('{"say": "a", "priority": true}', 422, "priority"),
        ('{"say": "a", "keep": "maybe"}', 422, "resume"),
        ('{"say": "a", "carrier": "pigeon"}', 422, "carrier"),
        ('{"carrier": "auto"}', 422, "audio or data"),
        ('{"carrier": "audio", "id": "a"}', 422, "exactly one of"),
        ('{"say": "a", "id": ""}', 422, "id"),
        ('{"say": "a", "more": 1}', 422, "more"),
        ('{"say": "\\ud800"}', 422, "surrogate"),
        (json.dumps({"say": "a" * 101}), 413, "101 characters; at most 100"),
        (json.dumps({"say": "a" * 2_000}), 413, "at most 1000"),
    ],
)
def test_what_is_wrong_is_said(raw, status, words):
    answer = refused(raw)
    assert answer.status == status
    assert words in answer.sentence
    assert len(answer.sentence.encode()) < 400


def test_what_is_nested_as_deep_as_json_goes_is_refused_at_every_depth():
    for depth in range(100, 1000, 3):
        with pytest.raises(Refused):
            parse_message(f'{{"say":{"[" * depth}{"]" * depth}}}', Limits())


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200)))
def test_noise_is_always_refused_and_never_raises_anything_else(raw):
    with pytest.raises(Refused):
        parse_message(raw, LIMITS)


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*SayMessage.model_fields, "stop", "pause", "x"]), json_values, max_size=5))
def test_any_object_is_a_message_or_refused(value):
    try:
        answer = parse_message(json.dumps(value), LIMITS)
    except Refused as refusal:
        answer = refusal
    assert isinstance(answer, SayMessage | VerbMessage | Refused)


def test_an_event_on_the_wire():
    event = Event(name="word", id="a", at=1.23456, position=960, data={"text": "Hi"})
    assert event.as_dict() == {"event": "word", "id": "a", "at": 1.235, "position": 960, "text": "Hi"}


def test_every_field_says_what_it_takes():
    for model in (SayMessage, VerbMessage):
        for name, field in model.model_fields.items():
            assert name == "verb" or field.description, name
    assert "Input should" not in refused('{"say": "a", "keep": 3}').sentence
