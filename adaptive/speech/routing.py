"""Which voice speaks which clause: the one that was chosen wherever it speaks the language, else another one.

A clause that no voice can speak whole is cut where its language changes, so that nothing of it is left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from .languages import languages_in, runs, speaks
from .reading.markup import without_markup
from .spoken import SpokenClause
from .text import speakable
from .voice import Voice

Part = tuple[Voice, SpokenClause]


class Router:
    """Gives the clauses of one utterance to voices. What it says depends on the clauses so far and nothing else."""

    def __init__(self, chosen: Voice, others: Sequence[Voice] = ()) -> None:
        """Of the others, the first that fits is taken. A voice of which no language is known gets what it is chosen
        for, and nothing else."""
        self._voices = (chosen, *others) if others and speaks(chosen.info, ()) else (chosen,)
        self._known = tuple(dict.fromkeys(language for voice in self._voices for language in voice.info.languages))
        self._last = chosen

    def parts(self, clause: SpokenClause) -> list[Part]:
        """The clause, or the parts that it has to be cut into, each with its voice. A clause without a letter of any
        known language is said by the voice that spoke before."""
        if len(self._voices) == 1:
            return [(self._last, clause)]
        wanted = languages_in(without_markup(clause.text), self._known)
        if not wanted:
            return [(self._last, clause)]
        whole = self._speaker(wanted)
        parts = [(whole, clause)] if whole is not None else list(self._cut(clause))
        self._last = parts[-1][0]
        return parts

    def _speaker(self, languages: Sequence[str]) -> Voice | None:
        return next((voice for voice in self._voices if speaks(voice.info, languages)), None)

    def _cut(self, clause: SpokenClause) -> Iterator[Part]:
        """A pause that the text asks for is behind the last part."""
        held: Part | None = None
        for language, text in runs(without_markup(clause.text), self._known):
            voice = self._speaker([language]) or self._voices[0]
            if held is not None and (held[0] is voice or not speakable(text)):
                held = held[0], replace(held[1], text=held[1].text + text)
                continue
            if held is not None:
                yield held
            held = voice, replace(clause, text=text, pause_s=None)
        if held is not None:
            yield held[0], replace(held[1], pause_s=clause.pause_s)
