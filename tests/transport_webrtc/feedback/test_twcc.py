import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transport_webrtc.feedback.twcc import parse_feedback, stamp

Deltas = list[int | None]
"""Per packet: 250 µs steps since the packet received before it, or None."""


def encode(deltas: Deltas, *, base: int, reference: int, number: int, shape: random.Random) -> bytes:
    """A feedback packet, with chunk kinds chosen by `shape` among those that can say it."""
    states = [0 if d is None else 1 if 0 <= d <= 255 else 2 for d in deltas]
    chunks = b""
    at = 0
    while at < len(states):
        run = 1
        while at + run < len(states) and states[at + run] == states[at] and run < 0x1FFF:
            run += 1
        ones = states[at : at + 14]
        kinds = ["two"] + (["run"] if run > 1 or len(states) - at == 1 else []) + (["one"] if max(ones) < 2 else [])
        kind = shape.choice(kinds)
        if kind == "run":
            chunks += (states[at] << 13 | run).to_bytes(2, "big")
            at += run
        elif kind == "one":
            bits = sum(s << (13 - i) for i, s in enumerate(ones))
            chunks += (0x8000 | bits).to_bytes(2, "big")
            at += 14
        else:
            bits = sum(s << (12 - 2 * i) for i, s in enumerate(states[at : at + 7]))
            chunks += (0xC000 | bits).to_bytes(2, "big")
            at += 7
    body = base.to_bytes(2, "big") + len(deltas).to_bytes(2, "big")
    body += reference.to_bytes(3, "big", signed=True) + bytes((number,)) + chunks
    body += b"".join(d.to_bytes(s, "big", signed=s == 2) for d, s in zip(deltas, states, strict=True) if d is not None)
    padding = -len(body) % 4
    if padding:
        body += bytes(padding - 1) + bytes((padding,))
    first = 0x80 | (0x20 if padding else 0) | 15
    header = bytes((first, 205)) + ((len(body) + 8) // 4).to_bytes(2, "big") + bytes(8)
    return header + body


delta = st.none() | st.integers(0, 255) | st.integers(-32768, 32767)


@given(
    st.lists(delta, min_size=1, max_size=400),
    st.integers(0, 0xFFFF),
    st.integers(-(1 << 23), (1 << 23) - 1),
    st.integers(0, 255),
    st.randoms(use_true_random=False),
)
def test_what_an_encoder_says_is_read(
    deltas: Deltas, base: int, reference: int, number: int, shape: random.Random
) -> None:
    feedback = parse_feedback(encode(deltas, base=base, reference=reference, number=number, shape=shape))
    assert (feedback.base, feedback.reference, feedback.number) == (base, reference, number)
    time_us = 0
    expected: list[int | None] = []
    for step in deltas:
        if step is not None:
            time_us += step * 250
        expected.append(None if step is None else time_us)
    assert list(feedback.arrivals_us) == expected


@given(st.lists(delta, min_size=1, max_size=60), st.data())
def test_a_packet_cut_off_is_refused(deltas: Deltas, data: st.DataObject) -> None:
    packet = encode(deltas, base=1, reference=2, number=3, shape=random.Random(1))
    cut = data.draw(st.integers(4, len(packet) - 1))
    with pytest.raises(ValueError, match="transport-wide feedback"):
        parse_feedback(packet[:cut])


@given(st.binary(min_size=4, max_size=80))
def test_noise_is_read_or_refused_never_worse(noise: bytes) -> None:
    try:
        parse_feedback(bytes((0x8F, 205)) + noise)
    except ValueError:
        return


def test_a_stamp_goes_into_a_packet_without_and_with_an_extension() -> None:
    plain = bytes((0x80, 111)) + bytes(10) + b"payload"
    once = stamp(plain, element=3, number=0x1234)
    assert once[0] & 0x10
    assert once[12:20] == b"\xbe\xde\x00\x01\x31\x12\x34\x00"
    assert once.endswith(b"payload")
    twice = stamp(once, element=5, number=0)
    assert twice[12:16] == b"\xbe\xde\x00\x02"
    assert twice[16:24] == b"\x31\x12\x34\x00\x51\x00\x00\x00"
    assert twice.endswith(b"payload")
    two_byte_form = bytes((0x90, 111)) + bytes(10) + b"\x10\x00\x00\x01abcd" + b"payload"
    assert stamp(two_byte_form, element=3, number=1) == two_byte_form
