"""American English: one rule after another, the more special first; what no rule takes is read as it stands."""

import re
from collections.abc import Callable

from .. import addresses, markup
from ..characters import plain
from ..spans import Rule, Span, joined, scan, words
from . import figures, money, symbols, times, units
from .names import Names
from .numbers import digits, quantity

_MARKS = {".": "dot", "/": "slash", ":": "colon", "@": "at", "-": "dash", "_": "underscore", "?": "question mark"}
_MARKS |= {"=": "equals", "&": "and", "#": "hash", "+": "plus", "~": "tilde", "%": "percent"}


class EnglishReading:
    """Turns written English into words."""

    def __init__(self, is_word: Callable[[str], bool]) -> None:
        """`is_word` tells whether a dictionary has a word as it is written."""
        self._names = Names(is_word)
        self._rules: tuple[Rule, ...] = (
            *markup.rules(self.say),
            (addresses.ADDRESS, self._address),
            *times.RULES,
            *figures.phones(),
            *money.RULES,
            *units.RULES,
            *figures.signed(),
            *self._names.rules(),
            *figures.plain(),
            *symbols.RULES,
        )

    def say(self, text: str) -> str:
        """As it is read, with single spaces."""
        return joined(tuple(self._spans(text)))

    def words(self, text: str) -> tuple[Span, ...]:
        """Each written word with how it is read; several together where they are read as one thing."""
        return tuple(words(tuple(self._spans(text))))

    def _spans(self, text: str) -> tuple[Span, ...]:
        return tuple(scan(plain(text), self._rules, written=text))

    def _address(self, match: re.Match[str]) -> str:
        def number(written: str) -> str:
            return digits(written) if " " in written or len(written) > 4 else quantity(written)

        return addresses.spoken(match, marks=_MARKS, word=self._names.word, digits=number)
