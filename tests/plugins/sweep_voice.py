"""A voice that tells where it is: a tone that rises by 250 Hz a second from 400 Hz, from the start of each clause.

A clause is 12 s at most, so every place of it has a pitch of its own, below 3.4 kHz; 10 ms are 2.5 Hz.
"""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from adaptive.speech.voice import Samples
from adaptive.speech.voices.limits import checked_tier, last_frame
from adaptive.speech.voices.tone import AMPLITUDE, ToneClause, ToneVoice
from adaptive.speech.voices.tone import INFO as TONE

FIRST_HZ = 400.0
RISE_HZ = 250.0
INFO = replace(TONE, name="sweep", tiers=("full",), summary="A rising tone for tests.")


@dataclass(kw_only=True)
class SweepClause(ToneClause):
    """A clause of it."""

    def decode(self, start: int, count: int, *, tier: str, tail: int = 0) -> Samples:
        checked_tier(self.info, tier)
        hop = self.info.frame_samples
        times = np.arange(start * hop, last_frame(self.frames, start, count, tail) * hop) / self.info.rate
        turns = FIRST_HZ * times + RISE_HZ / 2 * times**2
        return (AMPLITUDE * np.sin(2 * np.pi * turns)).astype(np.float32)


@dataclass(kw_only=True)
class SweepVoice(ToneVoice):
    """A `Voice`."""

    def prepare(self, clause: str, **wanted: Any) -> SweepClause:
        return SweepClause(**vars(super().prepare(clause, **wanted)))


def load() -> SweepVoice:
    """The entry point."""
    return SweepVoice(info=INFO)


def installed(folder: Path) -> Path:
    """A folder that brings the voice `sweep` where it is on the path, as an installed distribution would."""
    shutil.copy(__file__, folder)
    info = folder / "sweep_voice-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sweep-voice\nVersion: 0\n")
    (info / "entry_points.txt").write_text("[legato.voices]\nsweep = sweep_voice:load\n")
    return folder
