"""An engine that turns a clause into samples in one go, as a `Voice`.

The engine runs when a clause is prepared; decoding only hands out what it made. So its tier, where it has several, is
that of the whole clause, and the first clause is short: it is what the listener waits for.
"""

import os
from collections.abc import Callable, Iterable
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from ...ticks import to_ticks
from ..voice import Samples, VoiceInfo, Word
from ..voices.limits import checked_speed, checked_tier, last_frame
from ..voices.loudness import level
from ..voices.word_times import shared_words

FRAME_S = 0.02
"""What is handed out at least; engines of this kind have no frames of their own that could be asked for."""


class Speak(Protocol):
    """Asks the engine for a clause."""

    def __call__(self, text: str, *, speed: float, seed: int, tier: str) -> Iterable[ArrayLike]:
        """Samples in order, full scale ±1, one channel: shapes [n], [1, n] or [1, 1, n]."""
        ...


class EngineClause:
    """A clause that was spoken; a `PreparedClause`."""

    def __init__(self, info: VoiceInfo, samples: Samples, words: tuple[Word, ...], *, tier: str) -> None:
        """`samples` at the voice's rate, whole frames of them, as they came at `tier`."""
        self.frames = len(samples) // info.frame_samples
        self.words = words
        self._info = info
        self._samples = samples
        self._tier = tier

    def decode(self, start: int, count: int, *, tier: str, tail: int = 0) -> Samples:
        """See `PreparedClause.decode`. Raises ValueError for another tier than the clause was prepared at."""
        if checked_tier(self._info, tier) != self._tier:
            raise ValueError(f"This clause of {self._info.name} was spoken at {self._tier}, not at {tier}.")
        stop = last_frame(self.frames, start, count, tail)
        return self._samples[start * self._info.frame_samples : stop * self._info.frame_samples]


class EngineVoice:
    """A `Voice` on an engine."""

    def __init__(
        self, info: VoiceInfo, speak: Speak, *, gain: float = 1.0, random: Callable[[int], None] | None = None
    ) -> None:
        """`gain` sets the loudness. `random` seeds the engine where it has no argument for that."""
        self.info = info
        self._speak = speak
        self._gain = gain
        self._random = random

    def prepare(self, clause: str, *, speed: float = 1.0, seed: int = 0, tier: str | None = None) -> EngineClause:
        """See `Voice.prepare`. Raises ValueError where the engine's samples are none that can be played."""
        checked_speed(speed)
        tier = checked_tier(self.info, tier or self.info.tiers[0])
        if self._random is not None:
            self._random(seed & 0x7FFF_FFFF)
        pieces = [
            np.asarray(piece, np.float32).reshape(-1)
            for piece in self._speak(clause, speed=speed, seed=seed & 0x7FFF_FFFF, tier=tier)
        ]
        samples = np.concatenate([np.zeros(0, np.float32), *pieces])
        if not len(samples):
            raise ValueError(f"The engine of {self.info.name} gave no sound for a clause of {len(clause)} characters.")
        if not np.isfinite(samples).all():
            raise ValueError(f"The engine of {self.info.name} gave samples that are no numbers.")
        words = shared_words(clause, to_ticks(len(samples) / self.info.rate))
        samples = np.pad(level(samples, self._gain), (0, -len(samples) % self.info.frame_samples))
        return EngineClause(self.info, samples, words, tier=tier)

    def warm(self) -> None:
        """See `Voice.warm`."""
        for tier in self.info.tiers:
            self.prepare("Warming up takes a moment.", tier=tier)


def asked(variable: str, what: str, default: str | None = None) -> str:
    """What the environment says. Raises ValueError, with what to do, where it says nothing and must."""
    value = os.environ.get(variable) or default
    if value is None:
        raise ValueError(f"Set {variable} to {what}.")
    return value


def frame_samples(rate: int) -> int:
    """Of a voice that hands out frames of `FRAME_S`."""
    return round(rate * FRAME_S)
