"""Frames as they arrive, given on in the order of playing. Pure: time is an argument.

A missing frame holds up those behind it until it is about to be due: then a short gap is given up, so that the rest
sounds on time. A gap that is long, or met while nothing sounds, is waited for: silence is less bad than missing words.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from adaptive.delivery import Frame, SpeechMessage
from adaptive.ticks import TICK_RATE

from .place import Place, after, beyond

GIVE_UP = TICK_RATE * 20 // 1000
"""A missing frame is given up so many ticks before it is due: the longest that is rendered at once, and a fade."""
LONGEST_GAP = TICK_RATE // 10
"""Ticks; a longer gap is waited for."""
STANDING_S = 0.5
"""A short gap is waited for so long where nothing sounds meanwhile."""
FRESH_S, SKIPPED_S, HEADLESS_S = 0.25, 0.4, 2.0
"""How long something before the first thing seen may still be on its way: after a flush, for another utterance, within
one."""


@dataclass(frozen=True, kw_only=True)
class Situation:
    """Of the player, while it is asked what comes next."""

    ahead: float
    """Ticks given on and not played yet; infinite where what comes next waits for its time."""
    standing_s: float | None
    """For so long what began or is to begin has stood still; None where it sounds."""
    complete: bool
    """Nothing sent since the last flush is missing."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A frame whose turn it is; without one the utterance ends at `place`."""

    place: Place
    frame: Frame | None
    end: bool
    """Its utterance ends with it."""


@dataclass(kw_only=True)
class _Held:
    """What is there of one utterance."""

    frames: dict[int, Frame] = field(default_factory=dict)
    end: int | None = None

    def first(self, default: int) -> int:
        """The first position held; where only its end is known, that."""
        return min(self.frames, default=default if self.end is None else self.end)


class Sequence:
    """The frames of one epoch."""

    def __init__(self) -> None:
        self.given = 0
        """Ticks given on since the last flush, gaps among them."""
        self.late = 0
        """Frames that came after they were given up, or again."""
        self._next: Place | None = None
        self._end: Place | None = None
        """Where the utterance before it ended."""
        self._held: dict[int, _Held] = {}
        self._newest: int | None = None
        self._expected: int | None = None
        """The utterance that a fresh epoch should begin with."""
        self._waiting: float | None = None
        """Since when something waits that may not be the first."""

    @property
    def wanted(self) -> Place | None:
        """The first tick that is missing of what sounds next; None where that is not known."""
        if self._next is not None:
            unseen = not self._next.position and self._next.utterance not in self._held
            return self._end if self._end is not None and unseen else self._next
        first = self._first()
        return None if first is None else Place(first, 0)

    def take(self, message: SpeechMessage) -> None:
        """Takes what a message holds; what was given on or given up already is let go."""
        passed = 1 if self._next is None else beyond(message.utterance, self._next.utterance)
        if passed < 0:
            self.late += len(message.frames)
            return
        held = self._held.setdefault(message.utterance, _Held())
        start = self._next.position if self._next is not None and not passed else 0
        position = message.position
        for payload in message.frames:
            frame = Frame(message.utterance, position, message.ticks, message.format, payload)
            if position < start or position in held.frames:
                self.late += 1
            else:
                held.frames[position] = frame
            position += message.ticks
        if message.last:
            held.end = position
        if self._newest is None or beyond(message.utterance, self._newest) > 0:
            self._newest = message.utterance

    def flush(self) -> None:
        """Forgets everything: a new epoch begins."""
        self._held.clear()
        self._expected = None if self._newest is None else after(self._newest).utterance
        self._next = self._end = self._waiting = None
        self.given = 0

    def release(self, now: float, situation: Situation) -> Iterator[Turn]:
        """The frames whose turn it is."""
        before = self.given
        while self._begun(now, complete=situation.complete) or self._leap(
            situation.ahead + self.given - before, situation.standing_s
        ):
            yield from self._run()

    def _run(self) -> Iterator[Turn]:
        """All that is contiguous."""
        assert self._next is not None
        held = self._held.get(self._next.utterance)
        while held is not None and (frame := held.frames.pop(self._next.position, None)) is not None:
            at = self._next
            self._next = at._replace(position=at.position + frame.ticks)
            self.given += frame.ticks
            ends = self._next.position == held.end
            if ends:
                self._pass(self._next)
            yield Turn(place=at, frame=frame, end=ends)
            if ends:
                return
        if held is not None and held.end == self._next.position:
            at = self._next
            self._pass(at)
            yield Turn(place=at, frame=None, end=True)

    def _pass(self, end: Place) -> None:
        """An utterance is given on as a whole."""
        self._held.pop(end.utterance, None)
        self._end, self._next = end, after(end.utterance)

    def _begun(self, now: float, *, complete: bool) -> bool:
        """Whether the next frame is there; decides where to begin while that is open."""
        known = self._next
        held = self._held.get(known.utterance) if known is not None else None
        if known is not None and held is not None and (known.position in held.frames or held.end == known.position):
            self._waiting = None
            return True
        utterance = self._first()
        if (known is not None and known.position) or utterance is None:
            return False
        self._waiting = now if self._waiting is None else self._waiting
        position = self._held[utterance].first(0)
        expected = self._expected if known is None else known.utterance
        follows = utterance <= 1 if expected is None else utterance == expected
        limit = FRESH_S if known is None else HEADLESS_S if position else SKIPPED_S
        sure = (position == 0 and follows) or (known is None and complete) or now - self._waiting >= limit
        if not sure:
            return False
        self._next, self._waiting = Place(utterance, position), None
        return True

    def _leap(self, ahead: float, standing_s: float | None) -> bool:
        """Leaves a gap behind where waiting for it does no good any more."""
        known = self._next
        held = self._held.get(known.utterance) if known is not None and known.position else None
        if known is None or held is None or not held.frames:
            return False
        gap = held.first(known.position) - known.position
        due = ahead <= GIVE_UP if standing_s is None else standing_s >= STANDING_S
        if gap > LONGEST_GAP or not due:
            return False
        self._next = known._replace(position=known.position + gap)
        self.given += gap
        return True

    def _first(self) -> int | None:
        """The utterance to play first of those that hold anything."""
        first: int | None = None
        for utterance in self._held:
            if first is None or beyond(utterance, first) < 0:
                first = utterance
        return first
