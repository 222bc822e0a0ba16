"""A reference followed through a recording whose lag changed, and the recording put back on the reference's time.

A spectral path (`quality.continuity`) says to some hundredths of a second where every step is. Around it the lag is
found to an eighth of a millisecond by the correlation of waveforms, again on the cheapest way through (Viterbi), since
voiced speech correlates with itself a pitch period away. A change of the lag is put where the two sides fit best.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .alignment import Samples, cut, resampled
from .continuity import STEP_S, Continuity, compare
from .validity import OTHER_LOST, Problem, problem_of

_RATE = 8_000
_STEP = round(_RATE * STEP_S)
_WINDOW_S = 0.08
"""Correlations are taken over this much, so that a word's sound decides and not a pitch period's."""
_REACH_S = 0.03
"""Around the spectral path, which is in steps of 10 ms and smooth."""
_JUMP_COST = 3.0
"""Of a lag that changes, in steps that fit not at all. Three are more than a concealed packet offers, and less than
20 ms of stretching cost in the rest of a word."""
_DRIFT_COST = 0.5
"""Of a lag that changes by one sample of the search, as two clocks drift apart."""
_EARLIER_S = 0.5
"""A recorder that loses samples has speech ever earlier; so far that is followed, to be told."""
_REACH_SPLIT_S, _MOST_UNSURE_S = 0.06, 0.25
_STEP_SPLIT_S, _STEP_GAP_S, _EXACT_S = 0.001, 0.0001, 0.00002
_REACH_GAP_S = 0.004
_PLACES = 60
"""On either side, at most: of the search for the place of a jump."""
_MARGIN_S = 0.02
_SPECTRUM_S, _SPECTRUM_GAP_S = 0.016, 0.004
"""Long ones know the sounds; only short ones see a gap of 2 ms, which costs PESQ a point."""
_RANGE = 3e-4
_HIGHEST_HZ = 8_000
"""As far as PESQ hears."""
SKIP_S = 0.03
"""A receiver catches up by less than this at a time, a pitch period or a packet: that is left out of both signals, as
time and not sound was changed. Where more is left out, speech is missing, and it is silence against the reference."""
HEARD_JUMP_S = 0.002
"""Smaller changes of the lag are drift."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A part of the reference at one lag."""

    start_s: float
    """In the reference …"""
    end_s: float
    """… and the end, where the next begins, or later where speech was left out."""
    lag_s: float
    """How much later than in the reference it is in the recording."""


@dataclass(frozen=True, kw_only=True)
class Followed:
    """A recording on its reference's time."""

    reference: Samples
    """`[n]`, without what the receiver left out to catch up."""
    samples: Samples
    """`[n]` too. What the receiver put in is taken out; speech that is missing is silent."""
    pieces: tuple[Piece, ...]
    """In order; the first begins at 0."""
    continuity: Continuity
    """What became of time: what `samples` no longer shows."""
    problem: Problem | None
    """Why no score of `samples` means anything; None where scores are valid."""

    @property
    def jumps_s(self) -> tuple[float, ...]:
        """Changes of the lag, in order: positive where the recording stalled or was stretched."""
        steps = (after.lag_s - before.lag_s for before, after in pairwise(self.pieces))
        return tuple(step for step in steps if abs(step) >= HEARD_JUMP_S)


def follow(
    heard: Samples, reference: Samples, *, rate: int, latest_s: float, recorded_s: float | None = None
) -> Followed:
    """Follows `reference` through `heard`, both `[n]` at `rate` Hz.

    It begins no earlier in the recording than in the reference, and nothing of it comes more than `latest_s` later.
    `recorded_s` is how long the recorder was open by the wall clock, where that is known. Raises ValueError for a
    silent reference.
    """
    before = np.zeros(round(_EARLIER_S * rate), np.float32)
    found = _earlier(compare(np.concatenate([before, heard]), reference, rate=rate, latest_s=latest_s + _EARLIER_S))
    if found.lost_speech_s > OTHER_LOST * found.speech_s:
        whole = Piece(start_s=0.0, end_s=len(reference) / rate, lag_s=max(0.0, found.start_s or 0.0))
        return _judged(heard, reference, (whole,), found, rate, recorded_s)
    coarse = (resampled(signal, rate, _RATE) for signal in (heard, reference))
    got, said = (np.diff(signal, prepend=signal[:1]) for signal in coarse)
    pieces = _pieces(heard, reference, _lags(got, said, found), rate)
    return _judged(heard, reference, pieces, found, rate, recorded_s)


