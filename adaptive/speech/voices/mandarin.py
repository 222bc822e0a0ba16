"""Mandarin text to phonemes: words (rjieba), their pinyin with tone sandhi (pypinyin), and the IPA of each syllable
(pinyin-to-ipa) in the alphabet that Kokoro was trained with, where an arrow is a tone.

Latin words among them are read as English, by `phonemes.py`, whose alphabet is the same one.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby

from .phonemes import SpokenWord, english

HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff〇]+")
_TOKENS = re.compile(rf"{HAN.pattern}|[^\s{HAN.pattern[1:-2]}，。！？；：、…“”‘’（）《》「」【】,.!?;:]+|\S")

PUNCTUATION = str.maketrans(
    {"，": ",", "、": ",", "。": ".", "！": "!", "？": "?", "；": ";", "：": ":", "（": "(", "）": ")"}
    | dict.fromkeys("《「【‘", "“")
    | dict.fromkeys("》」】’", "”")
)
"""To the marks of Kokoro's alphabet."""

_IPA = (
    ("ʈʂ", "ꭧ"),
    ("ts", "ʦ"),
    ("tɕ", "ʨ"),
    ("˧˩˧", "↓"),
    ("˧˥", "↗"),
    ("˥˩", "↘"),
    ("˥", "→"),
    ("ɻ̩", "ɨ"),
    ("ɹ̩", "ɨ"),
    ("̩", ""),
    ("̯", ""),
)
"""One sign for an affricate, an arrow for a tone, a vowel for what is held in zi and zhi."""
_ERHUA = {"r5": "ɚ"}
"""Not a syllable of its own, so no library has it."""


class MandarinReader:
    """Reads Mandarin, and English among it. Loading takes about a quarter of a second."""

    def __init__(self) -> None:
        import rjieba
        from pypinyin.seg.mmseg import seg

        self._cut = rjieba.cut
        self._known = seg.cut
        self.read("热身。")

    def read(self, clause: str) -> tuple[SpokenWord, ...]:
        """The words and marks of `clause` with their phonemes; empty where there is nothing to be said. Takes any
        text."""
        words = tuple(self._words(clause))
        return words if any(re.search(r"\w", word.phonemes) for word in words) else ()

    def words(self, clause: str) -> tuple[str, ...]:
        """The clause as written, word by word, each with the marks behind it."""
        found: list[str] = []
        for token in _TOKENS.findall(clause):
            if HAN.fullmatch(token):
                found += self._cut(token)
            elif found and not re.search(r"\w", token):
                found[-1] += token
            else:
                found.append(token)
        return tuple(found)

    def _words(self, clause: str) -> Iterator[SpokenWord]:
        for token in _TOKENS.findall(clause):
            if HAN.fullmatch(token):
                yield from self._han(token)
            elif re.search(r"\w", token):
                yield from english().read(token) or (SpokenWord(text=token, phonemes=""),)
            else:
                yield SpokenWord(text=token, phonemes=token.translate(PUNCTUATION))

    def _han(self, run: str) -> Iterator[SpokenWord]:
        """Pinyin comes from a dictionary of phrases: a word that it lacks is cut into those that it has. Characters
        left alone stay together, because their tones change where they meet."""
        from pypinyin import Style, lazy_pinyin

        for word in self._cut(run):
            parts: list[str] = []
            for alone, group in groupby(self._known(word), key=lambda part: len(part) == 1):
                together = list(group)
                parts += ["".join(together)] if alone else together
            pinyin = lazy_pinyin(
                parts, style=Style.TONE3, neutral_tone_with_five=True, tone_sandhi=True, errors="ignore"
            )
            yield SpokenWord(text=word, phonemes="".join(map(ipa, pinyin)))


@cache
def ipa(syllable: str) -> str:
    """Of one syllable in pinyin with its tone as a number; empty for what is none."""
    from pinyin_to_ipa import pinyin_to_ipa

    if syllable in _ERHUA:
        return _ERHUA[syllable]
    try:
        sounds = "".join(pinyin_to_ipa(syllable)[0])
    except ValueError:
        return ""
    for written, sign in _IPA:
        sounds = sounds.replace(written, sign)
    return sounds


@cache
def mandarin() -> MandarinReader:
    """The reader of this process."""
    return MandarinReader()
