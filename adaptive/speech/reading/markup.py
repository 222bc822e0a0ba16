"""Markup in plain text: the tags and entities of HTML, and the links of Markdown. None of it is read aloud."""

import html
import re
from collections.abc import Callable

from .spans import Rule, Span, joined, scan, words

_INLINE = (
    "a abbr b bdi bdo big cite code del dfn em font i ins kbd label mark q s samp small span strike"
    " strong sub sup tt u var"
)
_BLOCK = (
    "address article aside audio blockquote body br button center dd details div dl dt emphasis"
    " figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html iframe img input li link main"
    " meta nav ol option p pre prosody script section select source speak break say-as style summary table"
    " tbody td textarea tfoot th thead time title tr ul video voice"
)
_ATTRIBUTES = r"(?:\s+[\w:-]+(?:\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>]+))?)*"


def _tag(names: str) -> re.Pattern[str]:
    return re.compile(rf"</?(?:{'|'.join(sorted(names.split(), key=len, reverse=True))}){_ATTRIBUTES}\s*/?>", re.I)


_COMMENT = re.compile(r"<!--(?:(?!<!--).)*?-->", re.S)
"""None goes beyond where another one begins, so that many that do not end take no time."""
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


def rules(read: Callable[[str], str]) -> tuple[Rule, ...]:
    """`read` reads what an entity stands for, and the text of a link."""

    def entity(match: re.Match[str]) -> str | None:
        plain = html.unescape(match.group())
        return read(plain) if plain != match.group() else None

    return (
        (_COMMENT, lambda match: " "),
        (_tag(_BLOCK), lambda match: " "),
        (_tag(_INLINE), lambda match: ""),
        (_ENTITY, entity),
        (re.compile(r"!?\[([^\[\]]+)\]\([^()\s]*\)"), lambda match: read(match.group(1))),
    )


_PLAIN = rules(lambda text: text)


def without_markup(text: str) -> str:
    """What is left of it for a reader."""
    return joined(tuple(scan(text, _PLAIN)))


def words_without_markup(text: str) -> tuple[Span, ...]:
    """Each written word with what is left of it for a reader."""
    return tuple(words(tuple(scan(text, _PLAIN))))
