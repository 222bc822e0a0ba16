"""Voices that a render worker loads in tests: what the text says happens to the process that speaks it."""

import os
import signal
import time
from pathlib import Path

import numpy as np

from adaptive.speech.voice import Samples, SwitchPoint, VoiceInfo

FRAME = 480
FRAMES_PER_CHARACTER = 6


class Clause:
    words = ()

    def __init__(self, text: str, seed: int) -> None:
        self.frames = len(text) * FRAMES_PER_CHARACTER
        self._text = text
        self._phase = sum(text.encode()) + seed

    def decode(self, start: int, count: int, *, tier: str, tail: int = 0) -> Samples:
        if "breaks at full" in self._text and tier == "full" and start > 30:
            raise ArithmeticError("a number grew too large")
        if "breaks" in self._text and "at full" not in self._text:
            raise ArithmeticError("a number grew too large.")
        if "dies" in self._text and start > 30:
            os.kill(os.getpid(), signal.SIGKILL)
        if "hangs once" in self._text and start > 30:
            mark = Path(os.environ["HUNG_ONCE"])
            if not mark.exists():
                mark.touch()
                time.sleep(60)
        if "hangs always" in self._text:
            time.sleep(60)
        if "slow" in self._text:
            time.sleep(0.01)
        until = min(start + count + tail, self.frames)
        at = np.arange(start * FRAME, until * FRAME)
        samples = 0.3 * np.sin(2 * np.pi * (300 + self._phase % 200) * at / 48_000 + self._phase)
        if tier == "light":
            samples += 0.01 * np.sin(at * at % 7919)
        return samples.astype(np.float32)


class Voice:
    def __init__(self, name: str) -> None:
        self.info = VoiceInfo(
            name=name,
            languages=("en",),
            licence="none",
            rate=48_000,
            frame_samples=FRAME,
            tiers=("full", "light"),
            switch=SwitchPoint.CHUNK,
        )

    def prepare(self, clause: str, *, speed: float = 1.0, seed: int = 0, tier: str | None = None) -> Clause:
        return Clause(clause, seed)

    def warm(self) -> None:
        print("a voice that prints on standard output")


def load(name: str, *, progress=None) -> Voice:
    if name == "missing":
        raise ValueError("There is no voice of that name")
    if name == "fails later" and Path(os.environ["FAIL_FROM_NOW"]).exists():
        raise OSError("The disk is full.")
    if progress is not None:
        progress(f"building {name}", 0.5)
    return Voice(name)
