"""The rungs a call climbs, and what each costs on the wire: the overhead of a packet is budgeted before any payload."""

from .plan import Bandwidth, Protection, Rung

OVERHEAD_BYTES = 66
"""Beyond the payload of one packet: IPv4 20, UDP 8, RTP 12, header extensions 16, SRTP tag 10 (RFC 3550, 3711, 8285).
That is 26 kb/s at 20 ms, 13 at 40 and 9 at 60: below 40 kb/s the frame length saves more than the bitrate."""
COPY_BYTES = 4
"""A redundant block's header (RFC 2198 section 3)."""

RUNGS: tuple[Rung, ...] = (
    Rung(bitrate=12_000, bandwidth=Bandwidth.WB, frame_ms=60),
    Rung(bitrate=12_000, bandwidth=Bandwidth.WB, frame_ms=40),
    Rung(bitrate=16_000, bandwidth=Bandwidth.WB, frame_ms=40),
    Rung(bitrate=24_000, bandwidth=Bandwidth.FB, frame_ms=40),
    Rung(bitrate=32_000, bandwidth=Bandwidth.FB, frame_ms=20),
    Rung(bitrate=48_000, bandwidth=Bandwidth.FB, frame_ms=20),
)
"""From low to high: 20.8, 25.2, 29.2, 37.2, 58.4 and 74.4 kb/s on the wire. Nothing narrower than wideband: Opus needs
seconds to come back from it."""

LOWEST, SAFE, START = RUNGS[0], RUNGS[2], RUNGS[4]
"""When nothing is known any more; when facts are late; on a network of which nothing bad is known."""

FEC_FROM = 24_000
"""bit/s below which libopus has no room for a copy of the packet before (RFC 6716 section 2.1.7)."""
FEC_FULLBAND_FROM = 32_000
"""bit/s below which libopus gives up fullband to make that room."""


def wire_rate(rung: Rung, protection: Protection | None = None) -> float:
    """Bit/s on the wire at the rung's full bitrate, every packet with its overhead and its copies."""
    copies = len(protection.copies) if protection else 0
    packet_bytes = rung.bitrate * rung.frame_ms / 8000 * (1 + copies) + COPY_BYTES * copies + OVERHEAD_BYTES
    return packet_bytes * 8000 / rung.frame_ms


def level_of(rung: Rung) -> int:
    """Where a rung stands in `RUNGS`. Raises ValueError for one that does not."""
    return RUNGS.index(rung)


def highest_within(rate: float, protection: Protection | None = None) -> int:
    """The highest level whose wire rate is at most `rate`, bit/s; the lowest where none is."""
    return max((n for n, rung in enumerate(RUNGS) if wire_rate(rung, protection) <= rate), default=0)


def with_fec(rung: Rung) -> Rung:
    """The rung as it sounds once copies take room in it."""
    if FEC_FROM <= rung.bitrate < FEC_FULLBAND_FROM and rung.bandwidth in (Bandwidth.SWB, Bandwidth.FB):
        return Rung(bitrate=rung.bitrate, bandwidth=Bandwidth.WB, frame_ms=rung.frame_ms)
    return rung
