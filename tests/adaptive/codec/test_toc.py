"""The table of contents of a packet, against RFC 6716 and against packets libopus made."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.codec import Mode, describe
from adaptive.control.plan import Bandwidth

SWB, FB, NB, WB, MB = Bandwidth.SWB, Bandwidth.FB, Bandwidth.NB, Bandwidth.WB, Bandwidth.MB


@pytest.mark.parametrize(
    ("configuration", "mode", "bandwidth", "frame_ms"),
    [
        (0, Mode.SILK, NB, 10),
        (3, Mode.SILK, NB, 60),
        (5, Mode.SILK, MB, 20),
        (10, Mode.SILK, WB, 40),
        (12, Mode.HYBRID, SWB, 10),
        (15, Mode.HYBRID, FB, 20),
        (16, Mode.CELT, NB, 2.5),
        (23, Mode.CELT, WB, 20),
        (25, Mode.CELT, SWB, 5),
        (31, Mode.CELT, FB, 20),
    ],
)
def test_configurations_of_table_2(configuration, mode, bandwidth, frame_ms) -> None:
    info = describe(bytes([configuration << 3, 0]))
    assert (info.mode, info.bandwidth, info.frame_ms) == (mode, bandwidth, frame_ms)
    assert not info.stereo


def test_the_four_ways_of_counting_frames() -> None:
    fullband = 15 << 3
    assert describe(bytes([fullband, 0])).frames == 1
    assert describe(bytes([fullband | 1, 0, 0])).frames == 2
    assert describe(bytes([fullband | 2, 1, 0, 0])).frames == 2
    three = describe(bytes([fullband | 3, 3, 0, 0, 0]))
    assert (three.frames, three.duration_ms) == (3, 60)


def test_the_copy_flag_is_found_behind_padding_and_lengths() -> None:
    wideband_20, flagged, plain = 9 << 3, 0b0100_0000, 0b1000_0000
    assert describe(bytes([wideband_20, flagged])).fec
    assert not describe(bytes([wideband_20, plain])).fec
    assert describe(bytes([wideband_20 | 2, 252, 0, flagged])).fec
    assert describe(bytes([wideband_20 | 3, 0xC2, 2, 1, flagged, 0, 0, 0])).fec
    wideband_60 = 11 << 3
    assert describe(bytes([wideband_60, 0b0001_0000])).fec
    assert not describe(bytes([wideband_60, 0b1110_0000])).fec


def test_stereo_and_what_is_no_packet() -> None:
    assert describe(bytes([0b0000_0100, 0])).stereo
    for broken in (b"", b"\x03", b"\x03\x00"):
        with pytest.raises(ValueError, match="Opus packet"):
            describe(broken)


@given(st.binary(min_size=0, max_size=40))
def test_any_bytes_are_described_or_refused(packet: bytes) -> None:
    try:
        info = describe(packet)
    except ValueError:
        return
    assert 1 <= info.frames <= 63
