"""The unit of delivery: one encoded frame of an utterance."""

from typing import NamedTuple

from adaptive.control.plan import Format


class Frame(NamedTuple):
    """Encoded speech of one stretch of time; a tuple, since there are fifty a second for each listener."""

    utterance: int
    """The listener's running number, modulo 2^16, in order of playing."""
    position: int
    """First tick, from the utterance's start."""
    ticks: int
    format: Format
    payload: bytes
    last: bool = False
    """Nothing of the utterance follows."""
