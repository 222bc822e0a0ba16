"""The wire: every message and acknowledgement survives the way there and back, and no bytes make it crash."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.control.plan import Codec, Format
from adaptive.delivery.wire import FORMATS, Ack, Flush, PlayerState, SpeechMessage, unpack

u8, u16, u32, u64 = (st.integers(0, 2**bits - 1) for bits in (8, 16, 32, 64))
messages = st.builds(
    SpeechMessage,
    epoch=u16,
    utterance=u16,
    number=u16,
    position=u32,
    ticks=st.integers(1, 0xFFFF),
    format=st.sampled_from(FORMATS),
    frames=st.lists(st.binary(max_size=100), min_size=1, max_size=10).map(tuple),
    last=st.booleans(),
    not_before=st.none() | u32,
)
acks = st.builds(
    Ack,
    epoch=u16,
    largest=u16,
    bitmap=u64,
    arrival=u32,
    delay=u16,
    wanted_utterance=u16,
    wanted=u32,
    played_utterance=u16,
    played=u32,
    buffered=u16,
    state=st.sampled_from(PlayerState),
)


def message(**changes: object) -> SpeechMessage:
    fields = {
        "epoch": 0x0102,
        "utterance": 3,
        "number": 4,
        "position": 960,
        "ticks": 960,
        "format": Format(),
        "frames": (b"abc",),
    }
    return SpeechMessage(**(fields | changes))


@given(messages)
def test_speech_comes_back_as_it_went(speech: SpeechMessage) -> None:
    assert unpack(speech.pack()) == speech


@given(u16, u16)
def test_a_flush_comes_back_as_it_went(epoch: int, number: int) -> None:
    assert unpack(Flush(epoch=epoch, number=number).pack()) == Flush(epoch=epoch, number=number)


@given(acks)
def test_an_acknowledgement_comes_back_as_it_went(ack: Ack) -> None:
    data = ack.pack()
    assert len(data) == 35
    assert Ack.unpack(data) == ack


@given(st.binary(max_size=1200) | messages.map(lambda m: m.pack()[:-1]))
def test_rubbish_is_refused_and_nothing_else(data: bytes) -> None:
    for read in (unpack, Ack.unpack):
        with suppress(ValueError):
            assert read(data).pack() == data


@given(messages, st.data())
def test_a_changed_byte_never_crashes(speech: SpeechMessage, data: st.DataObject) -> None:
    packed = bytearray(speech.pack())
    packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(u8)
    try:
        read = unpack(bytes(packed))
    except ValueError:
        return
    assert read.pack() == bytes(packed)


def test_the_bytes_are_those_of_the_design() -> None:
    data = message(last=True, not_before=0x01020304, format=Format(codec=Codec.ULAW, rate=8000)).pack()
    assert data == bytes.fromhex("c1 01 0201 0300 0400 c0030000 c003 01 20 04030201 0300 616263")


@pytest.mark.parametrize(
    "changes",
    [{"frames": ()}, {"frames": (bytes(1200),)}, {"position": 2**32}, {"ticks": 0}, {"format": Format(rate=44_100)}],
)
def test_what_has_no_place_in_a_message_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="message"):
        message(**changes).pack()


def test_a_probe_is_a_flush_filled_up() -> None:
    probe = Flush(epoch=3, number=9, size=616)
    assert len(probe.pack()) == 616
    assert unpack(probe.pack()) == probe
    with pytest.raises(ValueError, match="zeros"):
        unpack(probe.pack()[:-1] + b"\1")
    for size in (15, 1151):
        with pytest.raises(ValueError, match="bytes"):
            Flush(epoch=3, number=9, size=size).pack()


def test_a_flush_is_not_speech() -> None:
    with pytest.raises(ValueError, match="flush"):
        SpeechMessage.unpack(Flush(epoch=1, number=2).pack())
    with pytest.raises(ValueError, match="flush"):
        Flush.unpack(message().pack())
