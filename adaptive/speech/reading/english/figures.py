"""Numbers by themselves: phone numbers, fractions, ranges, ordinals, years, versions, and what is just a number."""

import re
import unicodedata

from ..spans import Rule
from .numbers import NUMBER, SCALE, cardinal, code, digits, ordinal, part, plural, quantity, year

_ORDINAL = re.compile(r"(?<![\w.,])(?P<number>\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?:st|nd|rd|th)(?!\w)")
_YEARS = range(1100, 2100)
"""A number of four digits is one of these where nothing is counted."""
_NO_NOUNS = frozenset(("was", "is", "has", "its", "this", "his", "hers", "as", "us", "yes", "thus"))


def phones() -> tuple[Rule, ...]:
    def phone(match: re.Match[str]) -> str:
        groups = [digits(group) for group in re.findall(r"\d+", match.group())]
        return ("plus " if match.group().startswith("+") else "") + ", ".join(groups)

    return (
        (re.compile(r"(?<![\w.+])\+\d{1,3}(?:[ .-]?\(?\d{1,5}\)?){2,6}(?![\w]|[.-]\d)"), phone),
        (re.compile(r"(?<![\w.-])(?:\(\d{3}\)\s?|\d{3}[-. ])\d{3}[-.]\d{4}(?![\w-]|\.\d)"), phone),
        (re.compile(r"(?<![\w.-])\d{3}-\d{4}(?![\w-]|\.\d)"), phone),
        (re.compile(r"(?<![\w.-])\d{1,6}(?:-\d{1,7}){2,}(?![\w-]|\.\d)"), phone),
        (re.compile(r"(?i:(?<=\bcall )|(?<=\bdial )|(?<=\btext ))\d{3,12}(?![\w-]|[.,:]\d)"), phone),
    )


def signed() -> tuple[Rule, ...]:
    def fraction(match: re.Match[str]) -> str | None:
        above, below = int(match["above"]), int(match["below"])
        if match["above"] == "24" and below == 7:
            return "twenty-four seven"
        if not 0 < above < below or (below > 10 and below not in {12, 16, 20, 32, 64, 100, 1000}):
            return None
        whole = f"{quantity(match['whole'])} and " if match["whole"] else ""
        return whole + (f"a {part(1, below).removeprefix('one ')}" if whole and above == 1 else part(above, below))

    def vulgar(match: re.Match[str]) -> str | None:
        above, _, below = unicodedata.normalize("NFKC", match["sign"]).partition("⁄")
        if not below:
            return None
        said = part(int(above), int(below))
        if not match["whole"]:
            return f" {said} "
        article = f"a {said.removeprefix('one ')}" if above == "1" else said
        return f" {quantity(match['whole'])} and {article} "

    def scaled(match: re.Match[str]) -> str:
        return f"{quantity(match['number'])} {SCALE[match['scale'].lower()]}"

    def version(match: re.Match[str]) -> str:
        return " dot ".join(quantity(number) for number in match.group().split("."))

    def span(match: re.Match[str]) -> str:
        return f"{number_or_year(match['first'])} to {number_or_year(match['last'])}"

    def by(match: re.Match[str]) -> str:
        return f"{code(match['first'])} by {code(match['last'])}"

    return (
        (re.compile(r"(?<![\w.])\d+(?:\.\d+){2,}(?!\w)"), version),
        (re.compile(rf"(?<![\w.,-])(?P<number>{NUMBER})(?=-[a-z]{{3,}})"), lambda match: quantity(match["number"])),
        (_ORDINAL, lambda match: ordinal(int(match["number"].replace(",", "")))),
        (re.compile(rf"(?<![\w.,])(?P<number>{NUMBER})(?P<scale>[kM]|bn|mn)(?!\w)"), scaled),
        (re.compile(r"(?<![\w.,])(?P<number>\d+)x(?!\w)"), lambda match: f"{quantity(match['number'])} times"),
        (
            re.compile(r"(?<![\w.,/-])(?:(?P<whole>\d+) )?(?P<above>\d{1,3})/(?P<below>\d{1,4})(?![\w/]|[.,]\d)"),
            fraction,
        ),
        (re.compile(r"(?<![\w.,])(?P<whole>\d+)?\s?(?P<sign>[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞⅐⅑⅒])"), vulgar),
        (re.compile(r"(?<![\w.,])(?P<first>\d{1,5})\s?[x×]\s?(?P<last>\d{1,5})(?!\w)"), by),
        (re.compile(rf"(?<![\w.,-])(?P<first>{NUMBER})\s?[-–]\s?(?P<last>{NUMBER})(?![\w-]|[.,]\d|\s?%)"), span),
        (re.compile(r"(?<!\w)#(?=\d)"), lambda match: "number "),
        (re.compile(r"(?<![\w&])#(?=[^\W\d_])"), lambda match: "hashtag "),
        (re.compile(r"(?<=\d):(?=\d)"), lambda match: " to "),
    )


def number_or_year(written: str) -> str:
    return (
        year(int(written)) if written.isdigit() and len(written) == 4 and int(written) in _YEARS else quantity(written)
    )


def plain() -> tuple[Rule, ...]:
    def number(match: re.Match[str]) -> str:
        written, sign = match["number"], "minus " if match["minus"] else ""
        if len(re.sub(r"\D", "", written)) > 15:
            return sign + digits(written)
        counted = re.match(r"\s+([a-z]+s|people|men|women|children)\b", match.string[match.end() :])
        if not sign and not (counted and counted[1] not in _NO_NOUNS) and written.isdigit():
            return number_or_year(written)
        return sign + quantity(written)

    def one_character(match: re.Match[str]) -> str | None:
        value = unicodedata.numeric(match.group(), None)
        return f" {cardinal(int(value))} " if value is not None and value == int(value) else None

    return (
        (re.compile(r"(?<![\w.,])(?P<number>\d{1,4})s(?!\w)"), lambda match: plural(number_or_year(match["number"]))),
        (re.compile(rf"(?P<minus>(?<![\w)-])-)?(?P<number>{NUMBER})"), number),
        (re.compile(r"(?<![\w.])\.(?P<fraction>\d+)"), lambda match: f"point {digits(match['fraction'])}"),
        (re.compile(r"[①-⑳➀-➓❶-❿㉑-㊿]"), one_character),
    )
