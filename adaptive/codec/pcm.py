"""Speech without a codec: PCM16 and µ-law, and the lower rates they are sent at.

A lower rate is reached by one filter of fixed length, symmetric about the sample it makes: nothing is delayed, and a
sample at any rate stands on the tick it stood on. What the filter needs around a stretch is given with it.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from adaptive.ticks import TICK_RATE

Samples = NDArray[np.float32]

REACH = 312
"""Ticks on each side of a sample that a filtered one depends on: as many as Opus looks ahead at 48 kHz (libopus,
OPUS_GET_LOOKAHEAD), so that every format needs the same of what follows."""
BETA = 9.0
"""Of the Kaiser window: aliases are 90 dB down …"""
HALF_TRANSITION = 220.0
"""… from the new Nyquist frequency on: the transition band of 625 taps is twice so many Hz wide (Kaiser's formula)."""

_FULL = 32768.0
_BIAS, _CLIP = 132, 32635
"""Of µ-law on 16-bit samples (ITU-T G.711; its 14-bit bias of 33, times four)."""


def band_limited(around: Samples, rate: int) -> Samples:
    """The signal below `rate / 2`, still 48,000 samples a second: `[n + 2 · REACH]` to `[n]`."""
    if rate == TICK_RATE:
        return around[REACH : len(around) - REACH]
    return np.convolve(around, _filter(rate), mode="valid")


def decimated(around: Samples, rate: int) -> Samples:
    """`[n + 2 · REACH]` at 48 kHz to `[ceil(n · rate / 48000)]`, its first sample on the first of the n ticks.

    Raises ValueError for a rate that is no whole part of 48 kHz.
    """
    if rate <= 0 or TICK_RATE % rate:
        raise ValueError(f"A sample at {rate} Hz does not stand on a tick of 48 kHz.")
    if rate == TICK_RATE:
        return around[REACH : len(around) - REACH]
    windows = np.lib.stride_tricks.sliding_window_view(around, 2 * REACH + 1)[:: TICK_RATE // rate]
    return (windows @ _filter(rate)).astype(np.float32)


def to_pcm16(samples: Samples) -> bytes:
    """Full scale ±1 to 16 bits, little-endian; what is louder is clipped."""
    return _integers(samples).astype("<i2").tobytes()


def from_pcm16(data: bytes) -> Samples:
    """Raises ValueError for half a sample."""
    if len(data) % 2:
        raise ValueError(f"{len(data)} bytes are not whole samples of 16 bits.")
    return (np.frombuffer(data, "<i2") / _FULL).astype(np.float32)


def to_ulaw(samples: Samples) -> bytes:
    """Full scale ±1 to a byte a sample (ITU-T G.711)."""
    return _compressed()[_integers(samples) + 32768].tobytes()


def from_ulaw(data: bytes) -> Samples:
    """Bytes of G.711 to samples."""
    return _expanded()[np.frombuffer(data, np.uint8)]


def _integers(samples: Samples) -> NDArray[np.int32]:
    return np.clip(np.rint(np.asarray(samples, np.float64) * _FULL), -32768, 32767).astype(np.int32)


@cache
def _filter(rate: int) -> Samples:
    """A windowed sinc of `[2 · REACH + 1]` taps; one at 0 Hz."""
    cutoff = (rate / 2 - HALF_TRANSITION) / TICK_RATE
    taps = np.sinc(2 * cutoff * np.arange(-REACH, REACH + 1)) * np.kaiser(2 * REACH + 1, BETA)
    return (taps / taps.sum()).astype(np.float32)


@cache
def _compressed() -> NDArray[np.uint8]:
    """For each 16-bit value its byte: sign, exponent and mantissa, inverted."""
    values = np.arange(-32768, 32768)
    biased = np.minimum(np.abs(values), _CLIP) + _BIAS
    exponent = np.floor(np.log2(biased)).astype(np.int64) - 7
    mantissa = biased >> (exponent + 3) & 0x0F
    return (~((values < 0) << 7 | exponent << 4 | mantissa) & 0xFF).astype(np.uint8)


@cache
def _expanded() -> Samples:
    """For each byte its sample."""
    code = ~np.arange(256) & 0xFF
    magnitude = (((code & 0x0F) << 3) + _BIAS << (code >> 4 & 7)) - _BIAS
    return (np.where(code & 0x80, -magnitude, magnitude) / _FULL).astype(np.float32)
