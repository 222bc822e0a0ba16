"""Is a chunk fit to be sent? The face of whatever judges it, and a plain judge that needs nothing but its samples.

A bad chunk is one that a listener would take for a fault: it is clipped, silent where a word begins, stuck on one model
frame, or noisier than its tier may be. What a tier costs in precision is no fault. A judge sees one chunk at a time and
says the same of the same samples, so that an utterance can be rendered again to the bit.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from .voice import Samples, VoiceInfo


class Fault(StrEnum):
    """What is wrong with a chunk: a short fixed word, used as metric label."""

    BROKEN = "broken"
    """Not every sample is a finite number."""
    CLIPPED = "clipped"
    SILENT = "silent"
    REPEATED = "repeated"
    NOISY = "noisy"


Spans = Sequence[tuple[int, int]]
"""First and last-but-one sample of stretches of a chunk."""


class ChunkJudge(Protocol):
    """Judges chunks before anyone hears them. Pure: an answer depends on the arguments alone."""

    def fault(self, samples: Samples, *, info: VoiceInfo, tier: str, sounding: Spans) -> Fault | None:
        """What is wrong with `samples`, as the voice of `info` decoded them at `tier`; None for nothing.

        Something is to be heard in the stretches `sounding`; elsewhere silence is as good.
        """
        ...


CLIP_LEVEL = 0.98
"""Of full scale; the voices' own limiter bends peaks and lets none of speech come near."""
CLIP_RUN = 4
"""Samples in a row above that level, and one such run is heard."""
STILL_S = 0.02
"""Samples that do not change for so long: something stopped; a model's silence still moves in its last bits."""
SILENCE = 10 ** (-60 / 20)
SILENT_S = 0.15
"""Beginnings of words in a chunk, this much in all, are not silent. Measured: closures there take up to 90 ms."""
REPEAT_DB = -30.0
"""A model frame that differs from an earlier one by less, against itself, is the same again; voiced speech: −11."""
REPEAT_FRAMES = 4
"""So many times in a row."""
REPEAT_LAGS = (1, 2)
"""How many frames earlier."""
AUDIBLE = 10 ** (-50 / 20)
"""Repeated frames below this are silence."""

NOISE_WINDOW = 512
"""Samples of a spectrum: some 22 ms."""
NOISE_BANDS = 32
SPOKEN = 30.0
"""Power in a band of a sine of −20 dBFS: a chunk that is nowhere so loud is judged as if it were."""
LONG_S = 0.4
"""A chunk this long has quiet places in most bands, so that its noise shows."""
SHORT_PROMISE_DB = -34.0
"""Of any tier, in shorter chunks: a short one may hold nothing but the noise of an s."""
PROMISES_DB: Mapping[str, float] = MappingProxyType({"full": -50.0, "mixed": -45.0, "light": -42.0})
"""Noise that a tier may have in long chunks, against the loudest sound; for other names it is the last one's.

Measured on 40 clauses (tests/adaptive/speech/test_judge.py has them): joe's tiers stay below −82, −82 and −66, heart
below −67, and short chunks below −43. White noise 15 dB below the speech of a long chunk shows as −40, at 10 dB as
−36.
"""


class PlainJudge:
    """Looks at the samples, with numpy; a hundredth of what rendering them takes."""

    def fault(self, samples: Samples, *, info: VoiceInfo, tier: str, sounding: Spans) -> Fault | None:
        """See `ChunkJudge.fault`."""
        if not np.isfinite(samples).all():
            return Fault.BROKEN
        if _longest_run(np.abs(samples) >= CLIP_LEVEL) >= CLIP_RUN:
            return Fault.CLIPPED
        if _is_silent(samples, info.rate, sounding):
            return Fault.SILENT
        if _repeats(samples, info.frame_samples):
            return Fault.REPEATED
        promise = PROMISES_DB.get(tier, min(PROMISES_DB.values(), key=abs))
        if noise_db(samples) > (promise if len(samples) >= LONG_S * info.rate else SHORT_PROMISE_DB):
            return Fault.NOISY
        return None


def noise_db(samples: Samples) -> float:
    """How loud noise can be in them at most, dB against their loudest sound; −inf where there is too little to tell.

    Noise fills every band all the time, speech leaves some of them empty now and then: the least power of each band
    bounds the noise in it, and the emptiest bands bound it best.
    """
    if len(samples) < 2 * NOISE_WINDOW:
        return -np.inf
    frames = sliding_window_view(samples, NOISE_WINDOW)[:: NOISE_WINDOW // 2]
    spectrum = np.fft.rfft(frames * np.hanning(NOISE_WINDOW).astype(np.float32), axis=1)[:, 1:]
    power = spectrum.real**2 + spectrum.imag**2
    bands = power.reshape(len(power), NOISE_BANDS, -1).mean(axis=2)
    noise = np.percentile(bands.min(axis=0), 10)
    loudest = max(SPOKEN, float(np.percentile(bands.max(axis=1), 90)))
    return float(10 * np.log10((noise + 1e-12) / loudest))


def _is_silent(samples: Samples, rate: int, sounding: Spans) -> bool:
    if _longest_run(np.diff(samples) == 0) >= STILL_S * rate:
        return True
    parts = [samples[start:end] for start, end in sounding]
    wanted = np.concatenate([np.zeros(0, np.float32), *parts])
    return len(wanted) >= SILENT_S * rate and bool(np.abs(wanted).max() < SILENCE)


def _repeats(samples: Samples, frame: int) -> bool:
    for lag in (frame * frames for frames in REPEAT_LAGS):
        count = (len(samples) - lag) // frame
        if count < REPEAT_FRAMES:
            continue
        now = samples[lag : lag + count * frame].reshape(count, frame)
        change = now - samples[: count * frame].reshape(count, frame)
        power = np.mean(now**2, axis=1)
        same = np.mean(change**2, axis=1) < power * 10 ** (REPEAT_DB / 10)
        if _longest_run(same & (power > AUDIBLE**2)) >= REPEAT_FRAMES:
            return True
    return False


def _longest_run(true: NDArray[np.bool_]) -> int:
    """Of true ones in a row."""
    if not true.any():
        return 0
    edges = np.flatnonzero(np.diff(true, prepend=False, append=False))
    return int((edges[1::2] - edges[::2]).max())
