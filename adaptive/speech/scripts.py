"""Which scripts a language is written in, and whether a voice can read any of a text."""

import re
import unicodedata
from collections.abc import Iterable

from .reading.markup import without_markup
from .voice import VoiceInfo

_LATIN = "af ca cs cy da de en es et eu fi fr ga hr hu id is it lt lv ms nb nl no pl pt ro sk sl sq sv sw tr vi"
SCRIPTS = {
    **dict.fromkeys(_LATIN.split(), ("LATIN",)),
    **dict.fromkeys(["be", "bg", "kk", "ky", "mk", "mn", "ru", "tg", "uk"], ("CYRILLIC",)),
    "sr": ("CYRILLIC", "LATIN"),
    "el": ("GREEK",),
    "zh": ("CJK", "BOPOMOFO"),
    "ja": ("HIRAGANA", "KATAKANA", "CJK"),
    "ko": ("HANGUL", "CJK"),
    **dict.fromkeys(["ar", "fa", "ur"], ("ARABIC",)),
    "he": ("HEBREW",),
    **dict.fromkeys(["hi", "mr", "ne"], ("DEVANAGARI",)),
    "bn": ("BENGALI",),
    "ta": ("TAMIL",),
    "te": ("TELUGU",),
    "th": ("THAI",),
    "ka": ("GEORGIAN",),
    "hy": ("ARMENIAN",),
}
"""By BCP 47 language; scripts as the names of their characters in Unicode have them."""

_WORD = re.compile(r"[^\W\d_]+")


def scripts(languages: Iterable[str]) -> frozenset[str]:
    """Those that `languages` (BCP 47) are written in; empty where one of them is not known here, or there are none."""
    known = [SCRIPTS.get(language.split("-")[0].lower(), ()) for language in languages]
    return frozenset(script for each in known for script in each) if all(known) else frozenset()


def unreadable(text: str, voice: VoiceInfo) -> str | None:
    """A sentence where the text has words and not one letter of them is in a script of the voice; else None.

    A Greek letter by itself is a symbol that every voice has a name for.
    """
    wanted = scripts(voice.languages)
    words = _WORD.findall(unicodedata.normalize("NFKC", without_markup(text)))
    if not wanted or not words:
        return None
    found = set[str]()
    for word in words:
        for letter in word:
            names = unicodedata.name(letter, "").split()
            if wanted.intersection(names) or (len(word) == 1 and "GREEK" in names):
                return None
            found.update(names[:1])
    return (
        f"The voice {voice.name} speaks {', '.join(voice.languages)} and can read no word of this text, whose letters"
        f" are {_spoken(found)}. Choose a voice of its language, or write it in {_spoken(wanted)} letters."
    )


def _spoken(names: Iterable[str]) -> str:
    return " and ".join(sorted("Chinese" if name == "CJK" else name.title() for name in names)) or "unknown"
