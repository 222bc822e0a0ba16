"""A voice that is arithmetic: 440 Hz, 60 ms for every character. What comes out of a path can be told to the sample.

`tone` runs at 48 kHz; `tone-8000` to `tone-48000` speak at other rates.
"""

from dataclasses import dataclass, replace

import numpy as np

from ...ticks import to_ticks
from ..voice import Progress, Samples, SwitchPoint, VoiceInfo, Word
from .limits import checked_speed, checked_tier, last_frame, seed_words

RATES = (8_000, 16_000, 22_050, 24_000, 44_100, 48_000)
HERTZ = 440.0
AMPLITUDE = 0.3
FRAME_S = 0.02
"""A whole number of samples at every rate."""
FRAMES_PER_CHARACTER = 3
LIGHT_NOISE_DB = -30.0
"""Of the tier `light`, against the tone: a switch of tier is a switch, and can be measured."""

INFO = VoiceInfo(
    name="tone",
    languages=(),
    licence="Apache-2.0",
    rate=48_000,
    frame_samples=round(48_000 * FRAME_S),
    tiers=("full", "light"),
    switch=SwitchPoint.CHUNK,
    summary="A 440 Hz tone for tests: every character takes 60 ms, light is full with noise 30 dB below.",
)


@dataclass(kw_only=True)
class ToneClause:
    """A clause of tone; a `PreparedClause`."""

    info: VoiceInfo
    frames: int
    words: tuple[Word, ...]
    seed: int

    def decode(self, start: int, count: int, *, tier: str, tail: int = 0) -> Samples:
        """See `PreparedClause.decode`. Equal to the sample, however it is cut."""
        checked_tier(self.info, tier)
        stop = last_frame(self.frames, start, count, tail)
        hop = self.info.frame_samples
        times = np.arange(start * hop, stop * hop) / self.info.rate
        tone = (AMPLITUDE * np.sin(2 * np.pi * HERTZ * times)).astype(np.float32)
        if tier == "light":
            tone += self._noise(start, stop)
        return tone

    def _noise(self, start: int, stop: int) -> Samples:
        deviation = AMPLITUDE / np.sqrt(2) * 10 ** (LIGHT_NOISE_DB / 20)
        frames = [
            np.random.default_rng(seed_words(self.seed, frame)).standard_normal(self.info.frame_samples, np.float32)
            for frame in range(start, stop)
        ]
        return np.concatenate([np.zeros(0, np.float32), *frames]) * np.float32(deviation)


@dataclass(kw_only=True)
class ToneVoice:
    """The tone at one rate; a `Voice`."""

    info: VoiceInfo = INFO

    def prepare(self, clause: str, *, speed: float = 1.0, seed: int = 0, tier: str | None = None) -> ToneClause:
        """See `Voice.prepare`. Every character of `clause` sounds, spaces too."""
        pace = FRAMES_PER_CHARACTER / checked_speed(speed)
        words, end = [], 0
        for text in clause.split():
            start = clause.index(text, end)
            end = start + len(text)
            words.append(Word(text=text, start=_ticks(start * pace), end=_ticks(end * pace)))
        return ToneClause(info=self.info, frames=round(len(clause) * pace), words=tuple(words), seed=seed)

    def warm(self) -> None:
        """Nothing to load."""


def _ticks(frames: float) -> int:
    return to_ticks(round(frames) * FRAME_S)


def load(*, rate: int = INFO.rate, progress: Progress | None = None) -> ToneVoice:
    """The tone at `rate` samples a second. Raises ValueError for a rate that it does not have."""
    if rate not in RATES:
        raise ValueError(f"The tone has the rates {', '.join(map(str, RATES))}, not {rate}.")
    if progress is not None:
        progress("tone: ready", 1.0)
    if rate == INFO.rate:
        return ToneVoice()
    return ToneVoice(info=replace(INFO, name=f"tone-{rate}", rate=rate, frame_samples=round(rate * FRAME_S)))
