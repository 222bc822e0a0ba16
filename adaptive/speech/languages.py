"""Which language a text is in, as far as its letters tell, and which voice speaks most of it."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby

from .reading.markup import without_markup
from .scripts import scripts
from .voice import VoiceInfo

_HAN_PER_WORD = 1.5
"""Chinese characters in a word, on average: what weighs them against words of letters."""
_WORD = re.compile(r"[^\W\d_]+")


def languages_in(text: str, known: Sequence[str]) -> tuple[str, ...]:
    """Those of `known` (BCP 47) that `text` is written in, the one that most of it is in first.

    Of languages that share a script the first in `known` is meant, but kana is Japanese. Letters of other scripts do
    not count.
    """
    weights: dict[str, float] = {}
    for language, run in runs(text, known):
        weights[language] = weights.get(language, 0.0) + sum(
            len(word) / _HAN_PER_WORD if _script(word[0]) == "CJK" else 1 for word in _WORD.findall(run)
        )
    return tuple(sorted(weights, key=lambda language: -weights[language]))


def language_of(text: str, known: Sequence[str]) -> str | None:
    """The one of `known` that most of `text` is in; None where it is in none of them."""
    return next(iter(languages_in(text, known)), None)


def runs(text: str, known: Sequence[str]) -> Iterator[tuple[str, str]]:
    """`text` cut where its language changes; put together the runs are all of it. What is in no language goes with what
    stands before it, at the beginning with what follows; nothing comes of a text without any."""
    kana = any(_script(character) in {"HIRAGANA", "KATAKANA"} for character in text)
    found: list[list[str]] = []
    lead = ""
    for language, group in groupby(text, lambda character: _language(character, tuple(known), kana)):
        run = "".join(group)
        if language is None:
            if found:
                found[-1][1] += run
            else:
                lead += run
        elif found and found[-1][0] == language:
            found[-1][1] += run
        else:
            found.append([language, lead + run])
            lead = ""
    return ((language, run) for language, run in found)


def speaks(voice: VoiceInfo, languages: Sequence[str]) -> bool:
    """Whether the voice can read all of `languages`; False for a voice of which none is known."""
    own = scripts(voice.languages)
    return bool(own) and scripts(languages) <= own


def voice_for(text: str, voices: Sequence[VoiceInfo], preferred: str) -> str:
    """The name of a voice that speaks the language that most of `text` is in: the preferred one if it does, or if none
    does; else the first. Its clauses in other languages find their own voices (`routing.Router`)."""
    ordered = sorted(voices, key=lambda info: info.name != preferred)
    known = list(dict.fromkeys(language for info in ordered for language in info.languages))
    language = language_of(without_markup(text), known)
    fitting = [info.name for info in ordered if language is not None and speaks(info, [language])]
    return fitting[0] if fitting else preferred


@lru_cache(maxsize=4096)
def _script(character: str) -> str:
    """As its name in Unicode has it; empty for what is no letter."""
    if not character.isalpha():
        return ""
    return unicodedata.name(unicodedata.normalize("NFKC", character)[0], "").split(" ")[0]


@lru_cache(maxsize=4096)
def _language(character: str, known: tuple[str, ...], kana: bool) -> str | None:
    script = _script(character)
    fitting = [language for language in known if script and script in scripts([language])]
    if kana and script == "CJK":
        fitting.sort(key=lambda language: not language.startswith("ja"))
    return fitting[0] if fitting else None
