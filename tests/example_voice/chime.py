"""A voice of one's own, whole: a bell for every word, of a pitch of its own. `pip install .`, then `--voice chime`."""

import numpy as np

from adaptive.speech.engines.engine import EngineVoice, frame_samples
from adaptive.speech.voice import SwitchPoint, VoiceInfo

RATE = 24_000
INFO = VoiceInfo(
    name="chime",
    languages=(),
    licence="CC0",
    rate=RATE,
    frame_samples=frame_samples(RATE),
    tiers=("full", "light"),
    switch=SwitchPoint.CLAUSE,
    summary="A bell for every word; light has no overtones.",
)


def ring(text, *, speed, seed, tier):
    for word in text.split():
        times = np.arange(int(0.3 * RATE / speed)) / RATE
        hertz = 300 + 40 * len(word)
        partials = (1,) if tier == "light" else (1, 2.76, 5.4)
        yield sum(np.sin(2 * np.pi * hertz * p * times) * np.exp(-9 * p * times) for p in partials) * 0.2


def load():
    return EngineVoice(INFO, ring)
