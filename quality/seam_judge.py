"""Is a switch heard? Compares what came out with both branches: the same speech had it not switched, either way.

A click alone is no evidence, because a plosive looks like one. But a plosive is in the branches too; a fault of the
switch is only in what was heard. `Seam.r` therefore is a ratio: the largest jump in what was heard over the largest in
either branch at the same place, a jump being what a linear predictor fitted to the old branch did not foresee.
Untouched speech, its plosives and proper crossfades stay below 1.5; cuts out of phase and impulses go beyond it.
Where the codec itself was changed, `judge_codec_seam` looks at whole frames, since a codec moves jumps within a frame.
Two numbers catch what hides behind a smooth fade: `lag_samples`, branches that do not lie on each other, and
`level_db`, a dip or a bump. `branch_snr_db` says how much there was to hide: two equal branches prove nothing.
"""

from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_toeplitz
from scipy.signal import lfilter, resample_poly

from adaptive.audio.seams import find_lag

Samples = NDArray[np.float32]
Signal = NDArray[np.float64]

LIMIT = 1.25
"""A seam before the codec is good up to this r."""
FAIL = 1.5
"""Above this r it is heard."""
LIMIT_DECODED = 2.0
"""A good seam's r after a lossy codec, which codes the two sides of a seam in its own way."""

JUDGE_RATE = 24_000
"""Hz at which jumps are compared: a predictor of this order whitens speech up to 12 kHz, and clicks reach all of it."""
ORDER = 32
FIT_S = 0.050
"""The predictor is fitted to this much of the old branch on each side."""
PEAK_S = 0.0015
"""Jumps are compared within ± this."""
SCAN_S = 0.012
"""The comparison is made at places this far before and behind the switch …"""
STEP_S = 0.003
"""… and this far apart."""
FRAME_S = 0.020
"""At a change of the codec jumps are compared within ± this, the length of a frame."""
FLOOR = 0.02
"""Of the level around, added to the branches' jump so that silence does not judge harshly."""
LAG_S = 0.015
"""Lags are looked for up to this …"""
LAG_FIT_S = 0.060
"""… by this much of the speech."""
LEVEL_S = 0.010
"""Levels are those of windows this long."""
FAINT = 10 ** (-40 / 20)
"""Levels and branches are compared where a branch is above −40 dBFS: below, some 20 dB under speech, noise decides."""


@dataclass(frozen=True, kw_only=True)
class Seam:
    """A judgement on one switch."""

    r: float
    """Largest jump heard over the largest jump of the branches in the same 3 ms, the worst place around the switch."""
    lag_samples: int
    """The largest lag found between what should lie on each other: old and new branch, what was heard before the
    switch and the old, what was heard behind it and the new."""
    level_db: float
    """How far the level heard leaves the range between the branches' levels; a dip is negative."""
    branch_snr_db: float | None
    """Level of the old branch over that of the difference between the branches; None where they are equal or faint."""


def judge_seam(heard: Samples, old: Samples, new: Samples, *, at: int, fade: int = 0, rate: int = 48_000) -> Seam:
    """Judges a switch that begins at sample `at` and takes `fade` samples.

    `heard`, `old` and `new` cover the same time, `[n]` each at `rate` Hz, else ValueError. 150 ms on each side of the
    switch are enough; where there is less, silence is taken to go on.
    """
    return _judge(heard, old, new, at, at + fade, rate, places=(SCAN_S, PEAK_S))


def judge_codec_seam(heard: Samples, old: Samples, new: Samples, *, at: int, rate: int = 48_000) -> Seam:
    """Judges a change of the codec's operating point at sample `at` of decoded speech.

    `old` and `new` are the same speech coded wholly at the one and at the other point, as long as `heard`.
    `r` then is the largest jump heard within a frame of the change over the largest without one.
    """
    return _judge(heard, old, new, at, at, rate, places=(0.0, FRAME_S))


