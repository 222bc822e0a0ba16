"""Resamples a stream in blocks of any length so that the result is the one of resampling the whole signal at once.

The work is done by torchaudio's windowed-sinc resampler. Run block by block it clicks, because it takes everything
outside a block for silence; here each block is given what lies around it, and a sample is let out only
when all the input it depends on is there. Made speech has that look-ahead for free.
"""

from functools import lru_cache
from math import ceil, gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]

ZERO_CROSSINGS = 64
"""Of the sinc on each side: the transition band is 4 % of the lower rate wide."""
ROLLOFF = 0.95
"""Cut-off as a share of the lower Nyquist frequency, so that the stop band begins right at it."""
BETA = 9.0
"""Of the Kaiser window: images and aliases are 90 dB down."""


@lru_cache(maxsize=32)
def _transform(source: int, target: int) -> Any:
    """torchaudio's resampler with its kernel computed once."""
    from .torchaudio_import import torchaudio

    return torchaudio.transforms.Resample(
        source,
        target,
        resampling_method="sinc_interp_kaiser",
        lowpass_filter_width=ZERO_CROSSINGS,
        rolloff=ROLLOFF,
        beta=BETA,
    )


def resample(samples: Samples, source: int, target: int) -> Samples:
    """The whole signal at another rate: `[n]` at `source` Hz to `[ceil(n · target / source)]` at `target` Hz."""
    if source == target or not len(samples):
        return np.asarray(samples, dtype=np.float32)
    import torch

    with torch.inference_mode():
        signal = torch.from_numpy(np.array(samples, dtype=np.float32))
        out: Samples = _transform(source, target)(signal).numpy()
    return out


class StreamingResampler:
    """One signal, resampled block by block. Output sample `m` stands for the instant `m / target` seconds."""

    def __init__(self, source: int, target: int) -> None:
        """Rates in Hz, both positive, else ValueError."""
        if source <= 0 or target <= 0:
            raise ValueError(f"Rates are positive numbers of Hz, not {source} and {target}.")
        if source != target:
            _transform(source, target)  # now, so that the first block does not wait for torch to load
        self.source = source
        self.target = target
        common = gcd(source, target)
        self._down, self._up = source // common, target // common
        self.reach = (
            0 if source == target else ceil(ZERO_CROSSINGS * self._down / (min(self._down, self._up) * ROLLOFF))
        )
        """Input samples on each side that an output sample depends on."""
        self.reset()

    def reset(self) -> None:
        """Begins a new signal at its first sample; what was held back of the old one is dropped."""
        self.pushed = 0
        """Input samples taken so far."""
        self.emitted = 0
        """Output samples let out so far."""
        self._held: Samples = np.zeros(0, dtype=np.float32)
        self._origin = 0

    def push(self, samples: Samples) -> Samples:
        """Takes the next `[n]` input samples, n ≥ 0; returns the output samples that no later input changes."""
        self._held = np.concatenate([self._held, samples]).astype(np.float32, copy=False)
        self.pushed += len(samples)
        whole = self.pushed - self.reach
        return self._emit(self.length_of(whole) if whole > 0 else 0)

    def flush(self) -> Samples:
        """The rest: with it, `length_of(pushed)` samples came out. Push no more before `reset`."""
        return self._emit(self.length_of(self.pushed))

    def length_of(self, samples: int) -> int:
        """Length in output samples of a signal of so many input samples."""
        return -(-samples * self._up // self._down)

    def _emit(self, until: int) -> Samples:
        if until <= self.emitted:
            return np.zeros(0, dtype=np.float32)
        # A block begins at a multiple of `_down`, where an input and an output sample fall on the same instant.
        base = self._origin * self._up // self._down
        out = resample(self._held, self.source, self.target)[self.emitted - base : until - base]
        self.emitted = until
        needed = max(0, until * self._down // self._up - self.reach)
        drop = needed // self._down * self._down - self._origin
        self._held = self._held[drop:]
        self._origin += drop
        return out
