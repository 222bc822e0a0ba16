"""The whole way from text to samples in one call, without a network or a server: for files, notebooks and judges.

`render` goes the same way as a listener's speech: the same stream, the same chunks, the same codec. For each change of
tier or rung on the way it also keeps what would have been heard had nothing changed, on either side.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from math import inf
from time import perf_counter

import numpy as np

from ..control.plan import Bandwidth, Rung
from ..ticks import TICK_RATE, to_seconds, to_ticks
from .clause import seam_frames
from .coding import RungChange, through_opus
from .renderer import Chunk, ClausePrepared, Noticed
from .scripts import unreadable
from .stream import Placement, SpeechStream
from .voice import Samples, SwitchPoint, Voice, VoiceInfo, Word

AROUND_S = 0.3
"""Kept on each side of a switch."""
AUDIBLE = 10 ** (-45 / 20)
"""First audio is the first 20 ms whose level is above −45 dBFS."""
AUDIBLE_S = 0.020
SHORTEST_TURN_S = 0.02
DEFAULT_RUNG = Rung(bitrate=24_000, bandwidth=Bandwidth.FB, frame_ms=20)


@dataclass(frozen=True, kw_only=True)
class Switch:
    """A change on the way, with both of its branches: the same stretch of speech as if nothing had changed."""

    kind: str
    """`tier` or `rung`."""
    before: str
    after: str
    at: int
    """Tick at which the new side begins."""
    fade: int
    """Ticks it takes to replace the old one; 0 where the codec does it."""
    start: int
    """Tick of the first sample of the three below, which are equally long."""
    heard: Samples
    old: Samples
    new: Samples


@dataclass(frozen=True, kw_only=True)
class Rendering:
    """A text, spoken."""

    voice: VoiceInfo
    samples: Samples
    """float32, 48 kHz, after the codec where there is one."""
    rate: int = TICK_RATE
    words: tuple[Word, ...]
    """In ticks."""
    clauses: tuple[ClausePrepared, ...]
    chunks: tuple[Chunk, ...]
    """Before the codec."""
    notices: tuple[str, ...]
    """What in the text was not followed, in sentences."""
    switches: tuple[Switch, ...]
    first_audio_s: float | None
    """From handing over the text to a loaded voice until 20 ms above −45 dBFS were ready; None if none were."""
    render_s: float
    """Wall-clock seconds spent on rendering."""

    @property
    def duration_s(self) -> float:
        """Of the speech."""
        return to_seconds(len(self.samples))

    @property
    def real_time_factor(self) -> float | None:
        """Seconds of rendering for a second of speech; None without speech."""
        return self.render_s / self.duration_s if len(self.samples) else None


def render(
    text: str,
    *,
    voice: str | Voice = "joe",
    tiers: Sequence[str] | None = None,
    every_s: float | None = None,
    codec: str = "none",
    rungs: Sequence[Rung] | None = None,
    speed: float = 1.0,
    seed: int = 0,
) -> Rendering:
    """Speaks `text`, by a voice's name or the voice itself.

    `tiers` take turns every `every_s` seconds, at the chunk border next to it; None is the voice's best tier
    throughout. With `codec="opus"` the speech goes through one Opus encoder, and `rungs` take turns the same way.
    Raises ValueError for an unknown voice, tier or codec, for a text of which the voice can read nothing, and for
    several tiers or rungs without `every_s`.
    """
    speaker = _loaded(voice) if isinstance(voice, str) else voice
    if (sentence := unreadable(text, speaker.info)) is not None:
        raise ValueError(sentence)
    turns = tuple(tiers or speaker.info.tiers[:1])
    rungs = tuple(rungs or (DEFAULT_RUNG,)) if codec == "opus" else tuple(rungs or ())
    _check(speaker.info, turns, every_s, codec, rungs)
    every = to_ticks(every_s) if every_s is not None else None
    stream = SpeechStream(speaker, speed=speed, seed=seed)
    spoken = _speak(stream, text, speaker.info, turns, every if len(set(turns)) > 1 else None)

    def coded(samples: Samples) -> tuple[Samples, tuple[RungChange, ...]]:
        return through_opus(samples, rungs, every) if codec == "opus" else (samples, ())

    @cache
    def at_tier(tier: str) -> Samples:
        again = SpeechStream(speaker, speed=speed, seed=seed, placements=spoken.placements)
        return coded(_speak(again, text, speaker.info, (tier,), None).samples)[0]

    @cache
    def at_rung(rung: Rung) -> Samples:
        return through_opus(spoken.samples, (rung,))[0]

    heard, rung_changes = coded(spoken.samples)
    switches = [
        _switch("tier", before, after, at, fade, heard, at_tier(before), at_tier(after))
        for before, after, at, fade in _tier_changes(spoken, speaker.info)
    ] + [
        _switch("rung", str(c.before), str(c.after), c.at, 0, heard, at_rung(c.before), at_rung(c.after))
        for c in rung_changes
    ]
    return Rendering(
        voice=speaker.info,
        samples=heard,
        words=tuple(word for clause in spoken.clauses for word in clause.words),
        clauses=spoken.clauses,
        chunks=spoken.chunks,
        notices=spoken.notices,
        switches=tuple(sorted(switches, key=lambda switch: switch.at)),
        first_audio_s=spoken.first_audio_s,
        render_s=sum(chunk.render_s for chunk in spoken.chunks),
    )


@lru_cache(maxsize=4)
def _loaded(name: str) -> Voice:
    from .registry import load_voice

    voice = load_voice(name)
    voice.warm()
    return voice


def _check(info: VoiceInfo, tiers: tuple[str, ...], every_s: float | None, codec: str, rungs: tuple[Rung, ...]) -> None:
    if unknown := [tier for tier in tiers if tier not in info.tiers]:
        raise ValueError(f"The voice {info.name} has no tier {unknown[0]}; it has {', '.join(info.tiers)}.")
    if codec not in {"none", "opus"}:
        raise ValueError(f"The codec is none or opus, not {codec}.")
    if codec == "none" and rungs:
        raise ValueError("Rungs are operating points of Opus: they need the codec opus.")
    if every_s is not None and not SHORTEST_TURN_S <= every_s < inf:
        raise ValueError(f"Turns last {SHORTEST_TURN_S} s or longer, not {every_s} s.")
    if every_s is None and (len(tiers) > 1 or len(rungs) > 1):
        raise ValueError("Several tiers or rungs take turns: say after how many seconds.")


@dataclass(frozen=True, kw_only=True)
class _Spoken:
    samples: Samples
    clauses: tuple[ClausePrepared, ...]
    chunks: tuple[Chunk, ...]
    notices: tuple[str, ...]
    placements: tuple[Placement, ...]
    first_audio_s: float | None


def _speak(stream: SpeechStream, text: str, info: VoiceInfo, tiers: tuple[str, ...], every: int | None) -> _Spoken:
    """All of `text`; chunks end where a turn of `every` ticks ends, to the nearest model frame."""
    frame = info.frame_samples * TICK_RATE / info.rate
    clauses: list[ClausePrepared] = []
    chunks: list[Chunk] = []
    notices: list[str] = []
    first_audio_s, turn, frames = None, 0, None
    begun = perf_counter()
    stream.feed(text, final=True)
    while not stream.done:
        if every:
            turn = int((stream.position + frame) // every)
            frames = max(1, round(((turn + 1) * every - stream.position) / frame))
        for event in stream.next(tier=tiers[turn % len(tiers)], chunk_frames=frames):
            if isinstance(event, ClausePrepared):
                clauses.append(event)
            elif isinstance(event, Chunk):
                chunks.append(event)
                if first_audio_s is None and _audible(chunks):
                    first_audio_s = perf_counter() - begun
            elif isinstance(event, Noticed):
                notices.append(event.message)
    return _Spoken(
        samples=_joined(chunks),
        clauses=tuple(clauses),
        chunks=tuple(chunks),
        notices=tuple(notices),
        placements=tuple(stream.placements),
        first_audio_s=first_audio_s,
    )


def _joined(chunks: Sequence[Chunk]) -> Samples:
    return np.concatenate([np.zeros(0, dtype=np.float32), *(chunk.samples for chunk in chunks)])


def _audible(chunks: Sequence[Chunk]) -> bool:
    """Whether 20 ms above −45 dBFS are among them."""
    power = np.cumsum(np.concatenate([[0.0], _joined(chunks).astype(np.float64) ** 2]))
    window = to_ticks(AUDIBLE_S)
    return len(power) > window and bool(np.max(power[window:] - power[:-window]) > window * AUDIBLE**2)


def _tier_changes(spoken: _Spoken, info: VoiceInfo) -> list[tuple[str, str, int, int]]:
    """Old tier, new tier, tick at which the new one begins and ticks it fades in, wherever two chunks differ.

    A chunk's samples end a little before its last model frame does, because the resampler looks ahead; the new tier
    begins at the border between the frames. None for a voice that does not change within a clause: what it says at
    another tier may be as long as it likes, and there is no seam to judge.
    """
    if info.switch is not SwitchPoint.CHUNK:
        return []
    frame = info.frame_samples * TICK_RATE / info.rate
    left = Counter[int]()
    for chunk in spoken.chunks:
        left[chunk.clause] += chunk.frames
    changes = []
    for before, after in pairwise(spoken.chunks):
        left[before.clause] -= before.frames
        if before.tier == after.tier:
            continue
        if before.clause != after.clause:
            changes.append((before.tier, after.tier, after.start, 0))
            continue
        clause = spoken.clauses[after.clause]
        border = clause.start + clause.ticks - round(left[after.clause] * frame)
        changes.append((before.tier, after.tier, border, round(seam_frames(info) * frame)))
    return changes


def _switch(
    kind: str, before: str, after: str, at: int, fade: int, heard: Samples, old: Samples, new: Samples
) -> Switch:
    """The three signals, around the middle of the switch."""
    middle, around = at + fade // 2, to_ticks(AROUND_S)
    window = slice(max(0, middle - around), max(0, middle + around))
    return Switch(
        kind=kind,
        before=before,
        after=after,
        at=at,
        fade=fade,
        start=window.start,
        heard=heard[window],
        old=old[window],
        new=new[window],
    )
