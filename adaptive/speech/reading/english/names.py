"""Capitals, abbreviations, Roman numerals and model numbers in American English."""

import re
from collections.abc import Callable

from hibari.g2p.normalize import ABBREV, RE_ROMAN_C, RE_ROMAN_O, ROMAN, TITLES

from ..spans import Rule
from .numbers import cardinal, code, ordinal, plural

_SHORT = (
    "a all am an and any are as ask at bad be big but buy by can day did do eat end far few for free fun"
    " get go got had has hat he her him his hot how if in into is its job key let lot low man may me men"
    " my new no nor not now of off old on one or our out own pay put ran red run sad saw say see set she"
    " six so ten the they this to too top try two up use was way we who why win with yes yet you your"
)
_SHORT_WORDS = frozenset(_SHORT.split())
"""Words of up to three letters that stay words in capitals; others are letters."""
_SPOKEN = {
    "e.g.": "for example",
    "i.e.": "that is",
    "etc.": "et cetera",
    "etc": "et cetera",
    "Mr.": "mister",
    "Mrs.": "missus",
    "Dr.": "drive",
    "Mr": "mister",
    "Mrs": "missus",
    "a.k.a.": "also known as",
    "incl.": "including",
    "max.": "maximum",
    "min.": "minimum",
    "avg.": "average",
    "temp.": "temperature",
    "Nr.": "number",
    "w/o": "without",
    "w/": "with",
    "c/o": "care of",
    "Ph.D.": "P.H.D",
    "PhD": "P.H.D",
    "C++": "C plus plus",
    "C#": "C sharp",
}
_TITLES = {name: said for name, said in TITLES.items() if name not in {"St", "Dr"}} | {"Mr": "mister", "Mrs": "missus"}
_BEFORE_A_NAME = {"St": "Saint", "Dr": "doctor"}
_ABBREVIATIONS = {name: said for name, said in ABBREV.items() if name not in _SPOKEN and name != "no."}
_CODED = (
    "flight room route highway interstate boeing airbus bus gate apartment apt suite unit area model"
    " terminal channel type error http line train tram building block extension ext pin code geforce"
    " radeon threadripper"
)
"""What has a number that is read as a code."""


def letters(word: str) -> str:
    """With dots between, which is how hibari's reader is told to spell."""
    return ".".join(word.upper())


def _names(names: dict[str, str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


def _title(match: re.Match[str]) -> str:
    return _TITLES[match["title"]]


def _abbreviation(match: re.Match[str]) -> str:
    said = _SPOKEN.get(match.group()) or _ABBREVIATIONS[match.group()]
    ends = match.group().endswith(".") and match.end() == len(match.string.rstrip())
    return said + ("." if ends else "")


def _value(roman: str) -> int:
    values = [ROMAN[sign] for sign in roman]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))


def _roman_cardinal(match: re.Match[str]) -> str | None:
    return f"{match[1]} {cardinal(_value(match[2]))}" if match[2] else None


def _roman_ordinal(match: re.Match[str]) -> str | None:
    return f"{match[1]} the {ordinal(_value(match[2]))}" if match[2] else None


def _saint_or_street(match: re.Match[str]) -> str | None:
    """Before a name a saint and a doctor, behind one a street and a drive."""
    behind = re.search(r"[A-Z][a-z]+ $", match.string[: match.start()])
    return None if behind and match.group().endswith(".") else _BEFORE_A_NAME[match["title"]]


