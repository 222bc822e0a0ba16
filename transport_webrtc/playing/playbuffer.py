"""What sounds next: decoded speech in the order of playing, rendered sample by sample. Pure.

Ticks of the player's clock count up from where it began.

Nothing is skipped, stretched or made up; what is missing is silence between two fades. As the sender follows what was
played, a clock that runs fast or slow needs no correction here.
"""

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from adaptive.delivery import PlayerState
from adaptive.speech.voice import Samples
from adaptive.ticks import TICK_RATE

from .decoding import Block
from .place import Place

START = TICK_RATE * 58 // 1000
"""Beginning needs so many ticks in one piece, or a whole utterance: 60 ms, less the 2 ms an interpolator holds back."""
FADE = TICK_RATE * 5 // 1000
"""Of every fade."""


@dataclass(frozen=True, slots=True)
class Hole:
    """Where nothing sounded in the midst of an utterance."""

    tick: int
    """Of the player's clock."""
    ticks: int
    lost: bool
    """Frames were given up; else they were waited for."""


@dataclass(kw_only=True)
class PlayBuffer:
    """The player's buffer."""

    advanced: int = 0
    """Ticks rendered since the last flush, missing ones among them."""
    spoken: int = 0
    """Ticks of speech rendered, ever."""
    holes: list[Hole] = field(default_factory=list)
    played: Place | None = None
    """Where it is; after a flush, where it fell silent."""

    def __post_init__(self) -> None:
        self._queue: deque[Block] = deque()
        self._taken = 0
        """Samples of the first block that are rendered already."""
        self._place: Place | None = None
        """The next tick of the utterance that has begun; None between utterances."""
        self._playing = False
        self._gain = 0.0
        self._tail: Samples = np.zeros(0, np.float32)
        """What sounded last before a flush, fading."""
        self._holds: dict[int, int] = {}

    def add(self, block: Block) -> None:
        """Adds speech, in the order of playing."""
        self._queue.append(block)

    def hold(self, utterance: int, tick: int) -> None:
        """An utterance may not begin before that tick of the clock."""
        self._holds[utterance] = tick

    @property
    def state(self) -> PlayerState:
        """Never suspended: nothing here waits for a tap."""
        if self._playing:
            return PlayerState.PLAYING
        if self._place is not None:
            return PlayerState.STARVED
        return PlayerState.FILLING if self._queue else PlayerState.EMPTY

    @property
    def held(self) -> bool:
        """What comes next waits for its time only."""
        return not self._playing and self._ready()

    def flush(self) -> None:
        """Drops everything; what sounds fades."""
        tail = np.zeros(FADE, np.float32)
        filled = 0
        while self._playing and filled < FADE and self._queue:
            filled += self._step(tail, filled, tick=None)
        tail *= 1 - np.arange(1, FADE + 1, dtype=np.float32) / FADE
        tail[: len(self._tail)] += self._tail
        self._tail = tail
        self._queue.clear()
        self._holds.clear()
        self._place, self._playing = None, False
        self._taken = self.advanced = 0

    def render(self, tick: int, count: int) -> Samples:
        """The next `[count]` samples, the first of them at `tick` of the clock."""
        out = np.zeros(count, np.float32)
        index = 0
        while index < count:
            if not self._playing:
                wait = self._wait(tick + index)
                if wait is None or wait >= count - index:
                    break
                index += wait
                self._begin(tick + index)
            index += self._step(out, index, tick=tick)
        if self._place is not None and not self._playing and index < count:
            self._note(tick + index, count - index, lost=False)
        faded = min(count, len(self._tail))
        out[:faded] += self._tail[:faded]
        self._tail = self._tail[faded:]
        return out

    def _wait(self, tick: int) -> int | None:
        """Ticks until something may begin; None where nothing is ready."""
        if not self._ready():
            return None
        utterance, position = self._queue[0].place
        return max(0, self._holds.get(utterance, tick) - tick) if position == 0 else 0

    def _ready(self) -> bool:
        """Whether enough is there to begin: a gap that is left behind is not waited for."""
        return bool(self._queue) and (self._runway(START) >= START or self._piece() < len(self._queue))

    def _begin(self, tick: int) -> None:
        self._playing = True
        if self._place is None:
            self._place = self._queue[0].place
            self._gain = 0.0 if self._place.position else 1.0
            self._holds.pop(self._place.utterance, None)

    def _step(self, out: Samples, index: int, *, tick: int | None) -> int:
        """Renders up to a border between blocks; how many ticks. `tick` is that of `out[0]`; None: nothing is noted."""
        assert self._place is not None
        if not self._queue:
            self._playing = False
            return 0
        head = self._queue[0]
        missing = head.place.position + self._taken - self._place.position
        ticks = min(len(out) - index, missing or len(head.samples) - self._taken)
        if missing:
            self._gain = 0.0
            if tick is not None:
                self._note(tick + index, ticks, lost=True)
        else:
            self._sound(out[index : index + ticks])
            self._taken += ticks
            self.spoken += ticks
        self.advanced += ticks
        self._place = self.played = self._place._replace(position=self._place.position + ticks)
        if not missing and self._taken == len(head.samples):
            self._queue.popleft()
            self._taken = 0
            if head.end:
                self._place, self._playing = None, False
        return ticks

    def _sound(self, out: Samples) -> None:
        """Fills `out` from the first block: louder from where it is, and softer towards where nothing follows."""
        ticks = len(out)
        left = self._runway(ticks + FADE)
        along = np.arange(ticks, dtype=np.float32)
        gain = np.minimum(np.minimum(1.0, self._gain + (along + 1) / FADE), (left - along) / FADE).astype(np.float32)
        out[:] = self._queue[0].samples[self._taken : self._taken + ticks] * gain
        if ticks:
            self._gain = float(gain[-1])

    def _runway(self, limit: int) -> float:
        """Ticks in one piece from here, looked for up to `limit`; infinite where the utterance ends with them."""
        ticks = -self._taken
        for index in range(self._piece()):
            block = self._queue[index]
            if block.end:
                return float("inf")
            ticks += len(block.samples)
            if ticks >= limit:
                break
        return ticks

    def _piece(self) -> int:
        """How many blocks follow each other without a gap, looked for as far as beginning needs."""
        count, ticks = 1, 0
        while count < len(self._queue) and ticks < START + self._taken:
            block, follows = self._queue[count - 1], self._queue[count].place
            end = block.place._replace(position=block.place.position + len(block.samples))
            if block.end or follows != end:
                break
            ticks += len(block.samples)
            count += 1
        return min(count, len(self._queue))

    def _note(self, tick: int, ticks: int, *, lost: bool) -> None:
        last = self.holes[-1] if self.holes else None
        if last is not None and last.lost == lost and last.tick + last.ticks == tick:
            self.holes[-1] = Hole(last.tick, last.ticks + ticks, lost)
        elif ticks:
            self.holes.append(Hole(tick, ticks, lost))
