"""How a Piper voice reads: English as joe does, without espeak; other languages by espeak, where that is installed.

espeak is GPL-3, and so is the package that brings it (`piper-tts`): it is an extra, imported only for a voice whose
language needs it.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

from ..reading.markup import words_without_markup
from .phonemes import LETTERS, SpokenWord, english
from .piper_config import TEXT, PiperConfig
from .piper_ids import LETTER_BY_LETTER, espeak_spelling
from .vits import Read


def reader(config: PiperConfig) -> Read:
    """Clauses to words in the model's own alphabet. Raises ValueError, with what to install, where espeak is missing
    for the voice's language."""
    if config.phoneme_type == TEXT:
        return lambda clause: _letters(clause, config)
    language = (config.espeak_voice or config.language).lower()
    if language == "en" or language.startswith("en-"):
        return read_british if language.startswith("en-gb") else read_english
    return _Espeak(config.espeak_voice or config.language).read


def read_english(clause: str) -> Sequence[SpokenWord]:
    """American English, spelt as espeak spells it."""
    return [replace(word, phonemes=espeak_spelling(word.phonemes)) for word in english().read(clause)]


def read_british(clause: str) -> Sequence[SpokenWord]:
    """British English; the reader writes its lengths as espeak does, and its r only where one is heard."""
    words = english(british=True).read(clause)
    return [replace(word, phonemes=word.phonemes.translate(LETTER_BY_LETTER)) for word in words]


def _letters(clause: str, config: PiperConfig) -> Sequence[SpokenWord]:
    """For a model that was trained on letters: those it knows, else their small ones."""

    def known(character: str) -> str:
        return character if character in config.phoneme_ids else character.lower()

    words = [
        SpokenWord(text=word.written, phonemes="".join(map(known, unicodedata.normalize("NFD", word.read))))
        for word in words_without_markup(clause)
    ]
    return _speakable(words)


class _Espeak:
    """espeak's reading of one language."""

    def __init__(self, voice: str) -> None:
        try:
            module: Any = import_module("piper.phonemize_espeak")
        except ImportError:
            raise ValueError(
                f"This voice speaks {voice}, whose phonemes come from espeak. It is GPL-3 and no part of Legato; where"
                " that licence suits you, install it with: pip install legato-speech[espeak]"
            ) from None
        self._phonemizer = module.EspeakPhonemizer()
        self._voice = voice

    def read(self, clause: str) -> Sequence[SpokenWord]:
        """A word of the text for each word that espeak says; where it says more or fewer, word by word."""
        words = [word for word in words_without_markup(clause) if word.read]
        said = self._said(" ".join(word.read for word in words))
        if len(said) != len(words):
            said = [" ".join(self._said(word.read)) for word in words]
        return _speakable([SpokenWord(text=w.written, phonemes=p) for w, p in zip(words, said, strict=True)])

    def _said(self, text: str) -> list[str]:
        sentences = self._phonemizer.phonemize(self._voice, text)
        return " ".join("".join(sentence) for sentence in sentences).split()


def _speakable(words: Sequence[SpokenWord]) -> Sequence[SpokenWord]:
    return words if any(LETTERS.search(word.phonemes) for word in words) else ()
