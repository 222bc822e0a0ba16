"""Whether a recording can be judged at all: a score of the wrong clip, or of a starved recorder, misleads.

Each problem is a short fixed word with a sentence. Where one is found no score of that recording means anything, and
whoever reports it reports the problem instead.
"""

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from .alignment import Samples
from .continuity import Continuity

LEAST_SPEECH_S = 0.5
"""PESQ needs a quarter of a second of speech; twice that is what one loud word has."""
MOST_LOST = 0.5
"""Of the speech: where more is not found, what is left says nothing about the whole."""
OTHER_LOST = 0.85
"""Of the speech: where more is not found, it is other speech. The same voice saying something else keeps under a tenth
of another text's speech by chance (the tests hold that for two voices)."""
EARLY_S = 0.25
"""Nothing can be heard before it was sent. A receiver that began with a large buffer catches up by this at most
(libwebrtc begins with 80 to 200 ms); a lag that falls further is of samples that the recorder did not get to write."""
SLIP = 0.003
"""Of the recorder's clock against the wall's: more is a starved machine (measured: bench network)."""
HOLE_S = (0.0013, 0.1)
"""A recorder that was not served in time writes zeros for a render quantum of 128 samples or a few (Web Audio API,
section 1.32.1) with speech cut off before them; a receiver that has nothing fades first."""
HOLES = 3
HOLES_SHARE = 0.005
"""Of the speech, in so many holes or more."""
EDGE = 10 ** (-40 / 20)
"""Sound that ends above this is cut off."""


class Problem(StrEnum):
    """Why a score would say nothing."""

    SHORT = "short"
    SILENT = "silent"
    OTHER = "other"
    MISSING = "missing"
    STARVED = "starved"

    @property
    def sentence(self) -> str:
        """What is wrong, for people."""
        return _SENTENCES[self]


_SENTENCES = {
    Problem.SHORT: f"The reference has less than {LEAST_SPEECH_S:g} s of speech: too little to judge by.",
    Problem.SILENT: "The recording is silent.",
    Problem.OTHER: "The recording holds other speech than the reference.",
    Problem.MISSING: "More than half of the reference's speech is not in the recording.",
    Problem.STARVED: "The recorder was starved: it lost samples, so the recording is not what the listener got.",
}


def problem_of(
    heard: Samples, placed: Samples, found: Continuity, *, rate: int, recorded_s: float | None = None
) -> Problem | None:
    """The first problem of a recording, None for a sound one.

    `placed` is the recording on the reference's time, silent where it has nothing; `found` says what became of time;
    `recorded_s` is how long the recorder was open by the wall clock.
    """
    if found.speech_s < LEAST_SPEECH_S:
        return Problem.SHORT
    if not np.any(heard):
        return Problem.SILENT
    if recorded_s is not None and abs(len(heard) / rate - recorded_s) > SLIP * recorded_s:
        return Problem.STARVED
    lost = found.lost_speech_s / found.speech_s
    if lost > OTHER_LOST:
        return Problem.OTHER
    lags = found.lags_s[np.isfinite(found.lags_s)]
    if lags[: len(lags) // 10 + 1].min(initial=np.inf) - lags.min(initial=np.inf) > EARLY_S or _holed(
        placed, found, rate
    ):
        return Problem.STARVED
    return Problem.MISSING if lost > MOST_LOST else None


def _holed(placed: Samples, found: Continuity, rate: int) -> bool:
    """Whether speech is cut off by zeros, again and again."""
    quiet = np.concatenate([[0], (placed == 0).astype(np.int8), [0]])
    runs: NDArray[np.int_] = np.flatnonzero(np.diff(quiet)).reshape(-1, 2)
    lengths = runs[:, 1] - runs[:, 0]
    cut_off = np.abs(placed[np.maximum(runs[:, 0] - 1, 0)]) > EDGE
    least, most = (seconds * rate for seconds in HOLE_S)
    holes = lengths[cut_off & (lengths >= least) & (lengths <= most)]
    return len(holes) >= HOLES and holes.sum() / rate > HOLES_SHARE * found.speech_s
