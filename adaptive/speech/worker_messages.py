"""What the media process and a render worker say to each other, and how it is written on the socket between them.

A message is pickled (both ends are this package, and nobody else holds the socket) behind its length in four bytes.
Samples travel inside as the bytes of their array.
"""

import pickle
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .cache import CacheSettings
from .calibration.figures import Calibration
from .renderer import RenderEvent, RenderJob
from .voice import VoiceInfo

_LENGTH = struct.Struct("<I")

NUMBER = struct.Struct("<q")
"""The utterance a worker has in hand, in memory shared with its parent, who reads it when the worker has died."""

NOTHING = -1
"""In place of that number between two chunks."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """The first message to a worker: what it is to be. `loader` and `stream` are named `module:attribute`."""

    voices: tuple[str, ...]
    loader: str
    """Called with a voice's name and `progress`; returns the voice."""
    stream: str
    """Called with a voice, `speed` and `seed`; returns what `SpeechStream` is."""
    nice: int
    """Added to the worker's niceness, so that rendering gives way to sending."""
    cache: CacheSettings


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of an utterance: after `feeds` pieces of text, `next(tier, chunk_frames)` was called and gave something.

    The steps of an utterance in order, with its text, make the same samples again.
    """

    feeds: int
    tier: str
    chunk_frames: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Open:
    """Begin an utterance, or begin it anew where an earlier worker left it."""

    number: int
    job: RenderJob
    pieces: tuple[tuple[str, bool], ...] = ()
    """Text so far, each piece with whether it was the last."""
    granted: int = 0
    tier: str | None = None
    chunk_frames: int | None = None
    steps: tuple[Step, ...] = ()
    """To be repeated silently: everything they make was delivered before."""


@dataclass(frozen=True, slots=True)
class Feed:
    """More text."""

    number: int
    text: str
    final: bool


@dataclass(frozen=True, slots=True)
class Steer:
    """Tier and chunk length from the next chunk on."""

    number: int
    tier: str
    chunk_frames: int | None


@dataclass(frozen=True, slots=True)
class Grant:
    """Chunks beginning before tick `until` may be rendered."""

    number: int
    until: int


@dataclass(frozen=True, slots=True)
class Cancel:
    """Forget this utterance."""

    number: int


@dataclass(frozen=True, slots=True)
class Ping:
    """Answer with `Pong` between two chunks."""


@dataclass(frozen=True, slots=True)
class Building:
    """A voice builds its files: what, and how much of it is done, 0..1."""

    what: str
    share: float


@dataclass(frozen=True, slots=True)
class Ready:
    """All voices are loaded and warm."""

    voices: tuple[VoiceInfo, ...]
    calibrations: Mapping[str, Calibration]
    """By voice, where it has one."""


@dataclass(frozen=True, slots=True)
class Unfit:
    """The worker cannot start; a sentence says why."""

    message: str


@dataclass(frozen=True, slots=True)
class Made:
    """What one turn of an utterance made."""

    number: int
    events: tuple[RenderEvent, ...]
    step: Step | None
    """None where the turn ended in failure."""
    waited_s: float
    """From the moment it could have been rendered until its rendering began."""


@dataclass(frozen=True, slots=True)
class Pong:
    """The worker is between two chunks."""


ToDesk = Open | Feed | Steer | Grant | Cancel
ToWorker = Setup | ToDesk | Ping
FromWorker = Building | Ready | Unfit | Made | Pong


def encode(message: ToWorker | FromWorker) -> bytes:
    """The message as bytes, its length in front."""
    body = pickle.dumps(message, protocol=5)
    return _LENGTH.pack(len(body)) + body


class Decoder:
    """Bytes in, cut anywhere; whole messages out."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[ToWorker | FromWorker]:
        """The messages that `data` completes."""
        self._buffer += data
        start = 0
        while len(self._buffer) >= start + _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer, start)
            end = start + _LENGTH.size + length
            if len(self._buffer) < end:
                break
            with memoryview(self._buffer) as view:
                message = pickle.loads(view[start + _LENGTH.size : end])
            start = end
            yield message
        del self._buffer[:start]
