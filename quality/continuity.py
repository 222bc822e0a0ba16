"""Whether speech flowed: silence added, speech lost and the largest gap of a recording against what was said.

The reference is followed through the recording in steps of 10 ms, at a lag that may drift (a receiver stretches and
squeezes) or jump (it stalled, or left something out), by the cheapest way through (Viterbi) of a spectral distance.
Unlike a waveform's, that distance survives codecs, packet loss concealment and time stretching. Samples are float32 of
shape `[n]`, mono, full scale ±1.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.signal import resample_poly

Samples = NDArray[np.float32]
Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]

STEP_S = 0.01
"""Everything is counted in steps of this length."""
ACTIVE_DB = -35.0
"""Below the loud parts of the reference (95th percentile): a step above this is speech, one below is silence."""
LOST_DB = 4.0
"""What a step costs that is not found; the mean distance of the bands where it is. Speech coded at 12 kb/s wideband has
1.0 with itself, 1.3 with a fifth of its packets concealed, other speech of the same voice 5.6 (medians, measured; the
tests hold the counts that follow from it)."""
LOSING_COST_DB = 20.0
"""Of a stretch that is lost, once: a step or two that differ are no loss."""
DRIFT_COST_DB = 5.0
"""Of a lag that changes by one step: a receiver stretches by a tenth or a quarter, not all the time."""
JUMP_COST_DB = 60.0
"""Of a lag that grows by more: the recording stalled."""
MOST_DB = 15.0
"""A step's distance counts up to this, and counts this where speech should be and the recording is silent."""

_RATE = 16_000
_STEP = round(_RATE * STEP_S)
_WINDOW = 512
_BANDS = 20
_LOW_HZ, _HIGH_HZ = 100.0, 4_000.0
_FLOOR_DB = -45.0


@dataclass(frozen=True, kw_only=True)
class Continuity:
    """What became of the reference's speech in a recording; all times in seconds."""

    silence_added_s: float
    """Silence between the reference's first and last sound beyond the reference's own. Stretching a pause by a few
    hundredths is a receiver's habit: what it does on a clean network is the floor."""
    lost_speech_s: float
    """Speech of the reference that has no match in the recording."""
    largest_gap_s: float
    """The longest silence beyond the pauses that are the reference's own."""
    speech_s: float
    """Speech in the reference."""
    start_s: float | None
    """Where the reference's first sample lies in the recording; None where nothing of it is found."""
    lags_s: Floats
    """Per step of the reference: how much later than at its own time it is in the recording; NaN where it is lost or
    silent."""


def compare(heard: Samples, reference: Samples, *, rate: int, latest_s: float) -> Continuity:
    """Follows `reference` through `heard`; both begin at the same instant, and nothing comes later than `latest_s`.

    Raises ValueError for a reference without speech.
    """
    if not np.any(reference):
        raise ValueError("The reference is silent, so nothing of it can be lost.")
    said, got = _resampled(reference, rate), _resampled(heard, rate)
    levels = _levels(said)
    loud = float(np.percentile(levels, 95))
    active, sounding = levels > loud + ACTIVE_DB, _levels(got) > loud + ACTIVE_DB
    distances = _distances(_bands(said, loud), _bands(got, loud), math.ceil(latest_s / STEP_S))
    distances[_unanswered(active, sounding, distances.shape)] = MOST_DB
    path, match = _follow(distances)
    steps = np.arange(len(path))
    found = active & match & (distances[steps, path] < MOST_DB)
    lags = np.where(found, path * STEP_S, np.nan).astype(np.float32)
    speech = int(active.sum())
    if not found.any():
        whole = _extent(active)
        missing = (whole[1] - whole[0]) * STEP_S
        return Continuity(
            silence_added_s=missing - _silent(active, *whole) * STEP_S,
            lost_speech_s=speech * STEP_S,
            largest_gap_s=missing,
            speech_s=speech * STEP_S,
            start_s=None,
            lags_s=lags,
        )
    places = steps + path
    first, last = _extent(found)
    begins, ends = _extent(active)
    start = int(places[first]) - (first - begins)
    end = int(places[last - 1]) + 1 + (ends - last)
    own = places[(~active) & (steps >= begins) & (steps < ends)]
    return Continuity(
        silence_added_s=(_silent(sounding, start, end) - _silent(active, begins, ends)) * STEP_S,
        lost_speech_s=int((active & ~found).sum()) * STEP_S,
        largest_gap_s=_largest_gap(sounding, start, end, own) * STEP_S,
        speech_s=speech * STEP_S,
        start_s=(start - begins) * STEP_S,
        lags_s=lags,
    )


def _largest_gap(sounding: Flags, start: int, end: int, own: NDArray[np.int_]) -> int:
    """Steps of the longest silence in [start, end), without those in it that `own` names as the reference's."""
    quiet = ~_between(sounding, start, end)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], quiet.astype(np.int8), [0]])))
    pauses = np.zeros(len(quiet) + 1, int)
    inside = own[(own >= start) & (own < end)] - start
    np.add.at(pauses, inside + 1, 1)
    before = np.cumsum(pauses)
    runs = edges.reshape(-1, 2)
    return max((int((b - a) - (before[b] - before[a])) for a, b in runs), default=0)


