"""What everybody sends: one text, spoken by one voice under one seed. Recordings are judged by its rendering."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from adaptive.audio.wav import write_wav
from adaptive.speech.offline import render
from adaptive.speech.registry import load_voice
from adaptive.speech.renderer import Chunk
from adaptive.speech.stream import SpeechStream
from adaptive.speech.voice import Samples
from adaptive.ticks import TICK_RATE

VOICE = "joe"
TEXT = (
    "The lights of the other shore came up, one after another, and then the knocking at the door stopped. "
    "Nobody had been expected that evening; the ferry was late, and the rain had not stopped since noon. "
    "She put down the book and listened again."
)
"""12 s. Common words, a clause of every length, nothing that a speech recogniser would spell its own way."""
LEAST_PHRASE_S = 1.0
"""Shorter clauses are judged together with the one before."""


@dataclass(frozen=True)
class Phrase:
    """A part of the clip, in ticks."""

    start: int
    end: int


@dataclass(frozen=True)
class Clip:
    """A text as it sounds at the voice's best tier, at 48 kHz."""

    text: str
    voice: str
    tier: str
    """The voice's best."""
    samples: Samples
    phrases: tuple[Phrase, ...]

    @property
    def seconds(self) -> float:
        """Its length."""
        return len(self.samples) / TICK_RATE

    @cached_property
    def wav(self) -> bytes:
        """As a file of 16-bit samples."""
        file = io.BytesIO()
        write_wav(file, self.samples, TICK_RATE)
        return file.getvalue()


def make_clip(text: str = TEXT, voice: str = VOICE) -> Clip:
    """Renders the clip; the same every time."""
    rendering = render(text, voice=voice)
    starts = [clause.start for clause in rendering.clauses] or [0]
    borders = [0]
    for start in starts[1:]:
        if start - borders[-1] >= LEAST_PHRASE_S * TICK_RATE:
            borders.append(start)
    ends = [*borders[1:], len(rendering.samples)]
    phrases = tuple(Phrase(start, end) for start, end in zip(borders, ends, strict=True))
    return Clip(text, voice, rendering.voice.tiers[0], rendering.samples, phrases)


def as_spoken(clip: Clip, tier: str, switches: Sequence[dict[str, Any]]) -> Samples:
    """The clip as a server rendered it: from `tier` on, with the changes that its `switched` events tell.

    A lower tier makes other pauses between clauses, so the best one is no measure for what the network did to it.
    """
    stream = SpeechStream(load_voice(clip.voice))
    stream.feed(clip.text, final=True)
    chunks: list[Samples] = []
    while not stream.done:
        now = next((s["to"] for s in reversed(switches) if s["position"] <= stream.position), tier)
        events = stream.next(tier=now, chunk_frames=None)
        chunks += [event.samples for event in events if isinstance(event, Chunk)]
    return np.concatenate(chunks)