class Names:
    """Rules that ask whether a word is known."""

    def __init__(self, is_word: Callable[[str], bool]) -> None:
        """`is_word` says so of a word as it is written, capitals included."""
        self._is_word = is_word

    def capitals(self, word: str) -> str:
        """A word in capitals: read where that is known as a word, else spelt."""
        if self._is_word(word):
            return word
        lower = word.lower()
        if len(word) < 4:
            return word if lower in _SHORT_WORDS else letters(word)
        if self._is_word(lower) or (len(word) > 5 and re.search("[AEIOUY]", word)):
            return word
        return letters(word)

    def word(self, word: str) -> str:
        """A run of letters in an address or a model number."""
        if word.isupper():
            return self.capitals(word) if len(word) > 2 else letters(word)
        if len(word) < 3 and word.lower() not in {
            "my",
            "to",
            "of",
            "in",
            "is",
            "at",
            "on",
            "we",
            "go",
            "me",
            "us",
            "it",
        }:
            return letters(word)
        known = self._is_word(word) or self._is_word(word.lower())
        return word if known or re.search("[aeiouy]", word.lower()) else letters(word)

    def rules(self) -> tuple[Rule, ...]:
        """In the order in which they are asked."""
        return (
            (re.compile(rf"\b(?P<title>{_names(_TITLES)})\b\.?(?= [A-Z])"), _title),
            (re.compile(r"\b(?P<title>St|Dr)\.?(?= [A-Z](?:[a-z]|\.))"), _saint_or_street),
            (re.compile(rf"(?<![\w.])(?:{_names({**_SPOKEN, **_ABBREVIATIONS})})(?![\w+#])"), _abbreviation),
            (re.compile(r"\bNos?\.?\s?(?=\d)"), lambda match: "numbers " if "s" in match.group() else "number "),
            (RE_ROMAN_C, _roman_cardinal),
            (RE_ROMAN_O, _roman_ordinal),
            (
                re.compile(
                    rf"(?i:\b(?P<name>{_CODED.replace(' ', '|')})) (?P<code>\d{{3,4}})(?P<letter>[A-Z]?)"
                    r"(?![\w,.:-]\d|\w)"
                ),
                lambda match: f"{match['name']} {code(match['code'])} {match['letter']}".rstrip(),
            ),
            (re.compile(r"\b(?P<name>[A-Z]{2,5}) (?P<code>\d{4})(?![\w,.:-]\w|\w)"), self._series),
            (
                re.compile(
                    r"(?<![\w.])(?=[\w.-]*\d)(?=[\w.-]*[A-Za-z])[A-Za-z\d]+(?:[.-][A-Za-z\d]+)*(?![\w@]|\.\d)", re.ASCII
                ),
                self._model,
            ),
            (re.compile(r"(?<![\w.])(?:[A-Za-z]\.){2,}(?!\w)"), self._dotted),
            (
                re.compile(r"(?<![\w.'])[A-Z](?: [A-Z])+(?![\w.'])"),
                lambda match: letters(match.group().replace(" ", "")),
            ),
            (re.compile(r"(?<![\w.])[A-Z](?:&[A-Z])+(?!\w)"), lambda match: match.group().replace("&", " and ")),
            (re.compile(r"(?<![\w.])[A-Z]{1,3}&[A-Z](?!\w)"), self._and),
            (re.compile(r"(?<![\w.])(?P<word>[A-Z]{2,})(?P<plural>s)?(?![\w])"), self._capitals),
        )

    def _series(self, match: re.Match[str]) -> str | None:
        said = self.capitals(match["name"])
        return None if said == match["name"] or match["name"] in {"AD", "BC", "CE"} else f"{said} {code(match['code'])}"

    def _model(self, match: re.Match[str]) -> str | None:
        """Letters and digits by turns; a hyphen among them is silent, a dot is not between two numbers or words."""
        parts = re.findall(r"[A-Za-z]+|\d+|[.-]", match.group())
        if re.fullmatch(r"\d+(?:st|nd|rd|th)", match.group()) or re.fullmatch(r"[A-Za-z]+-[A-Za-z]+", match.group()):
            return None
        said: list[str] = []
        for number, part in enumerate(parts):
            before = parts[number - 1] if number else ""
            behind = parts[number + 1] if number + 1 < len(parts) else ""
            if part in ".-":
                numbers = before.isdigit() and behind.isdigit()
                words = before.isalpha() and behind.isalpha() and min(len(before), len(behind)) > 1
                if part == "." and (numbers or words):
                    said.append("dot")
            elif part.isdigit():
                said.append(code(part))
            elif part == "s" and before.isdigit() and not behind:
                said[-1] = plural(said[-1])
            else:
                said.append(self.word(part))
        return " ".join(said)

    def _dotted(self, match: re.Match[str]) -> str:
        ends = match.end() == len(match.string.rstrip())
        return letters(match.group().replace(".", "")) + ("." if ends else "")

    def _and(self, match: re.Match[str]) -> str:
        first, _, second = match.group().partition("&")
        return f"{letters(first)} and {second}"

    def _capitals(self, match: re.Match[str]) -> str | None:
        whole = not re.search("[a-z]", match.string) and len(match.string.split()) > 1
        word = match["word"]
        if whole and self._is_word(word.lower()):
            return None
        said = self.capitals(word)
        if said == word:
            return None
        return said + ("'s" if match["plural"] else "")
