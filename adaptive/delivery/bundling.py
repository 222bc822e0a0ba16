"""How many frames share a message: few while the listener waits for them, more as it is ahead."""

from collections.abc import Sequence

from .frames import Frame
from .wire import HEADER_BYTES, LENGTH_BYTES, MAX_MESSAGE_BYTES

MESSAGE_COST = 93
"""Bytes of a message beyond its own: IP and UDP 28, DTLS 37, SCTP 28 (measured)."""

FIRST_TICKS = 2880
"""60 ms in the first message: what the player needs to start."""
FIRST_NARROW_TICKS, FIRST_NARROWEST_TICKS = 8640, 17_280
"""180 and 360 ms, where it would be over long before a message worth its cost has come after it."""
NEAR_TICKS, AHEAD_TICKS, FAR_TICKS = 1920, 4800, 9600
"""40, 100 and 200 ms: 2, 5 and 10 frames of Opus."""
FULL_TICKS = 13_440
"""280 ms where there is plenty ahead: at 32 kb/s a message holds as much. Each one costs the server as much as encoding
three frames, what is answered to it included (measured: bench media, profiled)."""
NARROW_TICKS, NARROWEST_TICKS = 14_400, 23_040
"""300 and 480 ms, where the wire is so narrow that the cost of a message would be half of it."""
LONG_FRAME_TICKS = 2880
AHEAD_FROM, FAR_FROM, PLENTY_FROM = 14_400, 96_000, 192_000
"""Ticks ahead: 300 ms; 2 s, where the loss of ten frames can wait; and 4 s."""
NARROW, NARROWEST = 24_000, 16_000
"""bit/s delivered."""
_NOT_BEFORE_BYTES = 4


def bundle_ticks(ahead: int, *, congested: bool, rate: float | None, frame: int) -> int:
    """Ticks of speech for the next message, with `ahead` ticks sent beyond what sounds, `rate` bit/s delivered and
    frames of so many ticks: long ones are for narrow paths."""
    congested = congested or frame >= LONG_FRAME_TICKS
    if not ahead:
        if not congested or rate is None or rate >= NARROW:
            return FIRST_TICKS
        return FIRST_NARROW_TICKS if rate >= NARROWEST else FIRST_NARROWEST_TICKS
    if congested:
        if frame >= LONG_FRAME_TICKS and ahead >= AHEAD_FROM:
            return NARROWEST_TICKS
        if rate is None or rate >= NARROW:
            return FAR_TICKS
        return NARROW_TICKS if rate >= NARROWEST else NARROWEST_TICKS
    if ahead >= FAR_FROM:
        return FULL_TICKS if ahead >= PLENTY_FROM else FAR_TICKS
    return AHEAD_TICKS if ahead >= AHEAD_FROM else NEAR_TICKS


def together(frames: Sequence[Frame], ticks: int) -> int:
    """How many of the first frames go into one message of about `ticks`: at least one.

    They are of one utterance, format and length, follow each other, and fit.
    """
    first = frames[0]
    room = MAX_MESSAGE_BYTES - HEADER_BYTES - _NOT_BEFORE_BYTES
    count, position = 0, first.position
    for frame in frames:
        room -= LENGTH_BYTES + len(frame.payload)
        alike = frame.utterance == first.utterance and frame.format == first.format and frame.ticks == first.ticks
        enough = position - first.position + frame.ticks > ticks
        if count and (room < 0 or not alike or enough or frame.position != position or count == 255):
            break
        count += 1
        position += frame.ticks
    return count
