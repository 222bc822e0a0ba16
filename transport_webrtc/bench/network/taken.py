"""What one run leaves behind: everything that a row and a plot are made of, in a folder."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from adaptive.audio.wav import read_wav, write_wav
from adaptive.speech.voice import Samples
from adaptive.ticks import TICK_RATE

HEARD = "heard.wav"
FACTS = "run.json"


@dataclass(frozen=True, kw_only=True)
class Taken:
    """One run. All times are seconds from when the text was handed over."""

    sender: str
    scenario: str
    seed: int
    heard: Samples
    """48 kHz, from the hand-over on."""
    slip: float | None
    """How much faster than the wall clock the listener's audio clock ran."""
    ticks: list[dict[str, Any]]
    """The receiver's counters, four times a second; `at` is when."""
    wire: dict[str, list[list[float | None]]]
    """`down` and `up`: [time, bytes on the wire, ms of queue before it] of every packet."""
    speech: list[list[float]]
    """[time, 1 where it arrived] of every packet of sound on the way down."""
    queue_max_ms: float
    """The longest that a packet carried waited for the bottleneck, its service included."""
    late_s: float
    """The longest that this process was held up: its steps on the link were as late."""
    idle: float | None
    """Share of the machine that was idle during the speech."""
    idle_lowest: float | None
    """Of any half second."""
    told: dict[str, Any] = field(default_factory=dict)
    """What the sender says of itself."""
    browser: str = ""

    def save(self, folder: Path) -> None:
        """Writes the recording and the facts."""
        folder.mkdir(parents=True, exist_ok=True)
        write_wav(folder / HEARD, self.heard, TICK_RATE)
        facts = {name: value for name, value in asdict(self).items() if name != "heard"}
        (folder / FACTS).write_text(json.dumps(facts), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Self:
        """What `save` wrote."""
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        heard, _ = read_wav(folder / HEARD)
        return cls(heard=np.asarray(heard, np.float32), **facts)
