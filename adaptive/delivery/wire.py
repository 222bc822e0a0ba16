"""The bytes of the data track, little-endian: speech and flushes go down, acknowledgements come up."""

import struct
from dataclasses import dataclass
from enum import IntEnum

from adaptive.control.plan import Codec, Format

MAX_MESSAGE_BYTES = 1150
"""Of a message in all, so that SCTP never splits it."""
HEADER_BYTES = 16
LENGTH_BYTES = 2
"""Before each frame."""
VERSION = 1
DELAY_UNKNOWN = 0xFFFF
"""An acknowledgement's delay of 6.5 s or more."""

CODECS = (Codec.OPUS, Codec.PCM16, Codec.ULAW)
RATES = (8_000, 12_000, 16_000, 24_000, 48_000)
FORMATS: tuple[Format, ...] = tuple(Format(codec=codec, rate=rate) for codec in CODECS for rate in RATES)
"""All that can be said in a message."""

_HEADER = struct.Struct("<BBHHHIHBB")
_ACK = struct.Struct("<BBHHQIHHIHIHB")
_LENGTH = struct.Struct("<H")
_HELD = struct.Struct("<I")

_SPEECH, _FLUSH, _ACKNOWLEDGES = 1, 2, 1
_LAST, _NOT_BEFORE, _TYPE = 0x80, 0x40, 0x0F

_CODE_OF = {form: CODECS.index(form.codec) << 4 | RATES.index(form.rate) for form in FORMATS}
_FORMAT_OF = {code: form for form, code in _CODE_OF.items()}


class PlayerState(IntEnum):
    """What the player is doing."""

    EMPTY = 0
    """Everything it was sent has been played."""
    FILLING = 1
    """It waits for enough to start."""
    PLAYING = 2
    STARVED = 3
    """It ran out in the middle of an utterance."""
    SUSPENDED = 4
    """The browser waits for a tap."""


@dataclass(frozen=True, kw_only=True)
class SpeechMessage:
    """Frames of one utterance and one format that follow each other."""

    epoch: int
    """Raised by each interruption, modulo 2^16; what is older is dropped."""
    utterance: int
    number: int
    """Of the transmission, modulo 2^16: fresh on every message, also on one that is sent again. The first is 1, so that
    an acknowledgement made before anything came says nothing."""
    position: int
    """First tick, from the utterance's start."""
    ticks: int
    """Of each frame."""
    format: Format
    frames: tuple[bytes, ...]
    last: bool = False
    """Holds the last frame of the utterance."""
    not_before: int | None = None
    """Client clock in ms, modulo 2^32, before which the utterance may not start to sound."""

    def pack(self) -> bytes:
        """Raises ValueError for what has no place in a message."""
        held = self.not_before is not None
        kind = _SPEECH | (_LAST if self.last else 0) | (_NOT_BEFORE if held else 0)
        try:
            parts = [
                _HEADER.pack(
                    kind,
                    VERSION,
                    self.epoch,
                    self.utterance,
                    self.number,
                    self.position,
                    self.ticks,
                    len(self.frames),
                    _CODE_OF[self.format],
                )
            ]
            if self.not_before is not None:
                parts.append(_HELD.pack(self.not_before))
            for frame in self.frames:
                parts += (_LENGTH.pack(len(frame)), frame)
        except (struct.error, KeyError) as error:
            raise ValueError(f"This does not fit into a speech message: {error}") from None
        data = b"".join(parts)
        if len(data) > MAX_MESSAGE_BYTES or not self.frames or not self.ticks:
            raise ValueError(
                f"A speech message has frames and at most {MAX_MESSAGE_BYTES} bytes; this one has "
                f"{len(self.frames)} frames of {self.ticks} ticks and {len(data)} bytes."
            )
        return data

    @classmethod
    def unpack(cls, data: bytes) -> "SpeechMessage":
        """Raises ValueError for anything `pack` would not have made."""
        message = unpack(data)
        if not isinstance(message, cls):
            raise ValueError("This is a flush, not speech.")
        return message


@dataclass(frozen=True, kw_only=True)
class Flush:
    """Everything of an older epoch is to be dropped at once. The player answers at once, too."""

    epoch: int
    """The new one."""
    number: int
    size: int = HEADER_BYTES
    """In bytes; zeros fill up a larger one, by which the path is probed."""

    def pack(self) -> bytes:
        """Raises ValueError for numbers beyond 16 bits, and for sizes that are no message's."""
        if not HEADER_BYTES <= self.size <= MAX_MESSAGE_BYTES:
            raise ValueError(f"A flush has {HEADER_BYTES} to {MAX_MESSAGE_BYTES} bytes, not {self.size}.")
        try:
            return _HEADER.pack(_FLUSH, VERSION, self.epoch, 0, self.number, 0, 0, 0, 0).ljust(self.size, b"\0")
        except struct.error as error:
            raise ValueError(f"This does not fit into a flush: {error}") from None

    @classmethod
    def unpack(cls, data: bytes) -> "Flush":
        """Raises ValueError for anything `pack` would not have made."""
        message = unpack(data)
        if not isinstance(message, cls):
            raise ValueError("This is speech, not a flush.")
        return message


