"""Signs that are read as words, and those that are not read."""

import re
import unicodedata

from ..spans import Rule
from .numbers import quantity

_SYMBOLS = {
    "&": "and",
    "=": "equals",
    "±": "plus or minus",
    "×": "times",
    "÷": "divided by",
    "≈": "approximately",
    "≠": "is not equal to",
    "≤": "less than or equal to",
    "≥": "greater than or equal to",
    "→": "to",
    "©": "copyright",
    "§": "section",
    "%": "percent",
    "°": "degrees",
    "²": "squared",
    "³": "cubed",
    "@": "at",
    "∞": "infinity",
    "№": "number",
}
_SILENT = "™®•·*_|\\^~`"
_RATES = "second minute hour day night week month year quarter person head user item piece yr mo hr wk"
_SHORT_RATES = {"yr": "year", "mo": "month", "hr": "hour", "wk": "week"}


def _greek(match: re.Match[str]) -> str | None:
    name = unicodedata.name(match.group(), "").split()
    return name[-1].lower() if name[:1] == ["GREEK"] and "LETTER" in name else None


def _rate(match: re.Match[str]) -> str:
    return f" per {_SHORT_RATES.get(match['rate'], match['rate'])}"


RULES: tuple[Rule, ...] = (
    (re.compile(rf"(?<=\w)\s?/\s?(?P<rate>{_RATES.replace(' ', '|')})\b"), _rate),
    (re.compile(r"(?<=\d)\s?/\s?(?=\d)"), lambda match: " slash "),
    (re.compile(r"(?<=\w)/(?=\w)"), lambda match: " "),
    (re.compile(r"(?:(?<=\w)|(?<=\w ))<(?= ?[\w-])"), lambda match: " less than "),
    (re.compile(r"(?:(?<=\w)|(?<=\w ))>(?= ?[\w-])"), lambda match: " greater than "),
    (re.compile(r"\^(?P<power>\d{1,3})"), lambda match: f" to the power of {quantity(match['power'])} "),
    (re.compile(r"(?<=[\w)]) ?\+ ?(?=[\w(])|(?<!\w)\+(?=\d)|(?<=\d)\+"), lambda match: " plus "),
    (re.compile(r"~(?=\d)"), lambda match: "about "),
    (re.compile(f"[{re.escape(''.join(_SYMBOLS))}]"), lambda match: f" {_SYMBOLS[match.group()]} "),
    (re.compile(f"[{re.escape(_SILENT)}]+"), lambda match: " "),
    (re.compile(r"(?<![^\W_])[Α-Ωα-ω](?![^\W_])"), _greek),
)
