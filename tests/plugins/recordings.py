"""What is in a recording of the voices `tone` and `sweep`."""

import itertools

import numpy as np
from numpy.typing import NDArray
from scipy.signal import hilbert
from sweep_voice import FIRST_HZ, RISE_HZ

from adaptive.speech.registry import load_voice
from adaptive.speech.renderer import Chunk
from adaptive.speech.stream import SpeechStream

Samples = NDArray[np.float32]

RATE = 48_000
FLOOR = 0.01
"""The voices' amplitude is .3: below this nothing of them sounds, whatever a codec leaves."""
BRIDGE_S = 0.003
"""A tone is below the floor for less, where it crosses zero."""


def runs(samples: Samples, *, floor: float = FLOOR) -> list[tuple[int, int]]:
    """What sounds, from sample to sample: a crossing of zero ends nothing."""
    loud = np.flatnonzero(np.abs(samples) > floor)
    if not len(loud):
        return []
    breaks = np.flatnonzero(np.diff(loud) > BRIDGE_S * RATE)
    starts, ends = np.concatenate(([0], breaks + 1)), np.concatenate((breaks, [len(loud) - 1]))
    return [(int(loud[start]), int(loud[end]) + 1) for start, end in zip(starts, ends, strict=True)]


def gaps_s(samples: Samples) -> list[float]:
    """How long each silence lasts between the first and the last sound."""
    sounding = runs(samples)
    return [(after[0] - before[1]) / RATE for before, after in itertools.pairwise(sounding)]


def lasts_s(samples: Samples) -> float:
    """From the first sound to the last."""
    sounding = runs(samples)
    return (sounding[-1][1] - sounding[0][0]) / RATE


def pitch(samples: Samples, *, window_s: float = 0.03) -> NDArray[np.float64]:
    """Hz at each sample, the mean over a window around it; NaN where the window is not full of sound."""
    window = round(window_s * RATE)
    turns = np.unwrap(np.angle(hilbert(samples.astype(float)))) / (2 * np.pi)
    found = np.full(len(samples), np.nan)
    half = window // 2
    found[half : half + len(samples) - window] = (turns[window:] - turns[:-window]) * RATE / window
    silent = np.ones(len(samples) + 1)
    for start, end in runs(samples):
        silent[start:end] = 0
    filled = np.cumsum(silent)
    found[half : half + len(samples) - window][filled[window:-1] - filled[: -window - 1] > 0] = np.nan
    return found


def sweep_ticks(hertz: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where in its clause the voice `sweep` is at that pitch, in ticks."""
    return (hertz - FIRST_HZ) / RISE_HZ * RATE


def rendered(text: str, voice: str = "tone") -> Samples:
    """What a renderer makes of a text."""
    stream = SpeechStream(load_voice(voice))
    stream.feed(text, final=True)
    chunks = []
    while not stream.done:
        chunks += [e.samples for e in stream.next(tier="full", chunk_frames=None) if isinstance(e, Chunk)]
    return np.concatenate(chunks)
