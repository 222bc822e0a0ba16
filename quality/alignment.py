"""Where a reference lies in a recording: at one lag for all of it.

Nothing that compares waveforms or spectra place by place, as PESQ, ViSQOL and the mel distances do, finds a lag of
seconds, and none survives a receiver that stretched or held speech. A jitter buffer that grows by 20 ms in mid-word
costs PESQ up to a point of MOS for something that nobody hears. `follow` (in `quality.following`) takes such changes of
the lag out and says what they were; what became of time itself is `quality.continuity`'s to judge. Samples are float32
`[n]`, mono, full scale ±1.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.signal import correlate, resample_poly

Samples = NDArray[np.float32]

_COARSE_RATE = 8_000
"""Hz, of the first search for the lag; the second is exact to the sample."""


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """Where a reference lies in a recording."""

    lag_s: float
    """Of the reference's first sample, from the recording's."""
    samples: Samples
    """The recording from there on, exactly as long as the reference; silence where the recording has nothing."""
    correlation: float
    """−1..1, of the two at this lag. Under .3 or so the reference is not in the recording, or much of it is not."""


def align(heard: Samples, reference: Samples, *, rate: int, earliest_s: float = 0.0, latest_s: float) -> Alignment:
    """Finds the reference in a recording, to the sample, at a lag of `earliest_s` to `latest_s`.

    The window matters: speech with gaps correlates with itself a word away. One lag holds for the whole recording, so a
    receiver that stretched or held speech is aligned to its best part and the rest counts against it. Raises ValueError
    for a window that is none or for silence.
    """
    if not earliest_s <= latest_s:
        raise ValueError(f"The lag cannot be from {earliest_s:g} to {latest_s:g} s.")
    if not np.any(reference) or not np.any(heard):
        raise ValueError("Silence cannot be aligned.")
    coarse_heard, coarse_reference = resampled(heard, rate, _COARSE_RATE), resampled(reference, rate, _COARSE_RATE)
    scores = correlate(coarse_heard, coarse_reference, mode="full", method="fft")
    lags = np.arange(len(scores)) - (len(coarse_reference) - 1)
    window = (lags >= math.floor(earliest_s * _COARSE_RATE)) & (lags <= math.ceil(latest_s * _COARSE_RATE))
    if not window.any():
        raise ValueError(f"The recording of {len(heard) / rate:.2f} s has nothing at {earliest_s:g} to {latest_s:g} s.")
    coarse = int(lags[window][np.argmax(scores[window])]) * rate / _COARSE_RATE
    reach = 2 * math.ceil(rate / _COARSE_RATE)
    near = range(
        max(round(coarse) - reach, math.ceil(earliest_s * rate)),
        min(round(coarse) + reach, math.floor(latest_s * rate)) + 1,
    )
    lag = max(near, key=lambda lag: float(np.dot(cut(heard, lag, len(reference)), reference)), default=round(coarse))
    found = cut(heard, lag, len(reference))
    energy = float(np.linalg.norm(found) * np.linalg.norm(reference))
    correlation = float(np.dot(found, reference)) / energy if energy else 0.0
    return Alignment(lag_s=lag / rate, samples=found, correlation=correlation)


def cut(samples: Samples, start: int, count: int) -> Samples:
    """`count` samples from `start` on, which may lie outside; there it is silent."""
    part = samples[max(0, start) : max(0, start + count)]
    before = min(count, max(0, -start))
    return np.pad(part, (before, count - before - len(part)))


def resampled(samples: Samples, rate: int, wanted: int) -> Samples:
    """At another rate, the whole at once; offline only."""
    if rate == wanted:
        return np.asarray(samples, np.float32)
    common = math.gcd(rate, wanted)
    return resample_poly(np.asarray(samples, np.float32), wanted // common, rate // common).astype(np.float32)
