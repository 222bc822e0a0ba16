"""Frames in the order of playing to blocks of samples at 48 kHz: Opus, PCM16 and µ-law. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from adaptive.audio.seams import crossfade
from adaptive.codec import OpusDecoder, OpusError
from adaptive.codec.pcm import from_pcm16, from_ulaw
from adaptive.control.plan import Codec
from adaptive.delivery import Frame
from adaptive.speech.voice import Samples
from adaptive.ticks import TICK_RATE

from .interpolating import REACH, Interpolator
from .place import Place
from .sequence import Turn

PAST = TICK_RATE // 8_000 * REACH
"""Ticks of what sounded last that an interpolator may look back at."""
MOST_TICKS = TICK_RATE * 120 // 1000
"""The longest Opus packet (RFC 6716 section 3.2.5)."""
NOTHING: Samples = np.zeros(0, np.float32)


@dataclass(frozen=True, kw_only=True)
class Block:
    """Decoded speech; where the block before ended earlier, the ticks between are missing for good."""

    place: Place
    samples: Samples
    end: bool
    """Its utterance ends with it."""


class Decoding:
    """Of one listener."""

    def __init__(self) -> None:
        self.broken = 0
        """Frames that could not be decoded; they are silent."""
        self._opus = OpusDecoder()
        self._interpolator: Interpolator | None = None
        self._end: Place | None = None
        """Where the last block ended, and how it sounded there."""
        self._past = NOTHING

    def push(self, turn: Turn) -> Iterator[Block]:
        """The blocks that a turn completes."""
        rate = TICK_RATE if turn.frame is None or turn.frame.format.codec is Codec.OPUS else turn.frame.format.rate
        waiting = self._interpolator.waiting if self._interpolator is not None else 0
        expected = None if self._end is None else self._end._replace(position=self._end.position + waiting)
        continues = turn.place == expected
        decoded, count = (NOTHING, 0) if turn.frame is None else self._decode(turn.frame)
        run_in, samples = decoded[: len(decoded) - count], decoded[len(decoded) - count :]
        if self._interpolator is not None and (not continues or rate != self._interpolator.rate):
            yield from self._finish(end=False, into=run_in if continues else NOTHING)
        if not continues:
            self._past, self._end = NOTHING, turn.place
        if rate == TICK_RATE:
            yield from self._emit(samples, end=turn.end)
            return
        if self._interpolator is None:
            self._interpolator = Interpolator(rate, self._past)
        yield from self._emit(self._interpolator.push(samples), end=False)
        if turn.end:
            yield from self._finish(end=True)

    def flush(self) -> None:
        """A new epoch: nothing goes on."""
        self._opus.close()
        self._opus = OpusDecoder()
        self._interpolator, self._end, self._past = None, None, NOTHING

    def close(self) -> None:
        """Frees the decoder; safe to repeat."""
        self._opus.close()

    def _decode(self, frame: Frame) -> tuple[Samples, int]:
        """At least as many samples as the message says that the frame takes, and how many those are: a packet of Opus
        that is longer begins earlier, so that the decoder has run in."""
        count = frame.ticks * (TICK_RATE if frame.format.codec is Codec.OPUS else frame.format.rate) // TICK_RATE
        try:
            match frame.format.codec:
                case Codec.OPUS:
                    samples = self._opus.decode(frame.payload, MOST_TICKS)
                case Codec.PCM16:
                    samples = from_pcm16(frame.payload)
                case Codec.ULAW:
                    samples = from_ulaw(frame.payload)
        except (OpusError, ValueError):
            self.broken += 1
            samples = NOTHING
        if frame.format.codec is not Codec.OPUS:
            samples = samples[:count]
        return np.pad(samples, (0, max(0, count - len(samples)))), count

    def _finish(self, *, end: bool, into: Samples = NOTHING) -> Iterator[Block]:
        """What the interpolator holds back, going over into what else is known of the same time."""
        assert self._interpolator is not None
        rest, self._interpolator = self._interpolator.finish(), None
        if 0 < len(rest) <= len(into):
            rest = crossfade(rest, into[-len(rest) :])
        yield from self._emit(rest, end=end)

    def _emit(self, samples: Samples, *, end: bool) -> Iterator[Block]:
        assert self._end is not None
        if not len(samples) and not end:
            return
        at = self._end
        self._past = np.concatenate([self._past, samples[-PAST:]])[-PAST:]
        self._end = at._replace(position=at.position + len(samples))
        yield Block(place=at, samples=samples, end=end)
