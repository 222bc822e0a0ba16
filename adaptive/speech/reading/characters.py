"""Characters that stand for plainer ones, one for one, so that places in the text stay what they are."""

import unicodedata
from functools import cache

_PLAIN = {"’": "'", "‘": "'", "‛": "'", "−": "-", "‐": "-", "‑": "-", "‒": "-", "―": "—", "μ": "µ", "İ": "I", "⁄": "/"}
_PLAIN |= {"￥": "¥", "￡": "£", "￠": "¢", "￦": "₩"}
"""Apostrophes, the minus sign and hyphens that are written as such; micro where a Greek letter stands in for it; a
capital whose small letter is two characters, which trips readers; and the slash inside of ½."""
_KEPT = frozenset("，。！？；：、（）～")
"""Punctuation of Chinese, which has readings and pauses of its own."""


def plain(text: str, *, full_width: bool = True) -> str:
    """As long as `text`: digits of any script as 0-9, full-width letters and signs as those of ASCII, and the signs
    above. `full_width` False keeps the punctuation of Chinese as it is."""
    return "".join(character if not full_width and character in _KEPT else _plain(character) for character in text)


@cache
def _plain(character: str) -> str:
    if character.isascii():
        return character
    if character in _PLAIN:
        return _PLAIN[character]
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    narrow = unicodedata.normalize("NFKC", character)
    wide = "\uff01" <= character <= "\uff5e" or unicodedata.category(character) == "Zs"
    return narrow if wide and len(narrow) == 1 else character
