"""What is to be spoken, clause by clause, with what the text itself says about how: plain text, or SSML."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .reading.ssml import LONGEST_BREAK_S, Border, Break, Notice, Part, Plain, Rate, SsmlReader, is_ssml
from .text import ClauseSplitter, speakable


@dataclass(frozen=True, kw_only=True)
class SpokenClause:
    """A clause and how it is spoken."""

    text: str
    """White space at its ends included."""
    rate: float = 1.0
    """Times the speed of the utterance."""
    pause_s: float | None = None
    """Of silence after it; None leaves that to its punctuation."""


class SpokenReader:
    """One utterance. Text that begins with `<speak` is SSML. Where its pieces were cut changes nothing."""

    def __init__(self) -> None:
        self._splitter = ClauseSplitter()
        self._beginning: str | None = ""
        self._ssml: SsmlReader | None = None
        self._rate = 1.0
        self._held: SpokenClause | None = None
        """The last clause of SSML: a break may follow."""

    def feed(self, text: str, final: bool) -> list[SpokenClause | Notice]:
        """The clauses that hold something to say and that `text` completes, in order; with `final` all the rest. Raises
        ValueError for text after the final piece."""
        if self._beginning is not None:
            self._beginning = text = self._beginning + text
            ssml = is_ssml(text)
            if ssml is None and not final:
                return []
            self._beginning = None
            self._ssml = SsmlReader() if ssml else None
        if self._ssml is None:
            return list(self._clauses(self._splitter.feed(text, final)))
        out = [each for part in self._ssml.feed(text, final) for each in self._take(part)]
        if final:
            out += self._hold(self._splitter.feed("", True))
            out += [self._held] if self._held is not None else []
            self._held = None
        return out

    def _take(self, part: Part) -> Iterator[SpokenClause | Notice]:
        match part:
            case str():
                yield from self._hold(self._splitter.feed(part, False))
            case Plain():
                yield from self._hold(self._splitter.feed(part.text, False))
            case Notice():
                yield part
            case Border():
                yield from self._hold(self._splitter.cut())
            case Rate():
                if part.times != self._rate:
                    yield from self._hold(self._splitter.cut())
                    self._rate = part.times
            case Break():
                yield from self._hold(self._splitter.cut())
                if self._held is not None:
                    pause = min((self._held.pause_s or 0.0) + part.seconds, LONGEST_BREAK_S)
                    self._held = replace(self._held, pause_s=pause)

    def _hold(self, texts: list[str]) -> Iterator[SpokenClause]:
        """All but the last, which is held back."""
        for clause in self._clauses(texts):
            if self._held is not None:
                yield self._held
            self._held = clause

    def _clauses(self, texts: list[str]) -> Iterator[SpokenClause]:
        return (SpokenClause(text=text, rate=self._rate) for text in texts if speakable(text))
