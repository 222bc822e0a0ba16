"""Mandarin: wetext (Apache-2.0) reads numbers, dates, times, money and units; the rules here are for what it does not.

Latin words stay as they are, for whoever reads them.
"""

import logging
import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from . import addresses, markup
from .characters import plain
from .chinese_names import (
    CODED_BEFORE,
    CODED_BEHIND,
    DIGITS,
    GREEK,
    LIBRARY_UNITS,
    MARKS,
    MONEY,
    PHONE_DIGITS,
    RANGED,
    SERIES,
    SIGNS,
    UNITS,
)
from .spans import Rule, Span, changes, joined, scan

log = logging.getLogger(__name__)

HAN = r"[\u3400-\u4dbf\u4e00-\u9fff〇]"
_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
_UNIT_NAMES = "|".join(re.escape(name) for name in sorted(UNITS, key=len, reverse=True))


class ChineseReading:
    """Turns written Chinese into characters and Latin words. Loading takes about a third of a second."""

    def __init__(self) -> None:
        from wetext import Normalizer

        self._normaliser = Normalizer(lang="zh", operator="tn")
        self._rules: tuple[Rule, ...] = (
            *markup.rules(self.say),
            (addresses.ADDRESS, _address),
            *self._own(),
        )

    def say(self, text: str) -> str:
        """As it is read."""
        return joined(self.spans(text))

    def spans(self, text: str) -> tuple[Span, ...]:
        """Runs of `text` with how they are read; their written parts put together are all of it."""
        return tuple(self._spans(text))

    def _spans(self, text: str) -> Iterator[Span]:
        done = 0
        for span in scan(plain(text, full_width=False), self._rules):
            end = done + len(span.written)
            if span.changed:
                yield Span(written=text[done:end], read=span.read, changed=True)
            else:
                yield from self._by_library(span.written, text[done:end])
            done = end

    def _by_library(self, text: str, written: str) -> Iterator[Span]:
        done = 0
        for start, end, said in self._mapped(text):
            if done < start:
                yield Span(written=written[done:start], read=text[done:start], changed=False)
            yield Span(written=written[start:end], read=said, changed=True)
            done = end
        if done < len(text):
            yield Span(written=written[done:], read=text[done:], changed=False)

    def _mapped(self, text: str) -> list[tuple[int, int, str]]:
        """Places of `text` that are read otherwise than they are written, and how."""
        if not re.search(r"\d", text):
            return []
        try:
            return changes(text, str(self._normaliser.normalize(text)))
        except RuntimeError as error:
            log.warning("a text could not be normalised (%s); its digits are read one by one", error)
            return [(match.start(), match.end(), _one_by_one(match)) for match in re.finditer(r"\d+", text)]

    def _number(self, written: str) -> str:
        """A number that counts something."""
        return str(self._normaliser.normalize(written.replace(",", "") + "个")).removesuffix("个")

    def _place(self, written: str) -> str:
        """A number that counts nothing."""
        return self._number(written) if len(written) > 1 else written.translate(DIGITS)

    def _own(self) -> tuple[Rule, ...]:
        def money(match: re.Match[str]) -> str:
            return self._number(match["number"]) + (match["scale"] or "") + MONEY[match["unit"]]

        def quantity(match: re.Match[str]) -> str:
            return self._number(match["number"]) + UNITS[match["unit"]]

        def model(match: re.Match[str]) -> str | None:
            if re.fullmatch(rf"\d+(?:{LIBRARY_UNITS})", match.group()):
                return None
            return re.sub(r"\d+(?:\.\d+)*", code, match.group().replace("-", ""))

        def code(match: re.Match[str]) -> str:
            written = match.group()
            if written.count(".") > 1:
                return written.replace(".", "点").translate(DIGITS)
            return _one_by_one(match) if len(written) > 2 and written.isdigit() else self._place(written)

        def fraction(match: re.Match[str]) -> str | None:
            above, below = match["above"], match["below"]
            return f"{self._place(below)}分之{self._place(above)}" if int(above) < int(below) else None

        def clock(match: re.Match[str]) -> str:
            return str(self._normaliser.normalize(match.group()))

        def one_character(match: re.Match[str]) -> str:
            return self._place(str(int(unicodedata.numeric(match.group()))))

        return (
            (
                re.compile(r"(?<!\d)(?:\(0\d{2,3}\)|0\d{2,3}[- ]?)\d{7,8}(?!\d)|(?<!\d)[48]00-?\d{3}-?\d{4}(?!\d)"),
                _phone,
            ),
            (
                re.compile(
                    rf"(?P<unit>{'|'.join(map(re.escape, MONEY))})\s?"
                    rf"(?P<number>{_NUMBER})(?P<scale>[百千万亿]+)?元?(?!\d)"
                ),
                money,
            ),
            (
                re.compile(r"(?<![\d/])(?P<number>\d{2,3})/(?=\d{2,3}\s?mmHg)"),
                lambda match: self._number(match["number"]) + "，",
            ),
            (
                re.compile(rf"(?<![\w.])(?P<number>{_NUMBER})\s?(?P<unit>{_UNIT_NAMES})(?![A-Za-z\d/²³])", re.ASCII),
                quantity,
            ),
            (re.compile(r"(?<=[约于在到至])(?:[01]?\d|2[0-3]):[0-5]\d(?![\d:-])"), clock),
            (re.compile(r"(?<![\d/.])(?P<above>\d{1,3})/(?P<below>\d{1,4})(?![\d/.日号])"), fraction),
            (re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d.])"), lambda match: self._number(match.group())),
            (re.compile(rf"(?<={HAN})\s?(?:vs|VS)\.?\s?(?={HAN})"), lambda match: "对"),
            (
                re.compile(r"\bNo\.?\s?(?P<number>\d+)", re.I | re.ASCII),
                lambda match: "第" + self._place(match["number"]),
            ),
            *((re.compile(rf"(?<={name})-(?=\d)"), lambda match: "") for name in SERIES.split("|")),
            *((re.compile(rf"(?<={name})\d{{3,4}}(?![\d.,年])"), _one_by_one) for name in CODED_BEHIND.split("|")),
            (re.compile(rf"(?<![\d.,])\d{{3,4}}(?={CODED_BEFORE})"), _one_by_one),
            (re.compile(r"(?<![A-Za-z\d.])[A-Z]{2,5} \d{3,4}(?![A-Za-z\d.])"), model),
            (
                re.compile(
                    r"(?<![A-Za-z\d.])(?:[A-Za-z]+-?\d+(?:\.\d+)*[A-Za-z]*|\d+[A-Za-z]+\d*)(?:-?[A-Za-z\d]+)*(?![A-Za-z\d])"
                ),
                model,
            ),
            (re.compile(r"[①-⑳❶-❿➀-➓㉑-㊿]"), one_character),
            (re.compile(r"(?<![Α-ω])[α-ωµ](?![Α-ω])"), lambda match: GREEK.get(match.group())),
            (re.compile(r"(?:(?<=[\w)）])|(?<=[\w)）] ))[&+=×÷→](?= ?[\w(（])"), lambda match: SIGNS[match.group()]),
            (re.compile(r"^&$"), lambda match: SIGNS["&"]),
            (re.compile(rf"(?<=\d)[-–—](?=\d{{1,4}}(?:{RANGED}))"), lambda match: "到"),
        )


def _one_by_one(match: re.Match[str]) -> str:
    return match.group().translate(DIGITS)


def _phone(match: re.Match[str]) -> str:
    """One is yāo in a phone number."""
    return re.sub(r"\D", "", match.group()).translate(PHONE_DIGITS)


def _address(match: re.Match[str]) -> str:
    def same(word: str) -> str:
        return word

    def digits(written: str) -> str:
        return written.replace(" ", "").translate(DIGITS)

    return addresses.spoken(match, marks=MARKS, word=same, digits=digits)


@cache
def chinese() -> ChineseReading:
    """The reading of this process."""
    return ChineseReading()
