"""Turns what pydantic finds wrong with a value into a sentence of ours."""

import json
from typing import Any

from pydantic_core import ErrorDetails

SHOWN_CHARS = 40


def must_be(wanted: str | None, error: ErrorDetails) -> str:
    """`must be a number from 0.25 to 4, not 9.`; `wanted` is the description of a field that says what it takes."""
    if error["type"] == "missing":
        return "is missing."
    if wanted is None:
        return f"cannot be taken: {error['msg'][0].lower()}{error['msg'][1:]}."
    return f"must be {wanted}, not {_shown(error['input'])}."


def shorten(text: str) -> str:
    """Cut short where it is long, and escaped where it does not print: it may be anything that somebody sent."""
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[: SHOWN_CHARS + 1])
    return shown if len(shown) <= SHOWN_CHARS else f"{shown[: SHOWN_CHARS - 1]}…"


def _shown(value: Any) -> str:
    try:
        return shorten(json.dumps(value, ensure_ascii=False))
    except (TypeError, ValueError):
        return shorten(repr(value))
    except RecursionError:
        return "something nested so deeply"
