"""Quantities with a unit in American English: the names are hibari's (Apache-2.0) where it has them."""

import re

from hibari.g2p.normalize import UNITS as COMMON

from ..spans import Rule
from .numbers import NUMBER, is_one, quantity

_PREFIXES = {"k": "kilo", "M": "mega", "G": "giga", "T": "tera", "m": "milli", "µ": "micro", "n": "nano", "c": "centi"}
_BASES = {
    "m": ("nµmck", "meter"),
    "g": ("nµmk", "gram"),
    "l": ("µmc", "liter"),
    "L": ("µmc", "liter"),
    "s": ("nµm", "second"),
    "W": ("mkMGT", "watt"),
    "Wh": ("kMGT", "watt hour"),
    "V": ("µmkM", "volt"),
    "Ah": ("m", "amp hour"),
    "B": ("kMGT", "byte"),
    "b": ("kMG", "bit"),
    "Pa": ("kM", "pascal"),
    "J": ("kM", "joule"),
    "cal": ("k", "calorie"),
    "Ω": ("kM", "ohm"),
    "N": ("k", "newton"),
}
_UNITS: dict[str, tuple[str, str]] = {
    prefix + sign: (_PREFIXES[prefix] + name, _PREFIXES[prefix] + name + "s")
    for sign, (prefixes, name) in _BASES.items()
    for prefix in prefixes
}
_UNITS |= {name: (words[0], words[1]) for name, words in COMMON.items()}
_UNITS |= {
    "m": ("meter", "meters"),
    "g": ("gram", "grams"),
    "l": ("liter", "liters"),
    "L": ("liter", "liters"),
    "W": ("watt", "watts"),
    "V": ("volt", "volts"),
    "J": ("joule", "joules"),
    "Ω": ("ohm", "ohms"),
    "s": ("second", "seconds"),
    "h": ("hour", "hours"),
    "ha": ("hectare", "hectares"),
    "lbs": ("pound", "pounds"),
    "hrs": ("hour", "hours"),
    "mins": ("minute", "minutes"),
    "secs": ("second", "seconds"),
    "yrs": ("year", "years"),
    "yr": ("year", "years"),
    "mmHg": ("millimeter of mercury", "millimeters of mercury"),
    "mAh": ("milliamp hour", "milliamp hours"),
    "mA": ("milliamp", "milliamps"),
    "KiB": ("kibibyte", "kibibytes"),
    "MiB": ("mebibyte", "mebibytes"),
    "GiB": ("gibibyte", "gibibytes"),
    "dB": ("decibel", "decibels"),
    "hPa": ("hectopascal", "hectopascals"),
    "mol": ("mole", "moles"),
    "kbps": ("kilobit per second", "kilobits per second"),
    "Mbps": ("megabit per second", "megabits per second"),
    "Gbps": ("gigabit per second", "gigabits per second"),
    "rpm": ("revolution per minute", "revolutions per minute"),
    "bpm": ("beat per minute", "beats per minute"),
    "ppm": ("part per million", "parts per million"),
    "psi": ("pound per square inch", "pounds per square inch"),
    "mph": ("mile per hour", "miles per hour"),
    "kph": ("kilometer per hour", "kilometers per hour"),
    "km/h": ("kilometer per hour", "kilometers per hour"),
    "kmh": ("kilometer per hour", "kilometers per hour"),
    "fps": ("frame per second", "frames per second"),
    "kcal": ("kilocalorie", "kilocalories"),
    "gal": ("gallon", "gallons"),
    "°C": ("degree Celsius", "degrees Celsius"),
    "°F": ("degree Fahrenheit", "degrees Fahrenheit"),
    "℃": ("degree Celsius", "degrees Celsius"),
    "℉": ("degree Fahrenheit", "degrees Fahrenheit"),
    "°": ("degree", "degrees"),
    "%": ("percent", "percent"),
    "‰": ("per mille", "per mille"),
}
_NAMES = "|".join(re.escape(name) for name in sorted(_UNITS, key=len, reverse=True))
_POWERS = {"²": "square", "³": "cubic", "^2": "square", "^3": "cubic", "2": "square", "3": "cubic"}
_AFTER = {"²": "squared", "³": "cubed", "^2": "squared", "^3": "cubed", "2": "squared", "3": "cubed"}
_POWER = r"(?:²|³|\^[23])"
_PER = rf"(?:/(?P<per>{_NAMES})(?P<under>{_POWER})?)?"
_SIGN = r"(?:(?<![\w.,)])-)?"
_TIME_SIGNS = {"s", "h", "min", "ms"}


def _unit(match: re.Match[str], number: str) -> str:
    one, many = _UNITS[match["unit"]]
    words = one if is_one(number) else many
    if match["power"]:
        words = f"{_POWERS[match['power']]} {words}"
    if match["per"]:
        below, under = _UNITS[match["per"]][0], match["under"]
        if not under:
            words += f" per {below}"
        elif match["per"] in _TIME_SIGNS:
            words += f" per {below} {_AFTER[under]}"
        else:
            words += f" per {_POWERS[under]} {below}"
    return words


def _quantity(match: re.Match[str]) -> str:
    return f"{quantity(match['number'])} {_unit(match, match['number'])}"


def _range(match: re.Match[str]) -> str:
    return f"{quantity(match['number'])} to {quantity(match['last'])} {_unit(match, match['last'])}"


def _feet(match: re.Match[str]) -> str:
    feet, inches = match["feet"], match["inches"]
    words = f"{quantity(feet)} {'foot' if is_one(feet) else 'feet'}"
    return words + (f" {quantity(inches)} {'inch' if is_one(inches) else 'inches'}" if inches else "")


_BEHIND = rf"(?P<unit>{_NAMES})(?P<power>{_POWER})?{_PER}(?![\w²³]|/\w)"
RULES: tuple[Rule, ...] = (
    (re.compile(r"(?<![\w.,])(?P<feet>\d{1,3})['′]\s?(?P<inches>\d{1,2}(?:\.\d)?)(?:\"|″|'')"), _feet),
    (re.compile(r"(?<![\w.,])(?P<feet>\d{1,3})\s?(?:ft|')\.?\s(?P<inches>\d{1,2}(?:\.\d)?)\s?in\b"), _feet),
    (re.compile(r"(?<![\w.,'])(?P<feet>\d{1,2})(?P<inches>)'(?=\s(?!.*'))"), _feet),
    (re.compile(rf"(?<![\w.,-])(?P<number>{NUMBER})\s?[-–]\s?(?P<last>{NUMBER})\s?{_BEHIND}"), _range),
    (re.compile(rf"(?<![\w.,])(?P<number>{_SIGN}{NUMBER})[\s-]?{_BEHIND}"), _quantity),
)
