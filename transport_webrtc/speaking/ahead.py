"""What was taken ahead of its time and is not heard out yet: it can still be told, taken back and cut off."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from adaptive.speech.voice import Samples
from adaptive.ticks import to_seconds

from .heard import PROGRESS_TICKS, next_progress
from .turns import Turns
from .utterance import PREFILL, Utterance

SOON_S = 0.005
"""Timers wait at least so long: what is extrapolated may be a little behind what it was extrapolated for."""
NUMBERS = 0x10000
NOTHING: Samples = np.zeros(0, np.float32)

Tell = Callable[[str, Utterance, dict[str, Any]], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where the player is."""

    number: int
    """Of the stretch."""
    position: int
    """Ticks of it that were heard."""
    moving: bool
    """It plays at this moment."""


class Player(Protocol):
    """The far end, as the data track knows it."""

    def where(self) -> Place | None:
        """Where it is; None before it said anything."""

    def lead_s(self) -> float:
        """Speech that it is known to have beyond that."""

    def flush(self) -> Place | None:
        """Everything that was sent is to be dropped; where it is when that arrives."""

    def wake(self) -> None:
        """There may be something to take."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Taken:
    """Samples for the data track."""

    samples: Samples
    """float32, 48 kHz, at most as many as were asked for; not to be written to."""
    number: int
    """Of the stretch, modulo 2^16: for the player an utterance of its own, which begins at 0."""
    position: int
    """First tick, from the start of the stretch."""
    before: Samples
    """What came before a stretch that begins amid an utterance: at most 20 ms."""
    last: bool
    """Nothing of the utterance follows."""
    not_before: float | None
    """Monotonic seconds before which the stretch may not sound."""
    lead_s: float
    """How far ahead the utterance may be sent."""


@dataclass(slots=True, eq=False)
class _Stretch:
    """Part of an utterance that was taken in one piece."""

    number: int
    utterance: Utterance
    start: int
    """Tick of the utterance."""
    end: int


class Ahead:
    """The stretches of one listener, in the order of playing. Used from the event loop only.

    Each is numbered anew, also where an utterance is taken up again: so the player need not know where in an utterance
    it begins, and what it says of stretches that were taken back is understood.
    """

    def __init__(
        self, turns: Turns, *, clock: Callable[[], float], tell: Tell, heard_out: Callable[[Utterance], None]
    ) -> None:
        """`heard_out` is called with each utterance of which nothing is left to be heard."""
        self.player: Player | None = None
        """Where there is a data track, open or not."""
        self.on = False
        """Speech is taken here."""
        self.quiet_until = 0.0
        """Until then what the other carrier took is still heard."""
        self.stopped = False
        """Nothing more is taken: the other carrier is to have it."""
        self._turns = turns
        self._clock = clock
        self._tell = tell
        self._heard_out = heard_out
        self._stretches: deque[_Stretch] = deque()
        self._number = 0
        self._timer: asyncio.TimerHandle | None = None

    def __iter__(self) -> Iterator[Utterance]:
        """Utterances, each once, in the order of playing."""
        return iter(dict.fromkeys(stretch.utterance for stretch in self._stretches))

    @property
    def everyone(self) -> list[Utterance]:
        """All that are not heard out or over, in the order in which they sound, sent ahead or not."""
        ahead = list(self)
        return [*ahead, *(utterance for utterance in self._turns if utterance not in ahead)]

    @property
    def sounding(self) -> Utterance | None:
        """What sounds, or comes next, on either carrier."""
        return next(iter(self), self._turns.current)

    @property
    def silent(self) -> bool:
        """Nothing that was taken is still to be heard."""
        return not self._stretches

    def __contains__(self, utterance: Utterance) -> bool:
        return any(stretch.utterance is utterance for stretch in self._stretches)

    @property
    def lead_s(self) -> float:
        """Speech that the listener has beyond what it hears."""
        return self.player.lead_s() if self.player is not None and self._stretches else 0.0

    def take(self, ticks: int, *, timed: bool) -> Taken | None:
        """At most the next `ticks` samples of what has its turn; None where there is nothing to say at present.
        `timed`: the player can be told before which time something may not sound."""
        current, now = self._turns.current, self._clock()
        if current is None or not self.on or self.stopped or self._turns.held or not self._turns.here(current):
            return None
        if current.not_before > now and not timed:
            return None
        pipeline, start = current.pipeline, current.pipeline.taken
        stretch = self._stretches[-1] if self._stretches else None
        fresh = stretch is None or stretch.utterance is not current or stretch.end != start
        before = pipeline.before(PREFILL) if fresh else NOTHING
        samples = pipeline.take_ahead(ticks)
        if samples is None:
            return None
        if stretch is None or fresh:
            self._number = (self._number + 1) % NUMBERS
            stretch = _Stretch(self._number, current, start, start)
            self._stretches.append(stretch)
        stretch.end += len(samples)
        not_before = max(current.not_before, self.quiet_until)
        taken = Taken(
            samples=samples,
            number=stretch.number,
            position=start - stretch.start,
            before=before,
            last=pipeline.done,
            not_before=not_before if not_before > now and timed else None,
            lead_s=current.profile.lead_s,
        )
        self._turns.advance()
        return taken

    def follow(self) -> None:
        """Tells what was heard until now."""
        self._follow(self.player.where() if self.player is not None else None)

    def _follow(self, place: Place | None) -> None:
        if place is not None and any(stretch.number == place.number for stretch in self._stretches):
            while (stretch := self._stretches[0]).number != place.number:
                self._reach(stretch, stretch.end)
                self._leave(stretch)
            tick = min(stretch.start + place.position, stretch.end)
            if tick > stretch.start:
                self._reach(stretch, tick)
            if self._stretches and tick == stretch.utterance.pipeline.total:
                self._leave(stretch)
        self._arm(place)

    def played(self, utterance: Utterance) -> int:
        """Up to which tick of it the player must have played by now; 0 where that is not known."""
        place = None if self.player is None else self.player.where()
        for stretch in self._stretches:
            if place is not None and stretch.number == place.number and stretch.utterance is utterance:
                return min(stretch.start + place.position, stretch.end)
        return 0

    def recall(self, stopped_at: Place | None = None) -> None:
        """Takes back what was not heard: the first utterance goes on where the player stops, those behind it wait.
        Without a place the player is told to stop, and goes on until it hears of it."""
        if self.player is None or not self._stretches:
            return
        self._follow(self.player.flush() if stopped_at is None else stopped_at)
        again = list(self)
        for utterance in again:
            first = next(stretch for stretch in self._stretches if stretch.utterance is utterance)
            utterance.pipeline.rewind(max(first.start, utterance.reached))
        self._stretches.clear()
        self._arm(None)
        if again:
            self._turns.put_back(again)

    def take_up(self, stopped_at: Place | None, *, kept: bool = False) -> None:
        """Nothing that was sent arrives any more: all goes on where the player is, or at the word of it where it ran
        out amid an utterance. `kept`: what it lacks is sent again, so one that plays goes on by itself."""
        if not self._stretches or (kept and (stopped_at is None or stopped_at.moving)):
            return
        self.recall(stopped_at)
        current = self._turns.current
        if current is not None and stopped_at is not None and not stopped_at.moving:
            current.rewind(current.reached)

    def lose_player(self) -> None:
        """Whoever hears next has nothing of what was sent."""
        place = None if self.player is None else self.player.where()
        self.take_up(None if place is None else replace(place, moving=False))
        self.player, self.stopped = None, False

    def make_way(self) -> None:
        """What waits for its time does not hold up what may sound now."""
        current, now = self._turns.current, self._clock()
        front = self.sounding
        if not self.on or front is None or front.not_before <= now:
            return
        able = current is not None and current.not_before <= now
        if not able and self._turns.waiting.next(now) is None:
            return
        self.recall()
        self._turns.give_way()
        self._turns.advance()

    def cut_into(self, utterance: Utterance) -> None:
        """Something urgent comes first; it goes on later, at the word that is not heard out."""
        self.recall()
        if self._turns.current is not utterance:
            return  # it was heard out meanwhile
        utterance.pipeline.rewind(utterance.text.word_at(utterance.pipeline.taken))
        self._turns.give_way()
        if not utterance.cut_into:
            utterance.cut_into = True
            self._tell("paused", utterance, {"reason": "urgent"})

    def close(self) -> None:
        """Tells nothing any more."""
        self._stretches.clear()
        self._arm(None)

    def _reach(self, stretch: _Stretch, tick: int) -> None:
        """Tells what lies before a tick of the utterance that was heard."""
        utterance = stretch.utterance
        before, utterance.reached = utterance.reached, max(utterance.reached, tick)
        if not utterance.started:
            utterance.started = True
            self._tell("started", utterance, {"voice": utterance.voice})
        if utterance.cut_into:
            utterance.cut_into = False
            self._tell("resumed", utterance, {"reason": "urgent"})
        told = [(at, name, data) for at, (name, data) in utterance.marks.until(tick)]
        told += [(at, "progress", {}) for at in range(next_progress(before), tick + 1, PROGRESS_TICKS) if at > before]
        for at, name, data in sorted(told, key=lambda row: row[0]):
            self._tell(name, utterance, {"position": at, **data})

    def _leave(self, stretch: _Stretch) -> None:
        """The player is beyond it."""
        self._stretches.popleft()
        if stretch.utterance.pipeline.total == stretch.end:
            self._heard_out(stretch.utterance)

    def _arm(self, place: Place | None) -> None:
        """Comes back when the next thing is heard, as far as that can be known."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if place is None or not place.moving or not self._stretches:
            return
        stretch = self._stretches[0]
        utterance, now = stretch.utterance, max(stretch.start, stretch.utterance.reached)
        mark = utterance.marks.next_tick
        ticks = [next_progress(now), stretch.end, *([mark + 1] if mark is not None else [])]
        ahead = [tick - now for tick in ticks if now < tick <= stretch.end]
        if not ahead:
            return
        wait_s = to_seconds(min(ahead))
        self._timer = asyncio.get_running_loop().call_later(max(wait_s, SOON_S), self._timed)

    def _timed(self) -> None:
        self._timer = None
        self.follow()
