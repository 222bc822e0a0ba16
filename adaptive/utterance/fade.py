"""Ending and taking up sound without a click: 5 ms of a raised cosine."""

import numpy as np

from adaptive.speech.voice import Samples

FADE_TICKS = 240
"""5 ms."""

_RISE = (0.5 - 0.5 * np.cos(np.pi * (np.arange(FADE_TICKS) + 0.5) / FADE_TICKS)).astype(np.float32)
_FALL = _RISE[::-1].copy()


def faded_out(samples: Samples) -> Samples:
    """A copy of at most the first 5 ms, falling to zero at its end; shorter input falls faster."""
    part = samples[:FADE_TICKS]
    if len(part) == FADE_TICKS:
        return part * _FALL
    return part * np.interp(np.arange(len(part)), np.linspace(0, max(len(part) - 1, 1), FADE_TICKS), _FALL).astype(
        np.float32
    )


def faded_in(samples: Samples) -> Samples:
    """A copy whose first 5 ms rise from zero."""
    out = samples.copy()
    count = min(FADE_TICKS, len(out))
    out[:count] *= _RISE[:count]
    return out


def padded(samples: Samples, ticks: int) -> Samples:
    """`samples` followed by silence up to `ticks`."""
    out = np.zeros(ticks, np.float32)
    out[: len(samples)] = samples
    return out
