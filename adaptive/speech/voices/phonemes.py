"""English text to phonemes without espeak: hibari's reader (Apache-2.0, misaki's alphabet), made to take any text.

Words keep their phonemes, so that a model's durations become word timings.
"""

import logging
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

log = logging.getLogger(__name__)

LONG_NUMBER = re.compile(r"\d(?:,?\d){15,}")
"""Nobody reads more than fifteen digits as one number: digit by digit."""
LETTERS = re.compile(r"[^\W_]")
OTHER_LETTERS = {"İ": "I", "⁄": "/"}
"""What the reader's tables trip over: a capital whose small letter is two characters; the slash inside of ½."""
FAILURES = (ValueError, IndexError, KeyError, TypeError)
"""What the reader raises for text that its rules did not foresee."""


@dataclass(frozen=True, kw_only=True)
class SpokenWord:
    """A word as it is read, between two spaces."""

    text: str
    """Of the normalised text: "9.99" may have become "nine"."""
    phonemes: str
    """misaki's alphabet, punctuation included; may hold spaces; empty where nothing is said."""


class EnglishReader:
    """Reads American English. Loading takes about half a second."""

    def __init__(self) -> None:
        from hibari.g2p import G2P
        from hibari.g2p.normalize import normalize

        self._g2p = G2P()
        self._normalise = normalize

    def read(self, clause: str) -> tuple[SpokenWord, ...]:
        """The words of `clause` with their phonemes; empty where there is nothing to be said. Takes any text."""
        text = readable(clause)
        try:
            words = tuple(self._words(self._normalise(text)))
        except FAILURES as error:
            log.warning("the reader failed on a clause (%s: %s); reading it word by word", type(error).__name__, error)
            words = tuple(spoken for word in text.split() for spoken in self._alone(word))
        return words if any(LETTERS.search(word.phonemes) for word in words) else ()

    def _words(self, text: str) -> Iterator[SpokenWord]:
        letters = phonemes = ""
        for token in self._g2p.phonemize_tokens(self._g2p.tokenize(text)):
            letters += token.text
            phonemes += token.phonemes or ""
            if token.whitespace:
                yield SpokenWord(text=letters, phonemes=phonemes.strip())
                letters = phonemes = ""
        if letters:
            yield SpokenWord(text=letters, phonemes=phonemes.strip())

    def _alone(self, word: str) -> tuple[SpokenWord, ...]:
        try:
            return tuple(self._words(self._normalise(word)))
        except FAILURES as error:
            log.warning("the reader cannot read %r (%s); it is left out", word, error)
            return (SpokenWord(text=word, phonemes=""),)


@cache
def english() -> EnglishReader:
    """The reader of this process; every English voice shares it."""
    return EnglishReader()


def readable(text: str) -> str:
    """`text` with digits of any script as 0-9, fractions written out, and numbers beyond reading digit by digit."""
    plain = "".join(_readable_character(character) for character in text)
    return LONG_NUMBER.sub(lambda number: " ".join(number.group().replace(",", "")), plain)


def _readable_character(character: str) -> str:
    if character in OTHER_LETTERS:
        return OTHER_LETTERS[character]
    if character.isascii() or not character.isnumeric():
        return character
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    plain = unicodedata.normalize("NFKC", character).replace("⁄", "/")
    return f" {plain} " if plain != character else character