def _judged(
    heard: Samples,
    reference: Samples,
    pieces: tuple[Piece, ...],
    found: Continuity,
    rate: int,
    recorded_s: float | None,
) -> Followed:
    whole, kept = _placed(heard, pieces, len(reference), rate)
    samples = whole[kept]
    problem = problem_of(heard, samples, found, rate=rate, recorded_s=recorded_s)
    return Followed(reference=reference[kept], samples=samples, pieces=pieces, continuity=found, problem=problem)


def _earlier(found: Continuity) -> Continuity:
    """Without the silence that was put before."""
    start_s = None if found.start_s is None else found.start_s - _EARLIER_S
    return replace(found, start_s=start_s, lags_s=found.lags_s - np.float32(_EARLIER_S))


def _lags(got: Samples, said: Samples, found: Continuity) -> NDArray[np.int_]:
    """The lag of every step, in samples of the search."""
    guide = _filled(found.lags_s)
    if guide is None:
        return np.zeros(len(found.lags_s), int)
    reach, window = round(_REACH_S * _RATE), round(_WINDOW_S * _RATE)
    base = np.round(guide * _RATE).astype(int) - reach
    states = 2 * reach + 1
    here = np.arange(states)
    came = np.zeros((len(base), states), np.int32)
    total = np.zeros(states)
    loud = np.sqrt(np.mean(said.astype(np.float64) ** 2)) * np.sqrt(window)
    for step, first in enumerate(base):
        at = step * _STEP + _STEP // 2 - window // 2
        part = cut(said, at, window)
        fits = _fits(part, cut(got, at + int(first), window + states - 1))
        weight = min(1.0, float(np.linalg.norm(part)) / loud)
        if step:
            moved = here + int(first) - int(base[step - 1])
            inside = (moved >= 0) & (moved < states)
            stay = np.where(inside, total[np.clip(moved, 0, states - 1)], np.inf)
            best = int(np.argmin(total))
            ways = np.full((4, states), np.inf)
            ways[0], ways[3] = stay, total[best] + _JUMP_COST
            ways[1, 1:], ways[2, :-1] = stay[:-1] + _DRIFT_COST, stay[1:] + _DRIFT_COST
            which = np.argmin(ways, axis=0)
            came[step] = np.choose(which, [moved, moved - 1, moved + 1, np.full(states, best)])
            total = ways[which, here]
        total = total + weight * (1 - fits)
    lags = np.empty(len(base), int)
    state = int(np.argmin(total))
    for step in range(len(base) - 1, -1, -1):
        lags[step] = base[step] + state
        state = int(came[step, state])
    return lags


def _filled(lags_s: NDArray[np.float32]) -> NDArray[np.float64] | None:
    """What is lost or silent has the lag of what came before it; None where nothing has one."""
    known = np.flatnonzero(np.isfinite(lags_s))
    if not len(known):
        return None
    before = np.maximum(np.searchsorted(known, np.arange(len(lags_s)), side="right") - 1, 0)
    return lags_s[known[before]].astype(np.float64)


def _fits(part: Samples, around: Samples) -> NDArray[np.float64]:
    """Normalised correlation at every lag, 0..1; 0 where either is silent."""
    dots = np.correlate(around, part, mode="valid")
    energy = np.concatenate([[0.0], np.cumsum(around.astype(np.float64) ** 2)])
    scale = np.sqrt(np.maximum(energy[len(part) :] - energy[: len(dots)], 0)) * np.linalg.norm(part)
    return np.clip(dots / np.maximum(scale, 1e-9), 0, 1)


