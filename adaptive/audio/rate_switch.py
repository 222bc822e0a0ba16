"""A source that changes its rate in the middle of a sound, on one output clock and without a seam.

The new source starts a little before the seam, at an instant that is a whole sample at either rate and at the
output's, so that its resampler is run in when its samples are first heard; those before the seam are dropped by
count. Over the seam the two are crossfaded. What comes out is what crossfading two wholly resampled signals would give.
"""

from dataclasses import dataclass
from math import ceil, gcd

import numpy as np

from .resampling import StreamingResampler
from .seams import Samples, join

FADE_S = 0.015

_NOTHING: Samples = np.zeros(0, dtype=np.float32)


@dataclass(frozen=True, kw_only=True)
class Handover:
    """What has to be pushed for a change of rate."""

    seam: int
    """Output sample at which the new source begins to fade in."""
    old_samples: int
    """So many more samples at the old rate, and then …"""
    new_first: int
    """… samples at the new rate, from this one of the whole sound on."""


class SwitchingResampler:
    """Resamples one sound to `target` Hz from a source whose rate may change.

    Sample `n` of a source at rate `r` is the instant `n / r` of the sound, whichever rates came before.
    """

    def __init__(self, source: int, target: int) -> None:
        """Rates in Hz, both positive, else ValueError."""
        self.emitted = 0
        """Output samples let out so far."""
        self._target = target
        self._fade = round(FADE_S * target)
        self._resampler = StreamingResampler(source, target)
        self._base = 0
        """Output sample that the resampler's first one is."""
        self._owed = 0
        """Samples at the old rate still to come before the next resampler takes over."""
        self._after: tuple[StreamingResampler, int] | None = None
        self._run_in = 0
        """Output of the new resampler from before the seam, still to be dropped."""
        self._old_side = _NOTHING
        self._new_side = _NOTHING

    def change(self, rate: int) -> Handover:
        """Begins a change to `rate` Hz. Raises ValueError while the change before it is under way."""
        if self._after or len(self._old_side):
            raise ValueError("The source's rate is being changed already; that change has to be heard first.")
        old, new = self._resampler, StreamingResampler(rate, self._target)
        seam = self.emitted
        needed = ceil((seam + self._fade - self._base) * old.source / self._target) + old.reach
        step = self._target // gcd(rate, self._target)
        base = max(0, (seam - ceil(new.reach * self._target / rate)) // step * step)
        self._owed = max(0, needed - old.pushed)
        self._after = new, base
        self._run_in = seam - base
        handover = Handover(seam=seam, old_samples=self._owed, new_first=base * rate // self._target)
        self._take_old(_NOTHING)
        return handover

    def push(self, samples: Samples) -> Samples:
        """Takes the next `[n]` input samples and returns what is final of the output, `[m]`, m ≥ 0.

        Raises ValueError for more samples at the old rate than a change asked for.
        """
        if self._after:
            self._take_old(samples)
            return _NOTHING
        return self._let_out(self._without_run_in(self._resampler.push(samples)), last=False)

    def flush(self) -> Samples:
        """The rest of the sound."""
        if self._after:
            out = np.concatenate([self._old_side, self._resampler.flush()])
            self._after, self._old_side = None, _NOTHING
            return self._let_out(out, last=True)
        return self._let_out(self._without_run_in(self._resampler.flush()), last=True)

    def _take_old(self, samples: Samples) -> None:
        if len(samples) > self._owed:
            raise ValueError(f"{self._owed} more samples were due at the old rate, not {len(samples)}.")
        self._owed -= len(samples)
        self._old_side = np.concatenate([self._old_side, self._resampler.push(samples)])
        if not self._owed and self._after:
            self._old_side = self._old_side[: self._fade]
            self._resampler, self._base = self._after
            self._after = None

    def _without_run_in(self, out: Samples) -> Samples:
        dropped = min(self._run_in, len(out))
        self._run_in -= dropped
        return out[dropped:]

    def _let_out(self, out: Samples, *, last: bool) -> Samples:
        self._new_side = np.concatenate([self._new_side, out])
        if len(self._new_side) < len(self._old_side) and not last:
            return _NOTHING
        out = join(self._old_side, self._new_side)
        self._old_side = self._new_side = _NOTHING
        self.emitted += len(out)
        return out
