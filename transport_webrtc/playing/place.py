"""Where something is in what a listener hears, and how numbers that run modulo 2^16 compare."""

from typing import NamedTuple

SIZE = 1 << 16


class Place(NamedTuple):
    """A tick of an utterance."""

    utterance: int
    """Running number modulo 2^16."""
    position: int


def beyond(a: int, b: int) -> int:
    """How far `a` is beyond `b`, both modulo 2^16; negative where it is behind."""
    return (a - b + SIZE // 2) % SIZE - SIZE // 2


def after(utterance: int) -> Place:
    """Where the utterance behind that one begins."""
    return Place((utterance + 1) % SIZE, 0)