def _pieces(heard: Samples, reference: Samples, lags: NDArray[np.int_], rate: int) -> tuple[Piece, ...]:
    """Stretches of one lag, which is made exact to the sample, and the best places to go from one to the next."""
    step = round(rate * STEP_S)
    edges = [0, *(int(n) * step for n in np.flatnonzero(np.diff(lags)) + 1), len(reference)]
    held = [
        _refined(heard, reference[start:end], start + round(lags[start // step] * rate / _RATE), rate) - start
        for start, end in pairwise(edges)
    ]
    starts, ends = [0], []
    for at, (before, after) in zip(edges[1:], pairwise(held), strict=False):
        left_out = max(0, before - after)
        ends.append(max(starts[-1], _split(heard, reference, at - left_out // 2, before, after, rate)))
        starts.append(ends[-1] + left_out)
    return tuple(
        Piece(start_s=start / rate, end_s=end / rate, lag_s=lag / rate)
        for start, end, lag in zip(starts, [*ends, len(reference)], held, strict=True)
    )


def _refined(heard: Samples, part: Samples, place: int, rate: int) -> int:
    """Where `part` lies in the recording, by all of it, near `place`."""
    reach = round(rate / _RATE)
    if not np.any(part):
        return place
    dots = np.correlate(cut(heard, place - reach, len(part) + 2 * reach), part, mode="valid")
    return place - reach + int(np.argmax(dots))


def _split(heard: Samples, reference: Samples, at: int, before: int, after: int, rate: int) -> int:
    """The place near `at` where it is best to leave one lag. Behind it begins the other, or as much later as the lag
    falls: of that the recording has nothing."""
    left_out = max(0, before - after)
    for reach_s, step_s, spectrum_s in _searches(left_out / rate):
        reach, step, margin = round(reach_s * rate), max(1, round(step_s * rate)), round(_MARGIN_S * rate)
        first = max(0, at - reach)
        places = np.arange(first, min(at + reach + 1, len(reference) - left_out), step)
        if not len(places):
            return at
        count = places[-1] - first + 2 * margin
        sides = [
            [cut(signal, first - margin + shift, count) for signal, shift in pair]
            for pair in (
                ((reference, 0), (reference, left_out)),
                ((heard, before), (heard, left_out + after)),
            )
        ]
        behind = np.arange(count) >= (places - first + margin)[:, None]
        said, got = (np.where(behind, late, early) for early, late in sides)
        at = int(places[np.argmin(_unlike(said, got, rate, spectrum_s))])
    return at


def _searches(left_out_s: float) -> Iterator[tuple[float, float, float]]:
    """How far around, how finely and by how short spectra, all in s, ever closer: a step in the wave is heard where one
    side is left a fraction of a millisecond late, and where much was left out nothing says well where it began."""
    reach_s = _REACH_SPLIT_S + min(_MOST_UNSURE_S, left_out_s / 2)
    step_s = max(_STEP_SPLIT_S, reach_s / _PLACES)
    yield reach_s, step_s, _SPECTRUM_S
    if step_s > _STEP_SPLIT_S:
        yield 1.5 * step_s, _STEP_SPLIT_S, _SPECTRUM_S
    yield _REACH_GAP_S, _STEP_GAP_S, _SPECTRUM_GAP_S
    yield 1.5 * _STEP_GAP_S, _EXACT_S, _SPECTRUM_GAP_S


def _unlike(said: Samples, got: Samples, rate: int, spectrum_s: float) -> NDArray[np.float64]:
    """Mean distance of the spectra over `spectrum_s` in dB, of each row `[places, n]`."""
    length = round(spectrum_s * rate)
    window, bands = np.hanning(length).astype(np.float32), round(_HIGHEST_HZ * spectrum_s)
    levels = []
    for signal in (said, got):
        frames = np.lib.stride_tricks.sliding_window_view(signal, length, axis=1)[:, :: length // 4]
        levels.append(np.abs(np.fft.rfft(frames * window, axis=2)[..., 1:bands]) ** 2)
    floor = max(1e-9, float(levels[0].max()) * _RANGE)
    was, came = (10 * np.log10(level + floor) for level in levels)
    return np.asarray(np.abs(was - came).mean(axis=(1, 2)), np.float64)


def _placed(heard: Samples, pieces: Sequence[Piece], count: int, rate: int) -> tuple[Samples, NDArray[np.bool_]]:
    """On the reference's time, `[count]`, and which of it to judge."""
    out, kept = np.zeros(count, np.float32), np.ones(count, np.bool_)
    end = 0
    for piece in pieces:
        before, start = end, round(piece.start_s * rate)
        end, lag = min(count, round(piece.end_s * rate)), round(piece.lag_s * rate)
        if start - before <= SKIP_S * rate:
            kept[before:start] = False
        if start < end:
            out[start:end] = cut(heard, start + lag, end - start)
    return out, kept
