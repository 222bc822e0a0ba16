"""English text to phonemes without espeak: hibari's reader (Apache-2.0, misaki's alphabet), made to take any text.

Written forms are words before it sees them (`adaptive.speech.reading`). Written words keep their phonemes, so that a
model's durations become word timings.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from ..reading.spans import Span

log = logging.getLogger(__name__)

LETTERS = re.compile(r"[^\W_]")
LETTER_A = re.compile(r"(?<![\w.'])A(?![\w.'])")
"""By itself among letters that are spelt; else it is the article."""
LONGEST_RUN = 40
"""Characters without a space that are read in one go, unless they are the letters of a word: hibari tries every way to
put the parts of such a run together, which takes the cube of their number (measured: 6 s for 200 of `a-a-a`)."""
FAILURES = (ValueError, IndexError, KeyError, TypeError)
"""What the reader raises for text that its rules did not foresee."""


@dataclass(frozen=True, kw_only=True)
class SpokenWord:
    """A written word, or several that are read as one thing, such as "7:30 pm"."""

    text: str
    """As written, without white space around it."""
    phonemes: str
    """misaki's alphabet, punctuation included; spaces between the words that it is read as; empty where nothing is
    said."""


class EnglishReader:
    """Reads American English, or British. Loading takes about half a second."""

    def __init__(self, *, british: bool = False) -> None:
        from hibari.g2p import G2P

        from ..reading.english import EnglishReading

        self._g2p = G2P(british=british)
        known = self._g2p.lexicon.golds
        self.reading = EnglishReading(lambda word: word in known)
        """How written forms are read."""

    def read(self, clause: str) -> tuple[SpokenWord, ...]:
        """The words of `clause` with their phonemes; empty where there is nothing to be said. Takes any text."""
        spans = tuple(map(_cut, self.reading.words(clause)))
        try:
            words = tuple(self._together(spans))
        except FAILURES as error:
            log.warning("the reader failed on a clause (%s: %s); reading it word by word", type(error).__name__, error)
            words = tuple(map(self._alone, spans))
        return words if any(LETTERS.search(word.phonemes) for word in words) else ()

    def spell(self, letter: str) -> str:
        """Phonemes of a letter's name."""
        return " ".join(self._phonemes(_marked(Span(written=letter, read=letter.upper(), changed=True))))

    def _together(self, spans: Sequence[Span]) -> Iterator[SpokenWord]:
        """Read in one go, because how a word sounds depends on its neighbours."""
        said = self._phonemes(" ".join(_marked(span) for span in spans if span.read))
        counts = [len(span.read.split()) for span in spans]
        if sum(counts) != len(said):
            yield from map(self._alone, spans)
            return
        done = 0
        for span, count in zip(spans, counts, strict=True):
            yield SpokenWord(text=span.written, phonemes=" ".join(filter(None, said[done : done + count])))
            done += count

    def _phonemes(self, text: str) -> list[str]:
        """Of each run between two spaces."""
        runs: list[str] = []
        phonemes = ""
        for token in self._g2p.phonemize_tokens(self._g2p.tokenize(text)) if text else ():
            phonemes += token.phonemes or ""
            if token.whitespace:
                runs.append(phonemes.strip())
                phonemes = ""
        return [*runs, phonemes.strip()] if text else []

    def _alone(self, span: Span) -> SpokenWord:
        try:
            return SpokenWord(text=span.written, phonemes=" ".join(filter(None, self._phonemes(_marked(span)))))
        except FAILURES as error:
            log.warning("the reader cannot read %r (%s); it is left out", span.written, error)
            return SpokenWord(text=span.written, phonemes="")


def _cut(span: Span) -> Span:
    """The same with spaces where a run of what is read is too long."""
    if all(len(run) <= LONGEST_RUN or _is_word(run) for run in span.read.split()):
        return span
    parts = [run[at : at + LONGEST_RUN] for run in span.read.split() for at in range(0, len(run), LONGEST_RUN)]
    return replace(span, read=" ".join(parts))


def _is_word(run: str) -> bool:
    return run.isalpha() and run[1:].islower()


def _marked(span: Span) -> str:
    """What is read, with the phonemes of a spelt A; what looks like such a mark but is text is none."""
    text = span.read.replace("](", "] (")
    return LETTER_A.sub("[A](/ˈA/)", text) if span.changed else text


@cache
def english(*, british: bool = False) -> EnglishReader:
    """The reader of this process; every English voice shares it."""
    return EnglishReader(british=british)
