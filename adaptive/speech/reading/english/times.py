"""Dates and times of day in American English."""

import re

from hibari.g2p.normalize import MONTHS

from ..spans import Rule
from .numbers import cardinal, ordinal, plural, year

_MONTHS = (
    r"(?:Jan(?:uary|\.)?|Feb(?:ruary|\.)?|Mar(?:ch|\.)?|Apr(?:il|\.)?|May|June?\.?|July?\.?|Aug(?:ust|\.)?"
    r"|Sept?(?:ember|\.)?|Oct(?:ober|\.)?|Nov(?:ember|\.)?|Dec(?:ember|\.)?)"
)
_MONTH = f"(?P<month>{_MONTHS})"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>[12]\d{3})"
_WEEKDAYS = {"Mon": "Monday", "Tue": "Tuesday", "Tues": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday"}
_WEEKDAYS |= {"Thur": "Thursday", "Thurs": "Thursday", "Fri": "Friday", "Sat": "Saturday", "Sun": "Sunday"}
_HOUR = r"(?<![\w.:])(?P<hour>\d{1,2})"
_MINUTE = r"(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?![\d:])"
_CLOCK = f"{_HOUR}:{_MINUTE}"
_HALF = r"\s?(?P<half>[AaPp])\.?[Mm]\b\.?"


def _month(match: re.Match[str]) -> str:
    return str(MONTHS[match["month"][:3].lower()])


def _date(match: re.Match[str]) -> str | None:
    day, number = int(match["day"]), match.groupdict().get("number")
    if not 1 <= day <= 31 or (number is not None and not 1 <= int(number) <= 12):
        return None
    month = _month(match) if number is None else str(list(MONTHS.values())[int(number) - 1])
    written = match.groupdict().get("year")
    return f"{month} {ordinal(day)}" + (f", {year(int(written))}" if written else "")


def _slashes(match: re.Match[str]) -> str | None:
    month, day, written = int(match["number"]), int(match["day"]), match["year"]
    if month > 12:
        month, day = day, month
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    if len(written) == 2:
        written = ("19" if int(written) > 50 else "20") + written
    return f"{list(MONTHS.values())[month - 1]} {ordinal(day)}, {year(int(written))}"


def _day_month(match: re.Match[str]) -> str | None:
    if not 1 <= int(match["day"]) <= 31:
        return None
    article = "" if match["article"] else "the "
    last = f", {year(int(match['year']))}" if match["year"] else ""
    return f"{match['article'] or ''}{article}{ordinal(int(match['day']))} of {_month(match)}{last}"


def _time(match: re.Match[str]) -> str | None:
    hour, minute = int(match["hour"]), int(match["minute"])
    groups = match.groupdict()
    if hour > 24:
        return None
    words = cardinal(hour) if hour or groups.get("half") else "zero"
    if minute:
        words += " " + (cardinal(minute) if minute > 9 else f"oh {cardinal(minute)}")
    elif not groups.get("half") and not match["second"]:
        words += " o'clock" if 1 <= hour <= 12 else " hundred"
    if match["second"]:
        second = int(match["second"])
        words += f" and {cardinal(second)} second{'' if second == 1 else 's'}"
    return words + _half(match)


def _half(match: re.Match[str]) -> str:
    half = match.groupdict().get("half")
    return f" {half.upper()}.M." if half else ""


def _hours(match: re.Match[str]) -> str | None:
    return cardinal(int(match["hour"])) + _half(match) if 1 <= int(match["hour"]) <= 12 else None


def _decade(match: re.Match[str]) -> str:
    century, decade = match["century"], int(match["decade"])
    name = plural(cardinal(decade)) if decade else ""
    if not century:
        return name or "two thousands"
    if not decade:
        return f"{cardinal(int(century))} hundreds" if century != "20" else "two thousands"
    return f"{cardinal(int(century))} {name}"


def _bare(match: re.Match[str]) -> str | None:
    """The first of two times of which the second says which half of the day."""
    said = _time(match)
    return said.removesuffix(" o'clock") if said else None


RULES: tuple[Rule, ...] = (
    (re.compile(rf"(?<![\w-]){_YEAR}-(?P<number>[01]\d)-(?P<day>[0-3]\d)(?![\w-])"), _date),
    (re.compile(r"(?<![\w/.])(?P<number>\d{1,2})/(?P<day>\d{1,2})/(?P<year>[12]\d{3}|\d{2})(?![\w/])"), _slashes),
    (
        re.compile(rf"\b(?P<name>{'|'.join(_WEEKDAYS)})\b\.?(?=,? (?:{_MONTHS}(?=\W)|\d))"),
        lambda match: _WEEKDAYS[match["name"]],
    ),
    (re.compile(rf"\b{_MONTH} {_DAY}(?:,? {_YEAR})?(?![\w:%/]|[.,-]\d)"), _date),
    (re.compile(rf"(?<![\w.,:/-])(?P<article>[Tt]he )?{_DAY}(?: of)? {_MONTH}\b(?:,? {_YEAR}\b)?"), _day_month),
    (
        re.compile(rf"\b(?!May )(?:{_MONTH}),? {_YEAR}\b"),
        lambda match: f"{_month(match)} {year(int(match['year']))}",
    ),
    (re.compile(r"\b(?P<month>Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.(?=\s|$)"), _month),
    (re.compile(f"{_HOUR}[:.]{_MINUTE}{_HALF}"), _time),
    (re.compile(rf"{_CLOCK}(?=\s?[-–]\s?\d{{1,2}}(?::\d\d)?{_HALF.replace('?P<half>', '')})"), _bare),
    (re.compile(_CLOCK), _time),
    (re.compile(rf"(?<![\w.:,])(?P<hour>\d{{1,2}}){_HALF}(?!\w)"), _hours),
    (re.compile(r"(?<=\d)\s?[-–]\s?(?=\d{1,2}:\d\d|\d{1,2}\s?[AaPp]\.?[Mm]\b)"), lambda match: " to "),
    (re.compile(r"(?<=[AaPp][Mm])\s?[-–]\s?(?=\d{1,2})"), lambda match: " to "),
    (re.compile(r"(?<![\w.,'])(?:(?P<century>[12]\d)|')(?P<decade>\d0)'?s\b"), _decade),
)
