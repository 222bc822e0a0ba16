"""RFC 2198 payloads: a frame together with copies of earlier ones, so that a lost packet is repaired by a later one.

A payload is a run of four-byte headers (one a copy: follow bit, payload type, timestamp offset of 14 bits, length of
10 bits), a one-byte header, the copies, oldest first, and the frame itself.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

MAX_OFFSET = (1 << 14) - 1
"""Ticks a copy can lie back (RFC 2198 section 3): 341 ms at 48 kHz, 17 frames of 20 ms."""
MAX_COPY = (1 << 10) - 1
"""Bytes a copy can have (RFC 2198 section 3)."""
COPY_HEADER = 4
FRAME_HEADER = 1
MAX_PAYLOAD = 1150
"""Bytes; with the headers of RTP, SRTP, UDP and IP it stays under a 1,280-byte path."""
NOT_WORTH_A_COPY = 2
"""Bytes of an Opus frame that says no more than 'silence goes on' (RFC 6716 section 2.1.9)."""


@dataclass(frozen=True, kw_only=True)
class Copy:
    """A block of a payload: `offset` ticks before its frame (the frame itself has 0)."""

    offset: int
    data: bytes


def unpack(payload: bytes) -> list[Copy]:
    """The blocks of a payload in their order, the frame itself last. Raises ValueError where it is cut off."""
    headers: list[tuple[int, int]] = []
    at = 0
    while True:
        if at >= len(payload):
            raise ValueError("a RED payload ends inside its headers")
        if not payload[at] & 0x80:
            at += FRAME_HEADER
            break
        if at + COPY_HEADER > len(payload):
            raise ValueError("a RED payload ends inside a header")
        word = int.from_bytes(payload[at : at + COPY_HEADER], "big")
        headers.append((word >> 10 & MAX_OFFSET, word & MAX_COPY))
        at += COPY_HEADER
    blocks = []
    for offset, length in headers:
        if at + length > len(payload):
            raise ValueError("a RED payload ends inside a copy")
        blocks.append(Copy(offset=offset, data=payload[at : at + length]))
        at += length
    blocks.append(Copy(offset=0, data=payload[at:]))
    return blocks


class RedundancyPacker:
    """Packs each frame with copies of the frames at given distances.

    The history is kept whether or not copies are asked for, so that protection may rise between any two frames.
    """

    def __init__(self, *, payload_type: int) -> None:
        self.payload_type = payload_type
        self._history: deque[tuple[int, bytes]] = deque(maxlen=MAX_OFFSET // 960 + 1)

    def pack(self, frame: bytes, *, timestamp: int, distances: Sequence[int], again: bool = True) -> bytes:
        """The payload for `frame`, whose RTP time is `timestamp` (ticks).

        `distances` are counted in frames, most valuable first: what has no room, lies too far back in time or is
        silence is left out. `again` is False for a frame of which no copy is ever to be made.
        """
        copies: list[tuple[int, bytes]] = []
        room = MAX_PAYLOAD - len(frame) - FRAME_HEADER
        for distance in distances:
            if not 0 < distance <= len(self._history):
                continue
            earlier, data = self._history[-distance]
            offset = timestamp - earlier
            fits = 0 < offset <= MAX_OFFSET and NOT_WORTH_A_COPY < len(data) <= MAX_COPY
            if fits and len(data) + COPY_HEADER <= room:
                copies.append((offset, data))
                room -= len(data) + COPY_HEADER
        self._history.append((timestamp, frame if again else b""))
        copies.sort(reverse=True)
        headers = b"".join(
            (1 << 31 | self.payload_type << 24 | offset << 10 | len(data)).to_bytes(COPY_HEADER, "big")
            for offset, data in copies
        )
        return headers + bytes((self.payload_type,)) + b"".join(data for _, data in copies) + frame

    def clear(self) -> None:
        """Forgets every earlier frame: after an interruption none of it may travel again."""
        self._history.clear()
