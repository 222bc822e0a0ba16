"""What of an utterance has been heard, and what falls on which tick of it."""

import heapq
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from adaptive.speech.voice import Word
from adaptive.ticks import to_ticks

T = TypeVar("T")

_MOST_FRAMES = 2_048
"""Frames remembered between leaving and being heard: 41 s of 20 ms frames."""


class HeardClock:
    """Follows the frames of one utterance from when they left until they are heard, a given delay later.

    Frames stay known until it is certain that they arrived, since what never did has to be said again.
    """

    def __init__(self) -> None:
        self._frames: deque[tuple[float, int, int]] = deque(maxlen=_MOST_FRAMES)
        self._reached = 0
        """Tick that was heard before the first of them."""

    def left(self, at: float, start: int, ticks: int) -> None:
        """The samples from tick `start` on left at `at` (monotonic seconds)."""
        self._frames.append((at, start, ticks))

    def position(self, now: float, delay_s: float) -> int:
        """Last tick heard at `now`, where a sample is heard `delay_s` after it left."""
        frame = self._newest(now - delay_s)
        if frame is None:
            return self._reached
        at, start, ticks = frame
        return start + min(max(to_ticks(now - delay_s - at), 0), ticks)

    def arrived(self, until: float) -> int:
        """The tick up to which speech arrived, where every frame that left at `until` or before it did."""
        frame = self._newest(until)
        return self._reached if frame is None else frame[1] + frame[2]

    def within(self, after: float, until: float) -> tuple[int, int] | None:
        """From which tick to which the speech reaches that left after `after`, at `until` the latest; None where none
        did."""
        frames = [frame for frame in self._frames if after < frame[0] <= until]
        return (frames[0][1], frames[-1][1] + frames[-1][2]) if frames else None

    def forget(self, until: float) -> None:
        """Frames that left before `until` are not asked for any more."""
        while len(self._frames) > 1 and self._frames[1][0] <= until:
            self._frames.popleft()

    def restart(self, reached: int) -> None:
        """What is on its way is never heard: tick `reached` is the last until more leaves."""
        self._frames.clear()
        self._reached = reached

    def _newest(self, until: float) -> tuple[float, int, int] | None:
        """The last frame that left at `until` or before."""
        return next((frame for frame in reversed(self._frames) if frame[0] <= until), None)


class Timeline(Generic[T]):
    """Things that happen at a tick of an utterance, given in any order, taken in the order of ticks."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, T]] = []
        self._count = 0

    def add(self, tick: int, item: T) -> None:
        """`item` happens at `tick`; what was added first comes first where ticks are equal."""
        heapq.heappush(self._heap, (tick, self._count, item))
        self._count += 1

    @property
    def next_tick(self) -> int | None:
        """When the next thing happens."""
        return self._heap[0][0] if self._heap else None

    def until(self, tick: int) -> Iterator[tuple[int, T]]:
        """Takes what happens before `tick`."""
        while self._heap and self._heap[0][0] < tick:
            at, _, item = heapq.heappop(self._heap)
            yield at, item


def heard_text(clauses: Sequence[tuple[str, Sequence[Word]]], position: int) -> str:
    """The part of a text that was heard up to `position`: whole words; a word that was cut off is not among them.

    `clauses` are the texts of the clauses with their words in ticks of the utterance. What is written between the
    words (marks, spaces, none in Chinese) is kept as it stands in the clause.
    """
    parts: list[str] = []
    for text, words in clauses:
        heard = [word for word in words if word.end <= position]
        if len(heard) == len(words):
            if words:
                parts.append(text.strip())
            continue
        cursor = 0
        for word in heard:
            found = text.find(word.text, cursor)
            cursor = found + len(word.text) if found >= 0 else cursor
        if cursor:
            parts.append(text[:cursor].strip())
        elif heard:
            parts.append(" ".join(word.text for word in heard))
        break
    return " ".join(part for part in parts if part)
