import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.codec.redundancy import MAX_PAYLOAD, RedundancyPacker, unpack

FRAME = 960


def packed(frames: list[bytes], distances: list[int]) -> list[bytes]:
    packer = RedundancyPacker(payload_type=111)
    return [packer.pack(f, timestamp=i * FRAME, distances=distances) for i, f in enumerate(frames)]


@given(
    st.lists(st.binary(min_size=3, max_size=300), min_size=1, max_size=30),
    st.lists(st.integers(1, 17), max_size=3, unique=True),
)
def test_what_is_packed_comes_out_again(frames: list[bytes], distances: list[int]) -> None:
    for i, payload in enumerate(packed(frames, distances)):
        blocks = unpack(payload)
        assert blocks[-1].offset == 0
        assert blocks[-1].data == frames[i]
        expected = [(d * FRAME, frames[i - d]) for d in sorted(distances, reverse=True) if d <= i]
        assert [(b.offset, b.data) for b in blocks[:-1]] == expected


def test_a_frame_alone_costs_one_byte() -> None:
    assert packed([b"abcd"], [])[0] == bytes((111,)) + b"abcd"


def test_distance_changes_between_frames_and_history_was_kept() -> None:
    packer = RedundancyPacker(payload_type=111)
    for i in range(6):
        packer.pack(bytes((i,)) * 5, timestamp=i * FRAME, distances=[])
    blocks = unpack(packer.pack(b"fffff", timestamp=6 * FRAME, distances=[6, 3]))
    assert [b.data for b in blocks] == [b"\0" * 5, b"\3" * 5, b"fffff"]


def test_nothing_points_across_more_than_the_offset_can_say() -> None:
    packer = RedundancyPacker(payload_type=111)
    packer.pack(b"old one", timestamp=0, distances=[])
    assert len(unpack(packer.pack(b"new", timestamp=20_000, distances=[1]))) == 1


def test_silence_is_not_copied_and_what_has_no_room_is_left_out() -> None:
    packer = RedundancyPacker(payload_type=111)
    packer.pack(b"\xf8", timestamp=0, distances=[])
    assert len(unpack(packer.pack(b"speech", timestamp=FRAME, distances=[1]))) == 1
    packer.pack(bytes(700), timestamp=2 * FRAME, distances=[])
    packer.pack(bytes(100), timestamp=3 * FRAME, distances=[])
    payload = packer.pack(bytes(700), timestamp=4 * FRAME, distances=[2, 1])
    assert [b.offset for b in unpack(payload)] == [FRAME, 0]
    assert len(payload) <= MAX_PAYLOAD


def test_after_clear_no_old_frame_travels() -> None:
    packer = RedundancyPacker(payload_type=111)
    packer.pack(b"secret", timestamp=0, distances=[])
    packer.clear()
    assert b"secret" not in packer.pack(b"fresh", timestamp=FRAME, distances=[1, 2, 3])


@pytest.mark.parametrize("broken", [b"", b"\xef", b"\xef\x00\x00", b"\xef\x0f\x00\x09\x6f" + b"123"])
def test_a_payload_cut_off_is_refused(broken: bytes) -> None:
    with pytest.raises(ValueError, match="RED payload ends"):
        unpack(broken)


@given(st.binary(max_size=60))
def test_noise_is_unpacked_or_refused_never_worse(noise: bytes) -> None:
    try:
        blocks = unpack(noise)
    except ValueError:
        return
    assert blocks[-1].offset == 0


def test_a_frame_that_is_not_to_be_copied_still_counts_in_distances() -> None:
    packer = RedundancyPacker(payload_type=111)
    packer.pack(b"speech", timestamp=0, distances=[])
    packer.pack(b"silence", timestamp=FRAME, distances=[], again=False)
    blocks = unpack(packer.pack(b"more speech", timestamp=2 * FRAME, distances=[1, 2]))
    assert [(b.offset, b.data) for b in blocks] == [(2 * FRAME, b"speech"), (0, b"more speech")]
