"""Phonemes in misaki's alphabet to the ids of a Piper model that was trained on espeak's.

Source of the correspondence: misaki's table from espeak (github.com/hexgrad/misaki, espeak.py), read backwards, and the
lengths that espeak's American English always writes (`uː`, `ɑː`, `ɔː`, stressed `iː`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .phonemes import LETTERS, SpokenWord

START, END, PAD, SPACE = "^", "$", "_", " "

LETTER_BY_LETTER = str.maketrans(
    {
        "A": "eɪ",
        "I": "aɪ",
        "O": "oʊ",
        "W": "aʊ",
        "Y": "ɔɪ",
        "Q": "əʊ",
        "ʤ": "dʒ",
        "ʧ": "tʃ",
        "ᵊ": "ə",
        "T": "ɾ",
        "—": ",",
        "…": ".",
    }
)
VOWELS = "AIOWYQaeiouæɑɒɔəɚɛɜɪʊʌᵊᵻ"
IN_CONTEXT = (
    (re.compile(rf"əɹ(?![ˈˌ]?[{VOWELS}])"), "ɚ"),
    (re.compile(rf"ɜɹ(?![ˈˌ]?[{VOWELS}])"), "ɜː"),
    (re.compile("([uɑɔɜ])(?!ː)"), r"\1ː"),
    (re.compile("(?<=[ˈˌ])i"), "iː"),
    (re.compile(rf"^([^{VOWELS}]*i)(?=[^{VOWELS}ː]*$)"), r"\1ː"),
)


@dataclass(frozen=True, kw_only=True)
class PiperText:
    """A clause as a Piper model takes it."""

    ids: tuple[int, ...]
    """A pad after every phoneme, start and end around them."""
    spans: tuple[tuple[int, int], ...]
    """First and last + 1 of each word's own ids, punctuation not included; empty for a word that says nothing. The
    pad before a word is its own: its first phoneme sounds from there on. Measured by
    tests/adaptive/speech/voices/test_word_starts.py: without it words begin 27 ms late."""


def espeak_spelling(phonemes: str) -> str:
    """A word's phonemes as espeak writes them."""
    for pattern, replacement in IN_CONTEXT:
        phonemes = pattern.sub(replacement, phonemes)
    return phonemes.translate(LETTER_BY_LETTER)


def piper_text(words: Sequence[SpokenWord], id_map: Mapping[str, Sequence[int]]) -> PiperText:
    """Ids of `words`, whose phonemes are in the model's own alphabet. Those that it does not know are left out."""
    pad = list(id_map[PAD])
    ids = [*id_map[START], *pad]
    spans, done = [], len(id_map[START])
    for number, word in enumerate(words):
        if number and word.phonemes:
            ids += [*id_map.get(SPACE, ()), *pad]
        first = last = len(ids)
        for phoneme in word.phonemes:
            if phoneme not in id_map:
                continue
            if LETTERS.match(phoneme) and first == last:
                first = max(done, len(ids) - len(pad))
            ids += [*id_map[phoneme], *pad]
            if LETTERS.match(phoneme):
                last = done = len(ids)
        spans.append((first, last))
    ids += id_map[END]
    return PiperText(ids=tuple(ids), spans=tuple(spans))
