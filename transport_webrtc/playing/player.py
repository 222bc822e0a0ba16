"""Plays speech that is sent ahead: takes messages of the `speech` channel, gives samples on the clock, and tells the
server what arrived and what was heard. Pure: time is an argument."""

from dataclasses import replace

import numpy as np

from adaptive.delivery import Ack, Flush, PlayerState
from adaptive.delivery.wire import DELAY_UNKNOWN, unpack
from adaptive.speech.voice import Samples
from adaptive.ticks import TICK_RATE, to_seconds, to_ticks

from ..playout import Gap
from .decoding import Decoding
from .place import Place, beyond
from .playbuffer import PlayBuffer
from .receipts import Receipts
from .sequence import Sequence, Situation

STEP = TICK_RATE // 100
"""Ticks rendered at once."""
WRAP = 1 << 32
"""Of the client's clock on the wire, ms."""


class Player:
    """One listener's. `start` is the time of the first sample that comes out."""

    def __init__(self, start: float) -> None:
        self.start = start
        self.messages = Receipts()
        self.broken = 0
        """Messages that could not be read."""
        self.stale = 0
        """Messages of an epoch that was over."""
        self._sequence = Sequence()
        self._decoding = Decoding()
        self._buffer = PlayBuffer()
        self._out = 0
        self._epoch: int | None = None
        self._played = Place(0, 0)
        self._flushed = False
        """A flush is to be told at once."""
        self._standing: float | None = None
        """Since when nothing sounds in the midst of an utterance, or before one that is on its way."""

    @property
    def state(self) -> PlayerState:
        """What it is doing."""
        return self._buffer.state

    @property
    def place(self) -> Place:
        """What was played last."""
        return self._buffer.played or self._played

    @property
    def buffered_s(self) -> float:
        """Speech in one piece after that."""
        return to_seconds(self._sequence.given - self._buffer.advanced)

    @property
    def spoken_s(self) -> float:
        """Speech that came out, ever."""
        return to_seconds(self._buffer.spoken)

    @property
    def late(self) -> int:
        """Frames that came when their time had passed, or a second time."""
        return self._sequence.late

    @property
    def gaps(self) -> list[Gap]:
        """Where nothing sounded in the midst of an utterance: frames were given up, or waited for."""
        return [
            Gap(
                at=self.start + to_seconds(hole.tick),
                ticks=hole.ticks,
                lost=hole.ticks if hole.lost else 0,
                late=0 if hole.lost else hole.ticks,
            )
            for hole in self._buffer.holes
        ]

    def take(self, now: float, data: bytes) -> None:
        """A message of the `speech` channel; everything up to `now` has been played."""
        try:
            message = unpack(data)
        except ValueError:
            self.broken += 1
            return
        ahead = 1 if self._epoch is None else beyond(message.epoch, self._epoch)
        if ahead > 0:
            self._begin(message.epoch)
        speech = 0 if isinstance(message, Flush) else message.ticks * len(message.frames)
        self.messages.take(now, message.number, ticks=speech)
        self._flushed |= isinstance(message, Flush)
        if ahead < 0:
            self.stale += 1
        elif not isinstance(message, Flush):
            if message.not_before is not None and message.position == 0:
                self._buffer.hold(message.utterance, to_ticks(_time(now, message.not_before) - self.start))
            self._sequence.take(replace(message, not_before=None))
            self._release(now)

    def play(self, until: float) -> Samples:
        """Everything that comes out up to `until`, float32 48 kHz, one sample a tick of the clock."""
        blocks = []
        while (wanted := to_ticks(until - self.start) - self._out) > 0:
            block = self._buffer.render(self._out, min(STEP, wanted))
            self._out += len(block)
            self._release(self.start + to_seconds(self._out))
            blocks.append(block)
        return np.concatenate(blocks) if blocks else np.zeros(0, np.float32)

    def ack(self, now: float) -> bytes | None:
        """What the server is to be told now, if anything."""
        state = self.state
        if not (self._flushed or self.messages.due(now, state, buffered_s=self.buffered_s)):
            return None
        self.messages.told(now, state)
        self._flushed = False
        wanted, played = self._sequence.wanted or self.place, self.place
        return Ack(
            epoch=self._epoch or 0,
            largest=self.messages.largest,
            bitmap=self.messages.bitmap,
            arrival=round(self.messages.arrival * 1000) % WRAP,
            delay=min(DELAY_UNKNOWN, round((now - self.messages.arrival) * 10_000)),
            wanted_utterance=wanted.utterance,
            wanted=wanted.position,
            played_utterance=played.utterance,
            played=played.position,
            buffered=min(0xFFFF, round(self.buffered_s * 1000)),
            state=state,
        ).pack()

    def close(self) -> None:
        """Frees the decoder."""
        self._decoding.close()

    def _begin(self, epoch: int) -> None:
        """Whatever was sent before this epoch is dropped."""
        first, self._epoch = self._epoch is None, epoch
        if first:
            return
        self._buffer.flush()
        self._played = self.place
        self._decoding.flush()
        self._sequence.flush()
        self.messages.mark()
        self._standing = None

    def _release(self, now: float) -> None:
        """Decodes what is next."""
        state, held = self.state, self._buffer.held
        stands = state is PlayerState.STARVED or (state is PlayerState.FILLING and not held)
        self._standing = (now if self._standing is None else self._standing) if stands else None
        stood_s = 0.0 if self._standing is None else now - self._standing
        situation = Situation(
            ahead=float("inf") if held else self._sequence.given - self._buffer.advanced,
            standing_s=None if state is PlayerState.PLAYING else stood_s,
            complete=self.messages.complete,
        )
        for turn in self._sequence.release(now, situation):
            for block in self._decoding.push(turn):
                self._buffer.add(block)


def _time(now: float, client_ms: int) -> float:
    """The time that a clock of 32 bits in ms shows; the difference is signed, as it may have passed."""
    ms = round(now * 1000)
    return (ms + (client_ms - ms + WRAP // 2) % WRAP - WRAP // 2) / 1000
