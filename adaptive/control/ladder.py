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
    Rung(bitrate=24_000, bandwidth=Bandwidth.FB, frame_ms=60),
    Rung(bitrate=24_000, bandwidth=Bandwidth.FB, frame_ms=40),
    Rung(bitrate=32_000, bandwidth=Bandwidth.FB, frame_ms=40),
    Rung(bitrate=24_000, bandwidth=Bandwidth.FB, frame_ms=20),
    Rung(bitrate=32_000, bandwidth=Bandwidth.FB, frame_ms=20),
    Rung(bitrate=48_000, bandwidth=Bandwidth.FB, frame_ms=20),
)
"""From low to high: 20.8, 25.2, 29.2, 32.8, 37.2, 45.2, 50.4, 58.4 and 74.4 kb/s on the wire. Nothing narrower than
wideband: Opus needs seconds to come back from it. A frame is long only where the wire is narrow: it is lost and waited
for as a whole. The one of 24 kb/s at 20 ms leaves room for a copy where 32 kb/s leaves none."""

LOWEST, SAFE, START = RUNGS[0], RUNGS[2], RUNGS[7]
"""When nothing is known any more; when facts are late; on a network of which nothing bad is known."""

FEC_FROM = 24_000
"""bit/s below which libopus has no room for a copy of the packet before (RFC 6716 section 2.1.7)."""
FEC_FULLBAND_FROM = 32_000
"""bit/s below which libopus gives up fullband to make that room."""


def wire_rate(rung: Rung, protection: Protection | None = None, *, loss: float = 0.0) -> float:
    """Bit/s on the wire at the rung's full bitrate, every packet with its overhead and its copies.

    Where what is lost is sent again, a `loss` (0..1) adds its share.
    """
    copies = len(protection.copies) if protection else 0
    packet_bytes = rung.bitrate * rung.frame_ms / 8000 * (1 + copies) + COPY_BYTES * copies + OVERHEAD_BYTES
    again = loss if protection is not None and protection.nack else 0.0
    return packet_bytes * 8000 / rung.frame_ms * (1 + again)


def with_fec(rung: Rung) -> Rung:
    """The rung as it sounds once copies take room in it."""
    if FEC_FROM <= rung.bitrate < FEC_FULLBAND_FROM and rung.bandwidth in (Bandwidth.SWB, Bandwidth.FB):
        return Rung(bitrate=rung.bitrate, bandwidth=Bandwidth.WB, frame_ms=rung.frame_ms)
    return rung


def without_fec(rung: Rung) -> Rung:
    """The rung of the ladder that `with_fec` made this one of; the rung itself where it stands in none."""
    return next((own for own in RUNGS if (own.bitrate, own.frame_ms) == (rung.bitrate, rung.frame_ms)), rung)
