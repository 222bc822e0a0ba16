"""From a lower rate up to 48 kHz, block by block: every sample given stays as it is, those between are made. Pure."""

from functools import cache

import numpy as np

from adaptive.speech.voice import Samples
from adaptive.ticks import TICK_RATE

REACH = 16
"""Neighbours on each side that an interpolated sample is made of."""
BETA = 6.0
"""Of the Kaiser window: what is mirrored beyond the band stays 60 dB below (Kaiser 1974)."""


class Interpolator:
    """One run of samples at one rate."""

    def __init__(self, rate: int, past: Samples) -> None:
        """`past` is what sounded before, 48 kHz; silence where it is shorter than is looked back at."""
        self.rate = rate
        self._ratio = TICK_RATE // rate
        wanted = (REACH - 1) * self._ratio
        padded = np.concatenate([np.zeros(max(0, wanted - len(past)), np.float32), past[-wanted:]])
        self._held: Samples = padded[:: self._ratio].astype(np.float32)

    @property
    def waiting(self) -> int:
        """Ticks held back until what follows is known."""
        return max(0, len(self._held) - REACH + 1) * self._ratio

    def push(self, samples: Samples) -> Samples:
        """What can be made now: the last `REACH` samples need those after them."""
        held = np.concatenate([self._held, samples])
        count = max(0, len(held) - 2 * REACH + 1)
        self._held = held[count:]
        if not count:
            return np.zeros(0, np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(held, 2 * REACH)
        made: Samples = (windows @ _phases(self._ratio)).astype(np.float32).ravel()
        return made

    def finish(self) -> Samples:
        """The rest, as if the last samples were mirrored at the end: nothing that follows is known at this rate."""
        held = self._held
        before = np.concatenate([np.full(REACH, held[0]), held])[-REACH - 1 : -1][::-1]
        return self.push((2 * held[-1] - before).astype(np.float32))


@cache
def _phases(ratio: int) -> Samples:
    """Taps `[2 · REACH, ratio]` for each place between two samples, from `REACH - 1` before to `REACH` after."""
    x = np.arange(2 * REACH)[:, None] - (REACH - 1) - np.arange(ratio)[None, :] / ratio
    taps = np.sinc(x) * np.i0(BETA * np.sqrt(np.clip(1 - (x / REACH) ** 2, 0, None)))
    return (taps / taps.sum(axis=0)).astype(np.float32)
