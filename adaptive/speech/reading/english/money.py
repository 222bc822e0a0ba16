"""Sums of money in American English."""

import re

from ..spans import Rule
from .numbers import NUMBER, SCALE, cardinal, is_one, quantity

_SIGNS = {
    "$": ("dollar", "dollars", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"),
    "€": ("euro", "euros", "cent", "cents"),
    "¥": ("yen", "yen", "sen", "sen"),
    "₹": ("rupee", "rupees", "paisa", "paise"),
    "₩": ("won", "won", "jeon", "jeon"),
    "₽": ("ruble", "rubles", "kopeck", "kopecks"),
}
_CODES = {
    "US$": ("U.S dollar", "U.S dollars"),
    "CA$": ("Canadian dollar", "Canadian dollars"),
    "C$": ("Canadian dollar", "Canadian dollars"),
    "A$": ("Australian dollar", "Australian dollars"),
    "HK$": ("Hong Kong dollar", "Hong Kong dollars"),
    "NZ$": ("New Zealand dollar", "New Zealand dollars"),
    "USD": ("U.S dollar", "U.S dollars"),
    "EUR": ("euro", "euros"),
    "GBP": ("British pound", "British pounds"),
    "JPY": ("yen", "yen"),
    "CNY": ("yuan", "yuan"),
    "RMB": ("yuan", "yuan"),
    "CHF": ("Swiss franc", "Swiss francs"),
    "INR": ("Indian rupee", "Indian rupees"),
    "KRW": ("won", "won"),
    "CAD": ("Canadian dollar", "Canadian dollars"),
    "AUD": ("Australian dollar", "Australian dollars"),
    "Rs.": ("rupee", "rupees"),
}
_ALL: dict[str, tuple[str, ...]] = {**_SIGNS, **_CODES}
_WHICH = "|".join(re.escape(name) for name in sorted(_ALL, key=len, reverse=True))
_SCALE = r"(?:\s?(?P<scale>hundred|thousand|million|billion|trillion)\b|(?P<short>[kKmMbBtT]|[mbt]n)\b)?"
_MINUS = r"(?P<minus>(?<![\w)])-)?"


def _sum(match: re.Match[str]) -> str:
    unit, number = _ALL[match["unit"]], match["number"]
    groups = match.groupdict()
    sign = "minus " if groups.get("minus") else ""
    scale = SCALE.get((groups.get("scale") or groups.get("short") or "").lower())
    if groups.get("last"):
        return f"{quantity(number)} to {quantity(match['last'])} {f'{scale} ' if scale else ''}{unit[1]}"
    if scale:
        return f"{sign}{quantity(number)} {scale} {unit[1]}"
    whole, _, fraction = number.partition(".")
    if len(fraction) != 2 or len(unit) < 4:
        return f"{sign}{quantity(number)} {unit[0] if is_one(number) else unit[1]}"
    small = f"{cardinal(int(fraction))} {unit[2] if fraction == '01' else unit[3]}"
    if not int(whole.replace(",", "")) and int(fraction):
        return sign + small
    large = f"{quantity(whole)} {unit[0] if is_one(whole) else unit[1]}"
    return sign + (f"{large} and {small}" if int(fraction) else large)


def _cents(match: re.Match[str]) -> str:
    return f"{quantity(match['number'])} {'cent' if is_one(match['number']) else 'cents'}"


RULES: tuple[Rule, ...] = (
    (
        re.compile(
            rf"(?<![\w$]){_MINUS}(?P<unit>{_WHICH})\s?(?P<number>{NUMBER})\s?[-–]\s?\$?(?P<last>{NUMBER}){_SCALE}(?![\w]|\.\d)"
        ),
        _sum,
    ),
    (re.compile(rf"(?<![\w$]){_MINUS}(?P<unit>{_WHICH})\s?(?P<number>{NUMBER}){_SCALE}(?!\w)"), _sum),
    (
        re.compile(rf"(?<![\w.,]){_MINUS}(?P<number>{NUMBER}){_SCALE}\s?(?P<unit>{_WHICH})(?![\w])"),
        _sum,
    ),
    (re.compile(rf"(?<![\w.,])(?P<number>{NUMBER})\s?¢"), _cents),
)
