"""Where speech is taken up again that an outage or something urgent cut off."""

from bisect import bisect_right
from collections.abc import Sequence

from adaptive.control.profiles import Keep
from adaptive.speech.voice import Word


class Text:
    """The clauses of an utterance as far as they are known, in order, with where each begins. Ticks throughout."""

    def __init__(self) -> None:
        self.clauses: list[tuple[str, tuple[Word, ...]]] = []
        self._starts: list[int] = []

    def add(self, text: str, words: Sequence[Word], *, start: int) -> None:
        """The next clause, which begins at tick `start`."""
        self.clauses.append((text, tuple(words)))
        self._starts.append(start)

    def clause_at(self, position: int) -> int:
        """Where the clause begins that is said at `position`: 0 before the first."""
        at = bisect_right(self._starts, position) - 1
        return self._starts[at] if at >= 0 else 0

    def word_at(self, position: int) -> int:
        """Where the word begins that was not heard out at `position`; `position` where that is between words."""
        word = self._word(position)
        return position if word is None else word.start

    def word_end(self, position: int) -> int:
        """Where the word ends that is not said to its end at `position`; `position` where that is between words or at
        the beginning of one."""
        word = self._word(position)
        return position if word is None or word.start == position else word.end

    def misses(self, start: int, end: int, *, most: int) -> bool:
        """Whether a word cannot be made out that was not heard between two ticks: half of it, or `most` ticks, lie
        there. True where no words are known."""
        words = [word for _, words in self.clauses for word in words]
        lost = ((word, min(end, word.end) - max(start, word.start)) for word in words)
        return not words or any(ticks >= min(most, (word.end - word.start) / 2) > 0 for word, ticks in lost)

    def _word(self, position: int) -> Word | None:
        at = bisect_right(self._starts, position) - 1
        words = self.clauses[at][1] if at >= 0 else ()
        return next((word for word in words if word.start <= position < word.end), None)

    def taken_up(self, keep: Keep, position: int) -> int:
        """Where what was heard up to `position` goes on; what was heard to the end of a word or clause is not said
        again. Under `skip` that is where it would be by now, which is for the caller to know: `position`."""
        if keep is Keep.RESUME:
            return self.word_at(position)
        return self.clause_at(position) if keep is Keep.RESTART else position
