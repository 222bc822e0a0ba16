"""Seams: two renderings of the same sound meet. Align them first, then crossfade with equal gain.

Equal gain (the weights add up to one) and not equal power, because the two sides of a seam are nearly the same
signal: weights whose squares add up to one would raise correlated sides by up to 3 dB in the middle.
"""

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]
Signal = NDArray[np.float32] | NDArray[np.float64]

TIE = 2e-3
"""Correlations this close to the best count as equal; of those the shortest lag is taken (a steady tone has many)."""

RELATED = 0.5
"""Correlation below which two signals are not the same sound."""

FAINT = 1e-12
"""Mean power of differences below which a side is silent."""


def ramp(length: int) -> Samples:
    """Raised cosine from 0 to 1 in `length` steps, symmetric: `ramp(n) + ramp(n)[::-1]` is one everywhere."""
    steps = (np.arange(length, dtype=np.float64) + 0.5) / max(length, 1)
    return (0.5 - 0.5 * np.cos(np.pi * steps)).astype(np.float32)


def crossfade(old: Samples, new: Samples) -> Samples:
    """From all `old` to all `new` over their common length. Raises ValueError where the lengths differ."""
    if len(old) != len(new):
        raise ValueError(f"A crossfade needs two sides of one length, not {len(old)} and {len(new)} samples.")
    return (old + (new - old) * ramp(len(new))).astype(np.float32)


def join(tail: Samples, body: Samples) -> Samples:
    """`body`, its beginning crossfaded from `tail`: what came before, rendered on over the same time.

    A tail longer than the body is faded out within the body.
    """
    length = min(len(tail), len(body))
    if not length:
        return body
    return np.concatenate([crossfade(tail[:length], body[:length]), body[length:]])


def find_lag(old: Signal, new: Signal, limit: int) -> int:
    """By how many samples `new` comes later than `old`, within ±`limit`: the lag of the highest correlation.

    Both cover the same time, `[n]` each with n > 2 · limit, else ValueError. The answer is 0 where either is silent
    or the two have nothing in common.
    """
    if len(old) != len(new) or len(old) <= 2 * limit:
        raise ValueError(
            f"Finding a lag within ±{limit} needs two equally long sides of more than {2 * limit} samples."
        )
    # Differences from sample to sample: most of speech is low, and low sounds correlate at any small lag.
    inner = np.diff(old[limit : len(old) - limit].astype(np.float64))
    around = np.diff(new.astype(np.float64))
    energy = np.concatenate([[0.0], np.cumsum(around**2)])
    energy = energy[len(inner) :] - energy[: len(energy) - len(inner)]
    scale = np.sqrt(np.maximum(energy, 0.0) * np.dot(inner, inner))
    if scale.min() < FAINT * len(inner):
        return 0
    likeness = np.correlate(around, inner, mode="valid") / scale
    lags = np.arange(-limit, limit + 1)
    if likeness.max() < RELATED:
        return 0
    best = lags[likeness >= likeness.max() - TIE]
    return int(best[np.argmin(np.abs(best))])
