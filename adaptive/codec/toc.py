"""What an Opus packet really is, read from its first bytes (RFC 6716 section 3)."""

from dataclasses import dataclass
from enum import StrEnum

from adaptive.control.plan import Bandwidth


class Mode(StrEnum):
    """Which of Opus's two coders made the packet, or both together."""

    SILK = "silk"
    HYBRID = "hybrid"
    CELT = "celt"


@dataclass(frozen=True, kw_only=True)
class PacketInfo:
    """Facts of one packet."""

    mode: Mode
    bandwidth: Bandwidth
    frame_ms: float
    """Of one Opus frame. A packet of 40 ms in hybrid mode holds two frames of 20 ms."""
    frames: int
    stereo: bool
    fec: bool
    """It carries a copy of the packet before it (LBRR, RFC 6716 section 2.1.7)."""

    @property
    def duration_ms(self) -> float:
        """Speech in the packet."""
        return self.frame_ms * self.frames


_SILK = (Bandwidth.NB, Bandwidth.MB, Bandwidth.WB)
_HYBRID = (Bandwidth.SWB, Bandwidth.FB)
_CELT = (Bandwidth.NB, Bandwidth.WB, Bandwidth.SWB, Bandwidth.FB)


def describe(packet: bytes) -> PacketInfo:
    """Reads the TOC byte and the frame count. Raises ValueError for what is not an Opus packet."""
    if not packet:
        raise ValueError("An Opus packet has at least one byte.")
    mode, bandwidth, frame_ms = _configuration(packet[0] >> 3)
    frames, start = _frames(packet)
    stereo = bool(packet[0] & 0x04)
    return PacketInfo(
        mode=mode,
        bandwidth=bandwidth,
        frame_ms=frame_ms,
        frames=frames,
        stereo=stereo,
        fec=mode is not Mode.CELT and _has_lbrr(packet, start, frame_ms, stereo),
    )


def _configuration(number: int) -> tuple[Mode, Bandwidth, float]:
    """RFC 6716 section 3.1, table 2."""
    if number < 12:
        return Mode.SILK, _SILK[number // 4], (10, 20, 40, 60)[number % 4]
    if number < 16:
        return Mode.HYBRID, _HYBRID[(number - 12) // 2], (10, 20)[number % 2]
    return Mode.CELT, _CELT[(number - 16) // 4], (2.5, 5, 10, 20)[number % 4]


def _frames(packet: bytes) -> tuple[int, int]:
    """How many frames, and where the first one's data begins (RFC 6716 section 3.2)."""
    code = packet[0] & 0x03
    if code < 2:
        return code + 1, 1
    if code == 2:
        return 2, 1 + _length_bytes(packet, 1)
    if len(packet) < 2 or not packet[1] & 0x3F:
        raise ValueError("An Opus packet with counted frames says how many, and at least one.")
    count, variable, padded = packet[1] & 0x3F, packet[1] & 0x80, packet[1] & 0x40
    start = 2
    if padded:
        while start < len(packet) and packet[start] == 0xFF:
            start += 1
        start += 1
    for _ in range(count - 1 if variable else 0):
        start += _length_bytes(packet, start)
    return count, start


def _length_bytes(packet: bytes, at: int) -> int:
    """A frame length takes one byte below 252, else two (RFC 6716 section 3.2.1)."""
    return 2 if at < len(packet) and packet[at] >= 252 else 1


def _has_lbrr(packet: bytes, start: int, frame_ms: float, stereo: bool) -> bool:
    """The header bits of the SILK layer: one VAD flag per 20 ms, then the LBRR flag (RFC 6716 section 4.2.3)."""
    if start >= len(packet):
        return False
    flags = max(1, round(frame_ms / 20)) + 1
    mid = packet[start] >> (8 - flags) & 1
    side = packet[start] >> (8 - 2 * flags) & 1 if stereo else 0
    return bool(mid or side)
