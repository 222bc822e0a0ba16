"""How far decoded speech is from what was encoded, while it runs: two distances of mel spectra at 48 kHz.

The log-spectral distance (`lsd`, dB) grows with coding noise, missing bandwidth and wrong sound in lost frames. The
similarity (`nsim`, at most 1) is that of ViSQOL's neurograms (Hines et al., "ViSQOL: an objective speech quality
model", EURASIP JASMP 2015), over 3 × 3 cells. Both need the two signals aligned within a millisecond and at one level,
which a codec's output is once its delay is taken off. What opinion they stand for is `quality.calibrate`'s to say.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from adaptive.ticks import TICK_RATE

Samples = NDArray[np.float32]
Rows = NDArray[np.float32]

WINDOW = 1536
"""Samples of a spectrum: 32 ms."""
HOP = WINDOW // 2
BANDS = 32
LOWEST_HZ = 20.0
RANGE_DB = 60.0
"""Below the speech's running level nothing counts."""
ACTIVE_DB = -30.0
"""Frames of the reference above this, against the running level, are speech."""
FALL_DB_S = 2.0
"""How fast the running level forgets a loud sound."""
QUIETEST = 0.15
"""Of the running level, in the units of the spectra: a sine of −60 dBFS."""
_C1, _C3 = (0.01 * RANGE_DB) ** 2, (0.03 * RANGE_DB) ** 2 / 2
"""Constants of structural similarity (Wang et al. 2004) for this range, as NSIM takes them."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Frames of `HOP` samples that a push completed, `[n]` each."""

    active: NDArray[np.bool_]
    """The reference holds speech here."""
    lsd: Rows
    """Root mean square over the bands of the difference, dB."""
    nsim: Rows
    """Mean similarity of the cells around, −1..1."""


class Comparison:
    """Compares two streams piece by piece; cut as one likes, the same frames come out."""

    def __init__(self) -> None:
        self._reference = np.zeros(0, np.float32)
        self._decoded = np.zeros(0, np.float32)
        self._level = np.float32(QUIETEST)
        self._rows: list[Rows] = [np.zeros((0, BANDS), np.float32)] * 2
        """Spectra in dB above the floor, of the frames whose successor is missing: two of each, or fewer."""
        self._told = 0
        """Frames of `_rows` that came out before: all but the last."""
        self._active = np.zeros(0, np.bool_)

    def push(self, reference: Samples, decoded: Samples) -> Compared:
        """The frames that these samples complete; both `[n]`, 48 kHz, of any equal length, else ValueError.

        A frame comes out once the frame behind it is there.
        """
        if len(reference) != len(decoded):
            raise ValueError(f"The two signals differ in length: {len(reference)} and {len(decoded)} samples.")
        self._reference = np.concatenate([self._reference, reference])
        self._decoded = np.concatenate([self._decoded, decoded])
        count = max(0, (len(self._reference) - WINDOW) // HOP + 1)
        was, came = _spectra(self._reference, count), _spectra(self._decoded, count)
        self._reference, self._decoded = self._reference[count * HOP :], self._decoded[count * HOP :]
        level = self._levels(was.max(axis=1, initial=0))[:, None]
        rows = [
            np.concatenate([held, _decibels(power, level)]) for held, power in zip(self._rows, (was, came), strict=True)
        ]
        loud = was.sum(axis=1) > level[:, 0] * np.float32(10 ** (ACTIVE_DB / 10))
        active = np.concatenate([self._active, loud])
        first, last = self._told, max(self._told, len(active) - 1)
        out = Compared(
            active=active[first:last],
            lsd=np.sqrt(np.mean((rows[0][first:last] - rows[1][first:last]) ** 2, axis=1)),
            nsim=_similarity(*rows)[first:last],
        )
        keep = max(0, len(active) - 2)
        self._rows, self._active, self._told = [row[keep:] for row in rows], active[keep:], last - keep
        return out

    def _levels(self, peaks: Rows) -> Rows:
        """The running level at each of these frames: up at once, down slowly."""
        if not len(peaks):
            return peaks
        fall = np.float32(10 ** (-FALL_DB_S / 10 * HOP / TICK_RATE)) ** np.arange(len(peaks) + 1, dtype=np.float32)
        raised = np.maximum.accumulate(np.concatenate([[self._level], peaks]) / fall)
        levels = np.maximum(raised * fall, np.float32(QUIETEST))[1:]
        self._level = levels[-1]
        return levels.astype(np.float32)


def _spectra(samples: Samples, count: int) -> Rows:
    """Power in mel bands, `[count, BANDS]`."""
    if not count:
        return np.zeros((0, BANDS), np.float32)
    frames = sliding_window_view(samples, WINDOW)[: (count - 1) * HOP + 1 : HOP]
    window, bands = _filters()
    spectrum = np.fft.rfft(frames * window, axis=1)
    return (spectrum.real**2 + spectrum.imag**2).astype(np.float32) @ bands


def _decibels(power: Rows, level: Rows) -> Rows:
    """Above the floor, `RANGE_DB` below the level; never less than 0."""
    floor = level * np.float32(10 ** (-RANGE_DB / 10))
    return (10 * np.log10(np.maximum(power / floor, 1))).astype(np.float32)


def _similarity(was: Rows, came: Rows) -> Rows:
    """Mean over the bands of the similarity of 3 × 3 cells; at the ends of time what there is stands for the rest."""
    if not len(was):
        return np.zeros(0, np.float32)
    mean_was, mean_came, mean_ww, mean_cc, mean_wc = _averaged(
        np.stack([was, came, was * was, came * came, was * came])
    )
    deviations = np.sqrt(np.maximum(mean_ww - mean_was**2, 0) * np.maximum(mean_cc - mean_came**2, 0))
    light = (2 * mean_was * mean_came + _C1) / (mean_was**2 + mean_came**2 + _C1)
    structure = (mean_wc - mean_was * mean_came + _C3) / (deviations + _C3)
    return (light * structure).mean(axis=1)


def _averaged(maps: Rows) -> Rows:
    """Means over 3 × 3 cells of `[maps, time, band]`, edges repeated."""
    wide = np.pad(maps, ((0, 0), (1, 1), (1, 1)), mode="edge")
    along = wide[:, :-2] + wide[:, 1:-1] + wide[:, 2:]
    return (along[..., :-2] + along[..., 1:-1] + along[..., 2:]) / 9


@lru_cache(maxsize=1)
def _filters() -> tuple[Rows, Rows]:
    """The window, and the triangles that make mel bands of a spectrum, `[bins, BANDS]`."""
    mel = np.linspace(_mel(LOWEST_HZ), _mel(TICK_RATE / 2), BANDS + 2)
    edges = 700 * (10 ** (mel / 2595) - 1)
    bins = np.arange(WINDOW // 2 + 1)[:, None] * TICK_RATE / WINDOW
    rising = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    return np.hanning(WINDOW).astype(np.float32), np.clip(np.minimum(rising, falling), 0, None).astype(np.float32)


def _mel(hertz: float) -> float:
    return 2595 * float(np.log10(1 + hertz / 700))
