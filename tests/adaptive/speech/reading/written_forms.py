"""The lists of awkward written forms, and when a reading is the expected one."""

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Form(NamedTuple):
    """One of them."""

    kind: str
    written: str
    read: tuple[str, ...]
    """Readings that are all right."""


def forms(name: str) -> list[Form]:
    with (Path(__file__).parent / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [Form(row["kind"], row["written"], tuple(row["read"].split("/"))) for row in rows]


def failures(name: str, say: Callable[[str], str], key: Callable[[str], str]) -> list[tuple[str, str]]:
    """Forms that are read otherwise, with how they are."""
    said = [(form, say(form.written)) for form in forms(name)]
    return [(form.written, text) for form, text in said if key(text) not in map(key, form.read)]


def spaced(text: str) -> str:
    """English: small letters, single spaces, no punctuation; spelt letters stand apart."""
    return " ".join(re.sub(r"[^\w']|_", " ", text).lower().split())


def unspaced(text: str) -> str:
    """Chinese: small letters, no punctuation, no spaces."""
    return re.sub(r"[\W_]", "", text).lower()