def _follow(distances: Floats) -> tuple[NDArray[np.int_], Flags]:
    """The lag of every step of the reference on the cheapest way, in steps, and whether the step was found there.

    `distances` is [step, lag]. A step is either found, at the cost of its distance, or lost, at a fixed cost. What was
    recorded goes forward: a lag becomes larger at once where the recording stalled, and smaller by one step a step
    where the reference was squeezed or lost.
    """
    count, lags = distances.shape
    here = np.arange(lags)
    came = np.zeros((2, count, lags), np.int32)  # the state before: its lag, plus `lags` where it was lost
    found, lost = distances[0].copy(), np.full(lags, LOST_DB + LOSING_COST_DB, np.float32)
    ways = np.full((6, lags), np.inf, np.float32)
    for step in range(1, count):
        either = np.minimum(found, lost)
        origin = np.where(found <= lost, here, here + lags)
        lowest = np.minimum.accumulate(either)
        lowest_at = np.maximum.accumulate(np.where(either <= lowest, here, 0))
        ways[0], ways[1], ways[4] = found, lost, lowest + JUMP_COST_DB
        ways[2, 1:], ways[3, :-1] = found[:-1] + DRIFT_COST_DB, found[1:] + DRIFT_COST_DB
        which = np.argmin(ways[:5], axis=0)
        came[0, step] = np.choose(which, [here, here + lags, here - 1, here + 1, origin[lowest_at]])
        new_found = ways[which, here] + distances[step]
        ways[0], ways[1] = lost, found + LOSING_COST_DB
        ways[2, :-1], ways[2, -1] = lost[1:], np.inf
        which = np.argmin(ways[:3], axis=0)
        came[1, step] = np.choose(which, [here + lags, here, here + 1 + lags])
        found, lost = new_found, ways[which, here] + LOST_DB
    state = int(np.argmin(np.concatenate([found, lost])))
    states = np.empty(count, int)
    for step in range(count - 1, -1, -1):
        states[step] = state
        state = int(came[state // lags, step, state % lags])
    return states % lags, states < lags


def _distances(said: Floats, got: Floats, lags: int) -> Floats:
    """Mean distance of the bands in dB, [step, lag], at most `MOST_DB`; beyond the recording it is silent."""
    silence = np.full((max(0, len(said) + lags + 1 - len(got)), said.shape[1]), _FLOOR_DB, np.float32)
    padded = np.concatenate([got, silence])
    found = np.empty((len(said), lags + 1), np.float32)
    for lag in range(lags + 1):
        found[:, lag] = np.abs(said - padded[lag : lag + len(said)]).mean(axis=1)
    return np.minimum(found, MOST_DB)


def _unanswered(active: Flags, sounding: Flags, shape: tuple[int, ...]) -> Flags:
    """Where the reference speaks and the recording, within two steps of it, is silent; [step, lag]."""
    near = np.convolve(sounding, np.ones(5, int), mode="same") > 0
    padded = np.pad(near, (0, max(0, sum(shape) - len(near))))
    windows = np.lib.stride_tricks.sliding_window_view(padded, shape[1])[: shape[0]]
    return active[:, None] & ~windows


def _bands(samples: Floats, loud: float) -> Floats:
    """Levels of the bands in dB against `loud`, [step, band], not below the floor."""
    count = len(samples) // _STEP
    padded = np.pad(samples, (_WINDOW // 2, _WINDOW))
    frames = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[::_STEP][:count]
    power = np.abs(np.fft.rfft(frames * np.hanning(_WINDOW), axis=1)) ** 2
    edges = _mel_edges()
    sums = np.stack([power[:, low:high].sum(axis=1) for low, high in pairwise(edges)], axis=1)
    scale = (np.hanning(_WINDOW) ** 2).sum() * _WINDOW / 2
    level = 10 * np.log10(sums / scale + 1e-12) - loud
    return np.maximum(level, _FLOOR_DB).astype(np.float32)


def _mel_edges() -> list[int]:
    low, high = (2595 * math.log10(1 + hz / 700) for hz in (_LOW_HZ, _HIGH_HZ))
    mel = np.linspace(low, high, _BANDS + 1)
    edges = np.round(700 * (10 ** (mel / 2595) - 1) * _WINDOW / _RATE).astype(int)
    return [int(edge) for edge in np.maximum.accumulate(np.maximum(edges, np.arange(len(edges)) + edges[0]))]


def _levels(samples: Floats) -> Floats:
    """Root mean square of every step in dB; silence is very low, not infinite."""
    whole = samples[: len(samples) // _STEP * _STEP].reshape(-1, _STEP)
    return np.asarray(10 * np.log10((whole.astype(np.float64) ** 2).mean(axis=1) + 1e-12), np.float32)


def _extent(mask: Flags) -> tuple[int, int]:
    """First true step and one after the last."""
    where = np.flatnonzero(mask)
    return int(where[0]), int(where[-1]) + 1


def _between(mask: Flags, start: int, end: int) -> Flags:
    """The steps of [start, end); outside of the recording nothing sounds."""
    part = mask[max(0, start) : max(0, end)]
    return (
        np.pad(part, (min(end, max(0, -start)), 0))[: end - start]
        if start < 0
        else np.pad(part, (0, end - start - len(part)))
    )


def _silent(mask: Flags, start: int, end: int) -> int:
    return int((~_between(mask, start, end)).sum())


def _resampled(samples: Samples, rate: int) -> Floats:
    common = math.gcd(rate, _RATE)
    return resample_poly(np.asarray(samples, np.float32), _RATE // common, rate // common).astype(np.float32)
