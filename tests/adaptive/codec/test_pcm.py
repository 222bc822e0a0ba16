"""Speech without a codec: G.711 to the letter, lower rates without delay, and without what would fold back."""

import numpy as np
import pytest

from adaptive.codec.pcm import REACH, band_limited, decimated, from_pcm16, from_ulaw, to_pcm16, to_ulaw


def tone(hertz: float, ticks: int, first: int = 0) -> np.ndarray:
    return (0.5 * np.sin(2 * np.pi * hertz * np.arange(first, first + ticks) / 48_000)).astype(np.float32)


def test_pcm16_is_exact_and_clips() -> None:
    values = np.array([-32768, -1, 0, 1, 32767]) / 32768
    assert np.array_equal(from_pcm16(to_pcm16(values)), values.astype(np.float32))
    assert to_pcm16(np.array([0.5, 2.0, -2.0])) == b"\x00\x40\xff\x7f\x00\x80"
    with pytest.raises(ValueError, match="whole samples"):
        from_pcm16(b"\x00")


def test_ulaw_is_g711() -> None:
    # ITU-T G.711 table 2: the largest values, zero, and decision values between them.
    known = {0: 0xFF, 32767: 0x80, -32768: 0x00, 8: 0xFE, -8: 0x7E, 1000: 0xCE, -1000: 0x4E}
    assert to_ulaw(np.array(list(known)) / 32768) == bytes(known.values())
    assert round(from_ulaw(b"\x80")[0] * 32768) == 32124
    assert round(from_ulaw(b"\x00")[0] * 32768) == -32124


def test_every_ulaw_byte_comes_back() -> None:
    codes = bytes(code for code in range(256) if code != 0x7F)  # that one is the other zero
    assert to_ulaw(from_ulaw(codes)) == codes


@pytest.mark.parametrize("rate", [8_000, 12_000, 16_000, 24_000, 48_000])
def test_a_lower_rate_keeps_place_and_level(rate: int) -> None:
    hertz = rate * 0.4
    out = decimated(tone(hertz, 4800 + 2 * REACH, first=-REACH), rate)
    wanted = tone(hertz, 4800)[:: 48_000 // rate]
    assert len(out) == rate // 10
    assert np.max(np.abs(out - wanted)) < 1e-4


@pytest.mark.parametrize("rate", [8_000, 12_000, 16_000, 24_000])
def test_nothing_folds_back(rate: int) -> None:
    around = tone(rate * 0.5 + 30, 4800 + 2 * REACH)
    assert np.max(np.abs(decimated(around, rate))) < 1e-3
    assert np.max(np.abs(band_limited(around, rate))) < 1e-3


def test_blocks_join_without_a_seam() -> None:
    signal = np.random.default_rng(1).normal(0, 0.1, 4800 + 2 * REACH).astype(np.float32)
    blocks = [decimated(signal[at : at + 480 + 2 * REACH], 8_000) for at in range(0, 4800, 480)]
    assert np.allclose(np.concatenate(blocks), decimated(signal, 8_000), atol=1e-6)


def test_the_band_limited_signal_is_what_is_decimated() -> None:
    signal = np.random.default_rng(2).normal(0, 0.1, 960 + 2 * REACH).astype(np.float32)
    assert np.allclose(band_limited(signal, 16_000)[::3], decimated(signal, 16_000), atol=1e-5)


def test_a_rate_beside_the_ticks_is_refused() -> None:
    with pytest.raises(ValueError, match="44100"):
        decimated(np.zeros(1000, np.float32), 44_100)
