"""Times of the words as the caller wrote them, from the times of the words as they were read.

"$9.99" is read as four words and "7:30 pm" as three: words that both have carry the model's own times, the others share
the time between those in proportion to their letters, and say that it is an estimate.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from ..voice import Word


@dataclass(frozen=True, kw_only=True)
class ReadWord:
    """A word as it was read, with its time in ticks from the start of the clause."""

    text: str
    start: int
    end: int


def written_words(clause: str, read: Sequence[ReadWord], *, written: Sequence[str] | None = None) -> tuple[Word, ...]:
    """One `Word` for every run of characters between spaces in `clause`, or for each of `written` where the language
    puts none between its words; in ticks from its start.

    Times never run backwards; a word that is not said has no length.
    """
    written = clause.split() if written is None else written
    matcher = SequenceMatcher(a=[_key(word) for word in written], b=[_key(word.text) for word in read], autojunk=False)
    found: list[Word] = []
    for tag, first, last, begin, end in matcher.get_opcodes():
        if tag == "equal":
            pairs = zip(written[first:last], read[begin:end], strict=True)
            found += [Word(text=text, start=said.start, end=said.end) for text, said in pairs]
        elif first < last:
            now = found[-1].end if found else (read[0].start if read else 0)
            found += _share(written[first:last], read[begin:end], now)
    return tuple(found)


def shared_words(clause: str, ticks: int) -> tuple[Word, ...]:
    """The words of a clause of which nothing but its length is known: each has its share of it by its letters."""
    shared = written_words(clause, [ReadWord(text=" ", start=0, end=ticks)])
    return tuple(replace(word, estimated=True) for word in shared)


def _share(written: Sequence[str], read: Sequence[ReadWord], now: int) -> Iterator[Word]:
    """The time of `read` among `written`; one word alone has it all, and that is exact."""
    start, end = (read[0].start, read[-1].end) if read else (now, now)
    weights = [max(1, len(_key(word))) for word in written]
    done = 0
    for word, weight in zip(written, weights, strict=True):
        begin = start + (end - start) * done // sum(weights)
        done += weight
        finish = start + (end - start) * done // sum(weights)
        yield Word(text=word, start=begin, end=finish, estimated=len(written) > 1 or not read)


def _key(word: str) -> str:
    return re.sub(r"[^\w]", "", word.replace("’", "'")).casefold()
