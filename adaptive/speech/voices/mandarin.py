"""Mandarin text to phonemes: words (rjieba), their pinyin with tone sandhi (pypinyin), and the IPA of each syllable
(pinyin-to-ipa) in the alphabet that Kokoro was trained with, where an arrow is a tone.

Written forms are words before that (`adaptive.speech.reading`). Latin words among them are read as English, by
`phonemes.py`, whose alphabet is the same one.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import groupby

from ..reading.chinese import chinese
from ..reading.spans import by_words
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
        self._spans = lru_cache(maxsize=4)(chinese().spans)  # a clause is asked for more than once
        self.read("热身，1次。")

    def read(self, clause: str) -> tuple[SpokenWord, ...]:
        """The words and marks of `clause`, as written, with their phonemes; empty where there is nothing to be said.
        Takes any text."""
        said = tuple(word for segment in self._segments(clause) for word in self._read(segment))
        words, done = [], 0
        for written, count in by_words(self._spans(clause), [word.text for word in said]):
            words.append(SpokenWord(text=written.strip(), phonemes=_together(said[done : done + count])))
            done += count
        return tuple(words) if any(re.search(r"\w", word.phonemes) for word in words) else ()

    def words(self, clause: str) -> tuple[str, ...]:
        """The clause as written, word by word, each with the marks behind it."""
        found: list[str] = []
        for written, _ in by_words(self._spans(clause), list(self._segments(clause))):
            if found and not re.search(r"\w", written):
                found[-1] += written.strip()
            elif written.strip():
                found.append(written.strip())
        return tuple(found)

    def _segments(self, clause: str) -> Iterator[str]:
        """The words and marks that it is read as; put together they are all of that, without white space."""
        for token in _TOKENS.findall("".join(span.read for span in self._spans(clause))):
            if HAN.fullmatch(token):
                yield from self._cut(token)
            else:
                yield token

    def _read(self, segment: str) -> Iterator[SpokenWord]:
        if HAN.fullmatch(segment):
            yield SpokenWord(text=segment, phonemes=self._han(segment))
        elif re.fullmatch("[A-Za-z]", segment):
            yield SpokenWord(text=segment, phonemes=english().spell(segment))
        elif re.search(r"\w", segment):
            yield from english().read(segment) or (SpokenWord(text=segment, phonemes=""),)
        else:
            yield SpokenWord(text=segment, phonemes=segment.translate(PUNCTUATION))

    def _han(self, word: str) -> str:
        """Pinyin comes from a dictionary of phrases: a word that it lacks is cut into those that it has. Characters
        left alone stay together, because their tones change where they meet."""
        from pypinyin import Style, lazy_pinyin

        parts: list[str] = []
        for alone, group in groupby(self._known(word), key=lambda part: len(part) == 1):
            together = list(group)
            parts += ["".join(together)] if alone else together
        pinyin = lazy_pinyin(parts, style=Style.TONE3, neutral_tone_with_five=True, tone_sandhi=True, errors="ignore")
        return "".join(map(ipa, pinyin))


def _together(words: Sequence[SpokenWord]) -> str:
    """Phonemes with a space before each word, but not before a mark."""
    parts = [word.phonemes for word in words if word.phonemes]
    return "".join(f" {part}" if re.search(r"\w", part) else part for part in parts).strip()


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
