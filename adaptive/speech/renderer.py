"""The face of whatever renders: texts in, chunks of 48 kHz samples out, in a worker process or in this one.

The media process talks to this protocol only, so that a worker that blocks or dies never delays a packet.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from .calibration.figures import Calibration
from .judge import Fault
from .voice import Samples, VoiceInfo, Word


@dataclass(frozen=True, kw_only=True)
class RenderJob:
    """One utterance to be rendered."""

    id: str
    """Unique among the jobs of a renderer."""
    voice: str
    speed: float = 1.0
    seed: int = 0
    tier: str | None = None
    """Tier to begin with; None is the voice's best."""
    chunk_frames: int | None = None
    """Chunk length to begin with, in model frames; None is the stream's ramp."""


@dataclass(frozen=True, kw_only=True)
class ClausePrepared:
    """A clause went through the part of the model that runs once."""

    index: int
    start: int
    """Tick of the utterance at which the clause begins."""
    ticks: int
    """Its length, the pause after it not included."""
    text: str
    words: tuple[Word, ...]
    """In ticks of the utterance."""


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Samples that are final: seams are joined, the rate is 48 kHz, the next chunk begins where this one ends."""

    start: int
    """Tick of the utterance at which it begins."""
    samples: Samples
    """float32, 48 kHz, one sample a tick."""
    tier: str
    frames: int
    """Model frames decoded for it."""
    render_s: float
    """Wall-clock seconds it took, waiting not included."""
    clause: int
    pause_after: int = 0
    """Ticks of silence at the end of `samples`, where it ends a clause."""
    fault: Fault | None = None
    """What a judge found in its first rendering."""
    again: bool = False
    """For that it was rendered again: this is the second rendering, at the better `tier`."""
    voice: str | None = None
    """Who speaks it and has that tier and those frames; None is the voice of the job."""


@dataclass(frozen=True, kw_only=True)
class Noticed:
    """Something in the text is not followed, such as an element of SSML; `message` is a sentence for people."""

    message: str


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """The utterance is complete at `ticks`."""

    ticks: int


@dataclass(frozen=True, kw_only=True)
class RenderFailed:
    """The utterance cannot go on; `message` is a sentence for people."""

    message: str


RenderEvent = ClausePrepared | Chunk | Noticed | Rendered | RenderFailed


@dataclass(frozen=True, kw_only=True)
class RendererStatus:
    """What a renderer says of itself."""

    ready: bool
    """Its voices are loaded and warm."""
    workers: int
    voices: tuple[VoiceInfo, ...]
    queue_s: float
    """How long a new chunk waits at present, estimated."""
    cost: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Voice → tier → seconds of rendering per second of speech, running mean of what was measured."""
    calibrations: Mapping[str, Calibration] = field(default_factory=dict)
    """Voice → what its tiers cost here by the length of a chunk, and how they sound; where it was measured."""
    restarts: int = 0
    """Workers that died and were replaced."""
    faults: Mapping[Fault, int] = field(default_factory=dict)
    """Bad chunks that a judge found, by what was wrong."""
    rendered_again: int = 0
    """Those of them that were rendered again one tier higher; for the rest there was none."""


class RenderStream(Protocol):
    """One utterance being rendered."""

    def feed(self, text: str, *, final: bool) -> None:
        """Adds text; `final` closes it. Text may come in pieces cut anywhere."""

    def steer(self, *, tier: str, chunk_frames: int | None) -> None:
        """From the next chunk on. A tier the voice does not have is taken as its nearest."""

    def grant(self, until: int) -> None:
        """Chunks that begin before tick `until` may be rendered; the rest waits. This is the back-pressure."""

    def events(self) -> AsyncIterator[RenderEvent]:
        """Everything that comes of it, in order; ends after `Rendered`, `RenderFailed` or `cancel`."""
        ...

    def cancel(self) -> None:
        """Stops rendering at the next chunk; nothing more comes out."""


class Renderer(Protocol):
    """Renders many utterances side by side."""

    async def start(self) -> None:
        """Starts workers and warms the voices; returns when the first utterance would not wait for either."""

    async def close(self) -> None:
        """Ends all of it; open streams fail."""

    def open(self, job: RenderJob) -> RenderStream:
        """A stream for `job`. Raises ValueError for a voice it does not have."""
        ...

    def status(self) -> RendererStatus:
        """At this moment; never blocks."""
        ...