def _judge(
    heard: Samples, old: Samples, new: Samples, at: int, until: int, rate: int, *, places: tuple[float, float]
) -> Seam:
    """`places`: how far around the seam jumps are compared, and within what."""
    if not len(heard) == len(old) == len(new):
        raise ValueError(f"The three signals differ in length: {len(heard)}, {len(old)} and {len(new)} samples.")
    margin = round((LAG_FIT_S + 2 * LAG_S) * rate)
    before, behind = max(0, margin - at), max(0, margin - (len(heard) - until))
    came, was, would = (np.pad(signal, (before, behind)).astype(np.float64) for signal in (heard, old, new))
    begin = at + before
    end = until + before
    return Seam(
        r=_jump_ratio(came, was, would, begin / rate, end / rate, rate, *places),
        lag_samples=_largest_lag(came, was, would, begin, end, rate),
        level_db=_level_departure(came, was, would, begin, end, rate),
        branch_snr_db=_snr_db(was, would),
    )


def _jump_ratio(
    heard: Signal, old: Signal, new: Signal, begin_s: float, end_s: float, rate: int, scan_s: float, peak_s: float
) -> float:
    common = gcd(rate, JUDGE_RATE)
    heard, old, new = (resample_poly(signal, JUDGE_RATE // common, rate // common) for signal in (heard, old, new))
    middle, fit = round((begin_s + end_s) / 2 * JUDGE_RATE), round(FIT_S * JUDGE_RATE)
    around = slice(max(0, middle - fit), middle + fit)
    predictor = _predictor(old[around])
    floor = FLOOR * max(_level(old[around]), _level(new[around]), 1e-4)
    jumps = [np.abs(lfilter(predictor, [1.0], signal)) for signal in (heard, old, new)]
    peak, step = round(peak_s * JUDGE_RATE), round(STEP_S * JUDGE_RATE)
    first, last = round((begin_s - scan_s) * JUDGE_RATE), round((end_s + scan_s) * JUDGE_RATE)
    worst = 0.0
    for place in range(max(first, peak), last + 1, step):
        in_heard, in_old, in_new = (float(jump[place - peak : place + peak + 1].max()) for jump in jumps)
        worst = max(worst, in_heard / (max(in_old, in_new) + floor))
    return worst


def _predictor(signal: Signal) -> Signal:
    """The filter that leaves of `signal` what a linear prediction of order `ORDER` does not foresee."""
    windowed = signal * np.hanning(len(signal))
    correlation = np.correlate(windowed, windowed, "full")[len(windowed) - 1 : len(windowed) + ORDER].copy()
    correlation[0] = correlation[0] * (1 + 1e-5) + 1e-9
    weights = solve_toeplitz(correlation[:ORDER], correlation[1:])
    return np.concatenate([[1.0], -weights])


def _largest_lag(heard: Signal, old: Signal, new: Signal, begin: int, end: int, rate: int) -> int:
    limit = round(LAG_S * rate)
    length = round((LAG_FIT_S + 2 * LAG_S) * rate)
    lags = (
        find_lag(old[begin - length : end + length], new[begin - length : end + length], limit),
        find_lag(old[begin - length : begin], heard[begin - length : begin], limit),
        find_lag(new[end : end + length], heard[end : end + length], limit),
    )
    return max(lags, key=abs)


def _level_departure(heard: Signal, old: Signal, new: Signal, begin: int, end: int, rate: int) -> float:
    length = round(LEVEL_S * rate)
    worst = 0.0
    for first in range(begin - length, end + 1, max(1, length // 5)):
        own, *branches = (_level(signal[first : first + length]) for signal in (heard, old, new))
        if max(branches) < FAINT:
            continue
        nearest = min(max(own, min(branches)), max(branches))
        departure = 20 * np.log10(max(own, 1e-9) / max(nearest, 1e-9))
        worst = max(worst, float(departure), key=abs)
    return worst


def _snr_db(old: Signal, new: Signal) -> float | None:
    difference = _level(new - old)
    if not difference or max(_level(old), _level(new)) < FAINT:
        return None
    return float(20 * np.log10(max(_level(old), 1e-9) / difference))


def _level(signal: Signal) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(signal**2))) if len(signal) else 0.0
