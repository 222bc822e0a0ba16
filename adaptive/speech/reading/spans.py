"""Written text beside how it is read aloud, piece by piece, so that a spoken word leads back to the written one."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str | None]]
"""What it finds, and how that is read; None where it is not what the rule is for."""


@dataclass(frozen=True, kw_only=True)
class Span:
    """A run of written text."""

    written: str
    read: str
    """The same as `written` where it is read as it stands; empty where nothing of it is said."""
    changed: bool


def scan(text: str, rules: Sequence[Rule], *, written: str | None = None) -> Iterator[Span]:
    """`text` from left to right: what begins first is read first, by the first rule that takes it.

    `written` is what the spans say was written, character by character beside `text`; None is `text` itself. The
    written parts put together are all of it.
    """
    written = text if written is None else written
    pending = dict(enumerate(rules))
    found: dict[int, re.Match[str]] = {}
    done = here = 0
    while True:
        for number, (pattern, _) in list(pending.items()):
            if number not in found or found[number].start() < here:
                match = pattern.search(text, here)
                if match is None:
                    del pending[number]
                    found.pop(number, None)
                else:
                    found[number] = match
        if not found:
            break
        start, number = min((match.start(), number) for number, match in found.items())
        match = found[number]
        said = rules[number][1](match) if match.end() > start else None
        if said is None:
            found.pop(number)
            if (again := rules[number][0].search(text, start + 1)) is not None:
                found[number] = again
            else:
                del pending[number]
            continue
        if done < start:
            yield Span(written=written[done:start], read=text[done:start], changed=False)
        yield Span(written=written[start : match.end()], read=said, changed=True)
        done = here = match.end()
    if done < len(text):
        yield Span(written=written[done:], read=text[done:], changed=False)


def words(spans: Sequence[Span]) -> Iterator[Span]:
    """The same, cut where both sides have white space: each holds one written word, or several that are read together.

    White space around them is gone.
    """
    written, read, changed = "", "", False
    for span in spans:
        parts = [span.written] if span.changed else re.split(r"(\s+)", span.written)
        texts = [span.read] if span.changed else re.split(r"(\s+)", span.read)
        if len(parts) != len(texts):
            parts, texts = [span.written], [span.read]
        for part, text in zip(parts, texts, strict=True):
            if not span.changed and part.isspace():
                if written:
                    yield Span(written=written.strip(), read=_tidy(read), changed=changed)
                written, read, changed = "", "", False
            else:
                written, read, changed = written + part, read + text, changed or span.changed
    if written:
        yield Span(written=written.strip(), read=_tidy(read), changed=changed)


def joined(spans: Sequence[Span]) -> str:
    """How all of it is read, with single spaces."""
    return _tidy("".join(span.read for span in spans))


def _tidy(text: str) -> str:
    """With single spaces, and none before punctuation."""
    return re.sub(r" +(?=[,.;:!?](?:\W|$))", "", " ".join(text.split()))
