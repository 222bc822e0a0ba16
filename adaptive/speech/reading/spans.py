"""Written text beside how it is read aloud, piece by piece, so that a spoken word leads back to the written one."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

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


def changes(written: str, read: str) -> list[tuple[int, int, str]]:
    """Where `read` differs from `written`, from which it was made: start and end there, and what stands in its place.

    White space at the ends of `written` may be gone.
    """
    lead = len(written) - len(written.lstrip())
    core = written.strip()
    matcher = SequenceMatcher(a=core, b=read, autojunk=False)
    found: list[list[int]] = []
    for tag, start, end, begin, stop in matcher.get_opcodes():
        if tag == "equal":
            continue
        if start == end:  # where something was put in, a neighbour goes with it
            before = 1 if start else 0
            start, begin = start - before, begin - before
            if not before and end < len(core):
                end, stop = end + 1, stop + 1
        if found and start <= found[-1][1]:
            found[-1][1], found[-1][3] = max(end, found[-1][1]), max(stop, found[-1][3])
        else:
            found.append([start, end, begin, stop])
    return [(lead + start, lead + end, read[begin:stop]) for start, end, begin, stop in found]


def by_words(spans: Sequence[Span], read: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Runs of what was written, and how many of the words `read` in a row stand for each; the last one may have none.

    `read` put together is what the spans read, without white space. Runs put together are all that was written.
    """
    places = [
        (index, number)
        for index, span in enumerate(spans)
        for number, character in enumerate(span.read)
        if not character.isspace()
    ]
    done = (0, 0)
    position = count = 0
    for word in read:
        position += len(word)
        count += 1
        index = places[position - 1][0]
        following = places[position] if position < len(places) else (len(spans), 0)
        if spans[index].changed and following[0] == index:
            continue
        if following[0] > index:
            end = following if following[0] < len(spans) and not spans[following[0]].changed else (following[0], 0)
        else:
            end = following
        yield _between(spans, done, end), count
        done, count = end, 0
    if rest := _between(spans, done, (len(spans), 0)):
        yield rest, 0


def _between(spans: Sequence[Span], start: tuple[int, int], end: tuple[int, int]) -> str:
    """What was written from one place to another."""
    if start[0] == end[0]:
        return spans[start[0]].written[start[1] : end[1]] if start[0] < len(spans) else ""
    parts = [spans[start[0]].written[start[1] :]]
    parts += [span.written for span in spans[start[0] + 1 : end[0]]]
    if end[0] < len(spans) and end[1]:
        parts.append(spans[end[0]].written[: end[1]])
    return "".join(parts)


def joined(spans: Sequence[Span]) -> str:
    """How all of it is read, with single spaces."""
    return _tidy("".join(span.read for span in spans))


def _tidy(text: str) -> str:
    """With single spaces, and none before punctuation."""
    return re.sub(r" +(?=[,.;:!?](?:\W|$))", "", " ".join(text.split()))
