"""Texts for benches: sentences of about a hundred characters, as many as asked for, no two alike."""

import random
from collections.abc import Iterator

_WHEN = ("This morning", "Late last night", "On a quiet Sunday", "After the long storm", "Before the first snow")
_WHO = ("the old keeper", "our youngest pilot", "a careful baker", "the night nurse", "my neighbour's daughter")
_DID = ("carried", "repaired", "painted", "measured", "borrowed", "hid")
_WHAT = ("the brass lantern", "seven heavy boxes", "a broken compass", "the garden gate", "three letters")
_WHERE = ("behind the station", "across the frozen bay", "under the wooden bridge", "in the empty hall")
_THEN = (
    "and nobody asked why",
    "while the radio played",
    "because the ferry was late",
    "until the lights went out",
    "so we all stayed a while",
)


def sentences(seed: int) -> Iterator[str]:
    """Different sentences of 85 to 115 characters, the same ones for a seed; ends after some thousands."""
    chance = random.Random(seed)
    used = set()
    for _ in range(15_000):
        parts = [chance.choice(words) for words in (_WHEN, _WHO, _DID, _WHAT, _WHERE, _THEN)]
        text = "{}, {} {} {} {}, {}.".format(*parts)
        if text not in used and 85 <= len(text) <= 115:
            used.add(text)
            yield text
