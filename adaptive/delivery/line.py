"""One count of ticks for all that a player is to play, one utterance after the other."""

from bisect import bisect_right

from .frames import Frame

WRAP = 0x10000
HALF = WRAP // 2


def nearest(number: int, reference: int) -> int:
    """The count nearest to `reference` that has these low 16 bits."""
    return reference + (number - reference + HALF) % WRAP - HALF


class Line:
    """Stretches of utterances, in order of playing."""

    def __init__(self) -> None:
        self.end = 0
        """Ticks added so far."""
        self._starts: list[int] = []
        self._stretches: list[tuple[int, int]] = []
        """For each stretch its utterance and that one's position where it starts."""
        self._following: tuple[int, int] | None = None
        """Utterance and position of the frame that would go on with the last stretch."""

    def add(self, frame: Frame) -> int:
        """Where on the line the frame begins. Raises ValueError for one that repeats or overtakes its utterance."""
        at = frame.utterance, frame.position
        if at != self._following:
            if self._following is not None and frame.utterance == self._following[0]:
                raise ValueError(f"After {self._following[1]} ticks of the utterance {frame.position} cannot come.")
            self._starts.append(self.end)
            self._stretches.append(at)
        self._following = frame.utterance, frame.position + frame.ticks
        start = self.end
        self.end += frame.ticks
        return start

    def find(self, utterance: int, position: int) -> int | None:
        """Where on the line a position of an utterance is; None for an utterance that is not on it."""
        for start, (other, first) in zip(reversed(self._starts), reversed(self._stretches), strict=True):
            if other == utterance:
                return min(max(start, start + position - first), self._end_of(start))
        return None

    def at(self, place: int) -> tuple[int, int] | None:
        """Utterance and position at a place on the line; a place between two utterances is the end of the first."""
        index = bisect_right(self._starts, place - 1) - 1 if place else 0
        if index < 0 or not self._starts:
            return None
        utterance, first = self._stretches[index]
        return utterance, first + place - self._starts[index]

    def forget(self, before: int) -> None:
        """Stretches that end before a place, but for the last of them, are not asked for again."""
        index = bisect_right(self._starts, before) - 2
        if index > 0:
            del self._starts[:index], self._stretches[:index]

    def _end_of(self, start: int) -> int:
        index = bisect_right(self._starts, start)
        return self._starts[index] if index < len(self._starts) else self.end
