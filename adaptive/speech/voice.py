"""What a voice is: something that prepares a clause once and then decodes it chunk by chunk at a chosen tier.

A voice is registered as an entry point of the group `legato.voices`: a callable without required arguments that
returns a `Voice`. Whoever wants to show progress while a voice builds its files passes `progress`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]
Progress = Callable[[str, float], None]
"""Called with what is being done and how much of it is done, 0..1."""


class SwitchPoint(StrEnum):
    """Where a voice may change its tier."""

    CHUNK = "chunk"
    CLAUSE = "clause"
    LOAD = "load"


@dataclass(frozen=True, kw_only=True)
class VoiceInfo:
    """What is known of a voice before it speaks."""

    name: str
    languages: tuple[str, ...]
    """BCP 47, such as `en-US`."""
    licence: str
    """Of code and weights, as its authors state it."""
    rate: int
    """Samples per second of what it renders."""
    frame_samples: int
    """Samples of one model frame: chunk lengths are counted in these."""
    tiers: tuple[str, ...]
    """Precision tiers, best first."""
    switch: SwitchPoint
    summary: str = ""
    """One line for people choosing a voice."""


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word and when it sounds, in ticks from the start of its clause or utterance (said where it is used)."""

    text: str
    start: int
    end: int
    estimated: bool = False
    """True where the times are guessed and do not come from the model's own durations."""


class PreparedClause(Protocol):
    """A clause after the part of the model that runs once; decoding any run of its frames is repeatable."""

    frames: int
    """Length in model frames."""
    words: tuple[Word, ...]
    """Word timings in ticks from the start of the clause."""

    def decode(self, start: int, count: int, *, tier: str, tail: int = 0) -> Samples:
        """Samples of frames `start` to `start + count`, and `tail` more frames where the clause has them.

        Returns float32 of shape `[(count + t) * frame_samples]` with `t = min(tail, frames - start - count)`, full
        scale ±1. All tiers are aligned to the sample: the same frames at another tier differ in precision alone.
        Deterministic: what comes out depends on the clause, the frames and the tier, not on how it is cut.
        Raises ValueError for frames outside the clause or a tier the voice does not have.
        """
        ...


class Voice(Protocol):
    """A speech model, loaded."""

    info: VoiceInfo

    def prepare(self, clause: str, *, speed: float = 1.0, seed: int = 0, tier: str | None = None) -> PreparedClause:
        """Runs what runs once a clause. `speed` > 1 speaks faster. The same arguments give the same samples.

        A voice whose tier changes at clauses speaks this one at `tier` only, and at its best where it is None; to one
        that changes by the chunk it says nothing.
        """
        ...

    def warm(self) -> None:
        """Loads and runs everything once at every tier, so that the first sentence is not the slow one."""
