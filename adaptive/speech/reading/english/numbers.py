"""Numbers as words of American English: hibari's (Apache-2.0), and how the digits of a code are grouped."""

import re

NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
"""With thousands marked and a decimal point, each if it has one."""
SCALE = {
    "k": "thousand",
    "thousand": "thousand",
    "m": "million",
    "mn": "million",
    "million": "million",
    "b": "billion",
    "bn": "billion",
    "billion": "billion",
    "t": "trillion",
    "tn": "trillion",
    "trillion": "trillion",
    "hundred": "hundred",
}
LONGEST = 15
"""Nobody reads more digits than these as one number: digit by digit."""
PARTS = {2: "half", 4: "quarter"}
"""Of a whole, where they are not called by their ordinal."""


def cardinal(number: int) -> str:
    """Without the "and" of British English."""
    from hibari.g2p.numbers import cardinal as words

    return words(number).replace(",", "").replace(" and ", " ")


def ordinal(number: int) -> str:
    """The place it stands for."""
    from hibari.g2p.numbers import ordinal as words

    return words(number).replace(",", "").replace(" and ", " ")


def year(number: int) -> str:
    """Two digits at a time, as years are."""
    from hibari.g2p.numbers import year as words

    return words(number).replace(",", "").replace(" and ", " ").replace("oh-", "oh ")


def digits(written: str, *, zero: str = "zero") -> str:
    """One by one; what is no digit is left out."""
    return " ".join(zero if digit == "0" else cardinal(int(digit)) for digit in written if digit.isdigit())


def quantity(written: str) -> str:
    """A `NUMBER`, with its sign if it has one."""
    sign = "minus " if written.startswith("-") else ""
    whole, _, fraction = written.lstrip("-").replace(",", "").partition(".")
    if len(whole) > LONGEST:
        return sign + digits(whole + fraction)
    words = digits(whole) if re.match("0[0-9]", whole) else cardinal(int(whole or 0))
    return sign + words + (f" point {digits(fraction)}" if fraction else "")


def code(written: str) -> str:
    """The digits of a model, a room or a flight: 705 is seven oh five, 747 seven forty-seven, 4090 forty ninety."""
    if len(written) > 4 or (written.startswith("0") and len(written) > 1):
        return digits(written)
    number = int(written)
    if len(written) == 3 and number % 100:
        rest = number % 100
        return f"{cardinal(number // 100)} {cardinal(rest) if rest > 9 else 'oh ' + cardinal(rest)}"
    return year(number) if len(written) == 4 else cardinal(number)


def plural(word: str) -> str:
    """Of a number word: nineties, twos, sixes."""
    if word.endswith("y"):
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("x", "s")) else "s")


def part(numerator: int, denominator: int) -> str:
    """A fraction: one half, three quarters, two thirds."""
    name = PARTS.get(denominator) or ordinal(denominator)
    if numerator == 1:
        return f"one {name}"
    return f"{cardinal(numerator)} {'halves' if denominator == 2 else name + 's'}"


def is_one(written: str) -> bool:
    """Whether what is counted stands in the singular."""
    return written.lstrip("-") in {"1", "1.0"}