def unpack(data: bytes) -> SpeechMessage | Flush:
    """A message of the `speech` channel. Raises ValueError with a sentence on anything else."""
    if not HEADER_BYTES <= len(data) <= MAX_MESSAGE_BYTES:
        raise ValueError(f"A message has {HEADER_BYTES} to {MAX_MESSAGE_BYTES} bytes, not {len(data)}.")
    kind, version, epoch, utterance, number, position, ticks, count, code = _HEADER.unpack_from(data)
    if version != VERSION:
        raise ValueError(f"This message is of version {version}, not {VERSION}.")
    if kind == _FLUSH:
        if any(data[HEADER_BYTES:]) or utterance or position or ticks or count or code:
            raise ValueError("A flush has nothing but its epoch and number, and zeros.")
        return Flush(epoch=epoch, number=number, size=len(data))
    form = _FORMAT_OF.get(code)
    if kind & ~(_LAST | _NOT_BEFORE) != _SPEECH or form is None or not count or not ticks:
        raise ValueError(f"A message of type {kind:#x} with {count} frames of format {code:#x} is not known.")
    at, not_before = HEADER_BYTES, None
    frames = []
    try:
        if kind & _NOT_BEFORE:
            (not_before,) = _HELD.unpack_from(data, at)
            at += _HELD.size
        for _ in range(count):
            (length,) = _LENGTH.unpack_from(data, at)
            at += LENGTH_BYTES + length
            frames.append(data[at - length : at])
    except struct.error:
        raise ValueError("The message ends before its frames do.") from None
    if at != len(data):
        raise ValueError(f"The frames of the message take {at} bytes, and it has {len(data)}.")
    return SpeechMessage(
        epoch=epoch,
        utterance=utterance,
        number=number,
        position=position,
        ticks=ticks,
        format=form,
        frames=tuple(frames),
        last=bool(kind & _LAST),
        not_before=not_before,
    )


@dataclass(frozen=True, kw_only=True)
class Ack:
    """What the player has, and what it is doing."""

    epoch: int
    """The newest seen."""
    largest: int
    """Transmission number, modulo 2^16; 0 before anything came."""
    bitmap: int
    """64 bits; bit i: number `largest - 1 - i` arrived."""
    arrival: int
    """Of the largest: client clock in ms, modulo 2^32."""
    delay: int
    """Tenths of a millisecond between that arrival and this acknowledgement, at most `DELAY_UNKNOWN`."""
    wanted_utterance: int
    wanted: int
    """First tick that is missing of what sounds next."""
    played_utterance: int
    played: int
    """Ticks of the utterance that came out of the loudspeaker."""
    buffered: int
    """Ms of contiguous speech after the played position, at most 65,535."""
    state: PlayerState

    def pack(self) -> bytes:
        """Raises ValueError for numbers beyond their size."""
        try:
            return _ACK.pack(
                _ACKNOWLEDGES,
                VERSION,
                self.epoch,
                self.largest,
                self.bitmap,
                self.arrival,
                self.delay,
                self.wanted_utterance,
                self.wanted,
                self.played_utterance,
                self.played,
                self.buffered,
                self.state,
            )
        except struct.error as error:
            raise ValueError(f"This does not fit into an acknowledgement: {error}") from None

    @classmethod
    def unpack(cls, data: bytes) -> "Ack":
        """Raises ValueError with a sentence on anything that is no acknowledgement."""
        if len(data) != _ACK.size:
            raise ValueError(f"An acknowledgement has {_ACK.size} bytes, not {len(data)}.")
        kind, version, *facts, state = _ACK.unpack(data)
        if kind != _ACKNOWLEDGES or version != VERSION or state not in _STATES:
            raise ValueError(f"Type {kind}, version {version}, state {state} is no acknowledgement known here.")
        epoch, largest, bitmap, arrival, delay, wanted_in, wanted, played_in, played, buffered = facts
        return cls(
            epoch=epoch,
            largest=largest,
            bitmap=bitmap,
            arrival=arrival,
            delay=delay,
            wanted_utterance=wanted_in,
            wanted=wanted,
            played_utterance=played_in,
            played=played,
            buffered=buffered,
            state=PlayerState(state),
        )


_STATES = frozenset(PlayerState)
