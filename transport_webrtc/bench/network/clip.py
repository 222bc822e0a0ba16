"""What everybody sends: one text, spoken by one voice under one seed. Recordings are judged by its rendering."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from adaptive.audio.wav import write_wav
from adaptive.speech.registry import load_voice
from adaptive.speech.renderer import Chunk, ClausePrepared
from adaptive.speech.stream import SpeechStream
from adaptive.speech.voice import Samples, Voice
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
    """A text as it sounds, at 48 kHz."""

    text: str
    voice: str
    tier: str
    """The voice's best, or the one it began with."""
    samples: Samples
    phrases: tuple[Phrase, ...]
    firsts: tuple[int, ...] = ()
    """Numbers of the clauses with which phrases begin."""

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
    speaker = load_voice(voice)
    best = speaker.info.tiers[0]
    samples, clauses = _speak(speaker, text, best, ())
    firsts = [0]
    for number, start in enumerate(clauses):
        if start - clauses[firsts[-1]] >= LEAST_PHRASE_S * TICK_RATE:
            firsts.append(number)
    return Clip(text, voice, best, samples, _phrases(samples, clauses, firsts), tuple(firsts))


def as_spoken(clip: Clip, tier: str, switches: Sequence[dict[str, Any]]) -> Clip:
    """The clip as a server rendered it: from `tier` on, with the changes that its `switched` events tell.

    A lower tier has noise of its own and other pauses, so the best one does not tell what the network did to it.
    """
    samples, clauses = _speak(load_voice(clip.voice), clip.text, tier, switches)
    return replace(clip, tier=tier, samples=samples, phrases=_phrases(samples, clauses, clip.firsts))


def _speak(voice: Voice, text: str, tier: str, switches: Sequence[dict[str, Any]]) -> tuple[Samples, list[int]]:
    """The samples, and the ticks at which clauses begin."""
    stream = SpeechStream(voice)
    stream.feed(text, final=True)
    chunks: list[Samples] = []
    clauses: list[int] = []
    while not stream.done:
        now = next((s["to"] for s in reversed(switches) if s["position"] <= stream.position), tier)
        for event in stream.next(tier=now, chunk_frames=None):
            if isinstance(event, Chunk):
                chunks.append(event.samples)
            elif isinstance(event, ClausePrepared):
                clauses.append(event.start)
    return np.concatenate(chunks), clauses


def _phrases(samples: Samples, clauses: Sequence[int], firsts: Sequence[int]) -> tuple[Phrase, ...]:
    borders = [0, *(clauses[first] for first in firsts[1:]), len(samples)]
    return tuple(Phrase(start, end) for start, end in pairwise(borders))
