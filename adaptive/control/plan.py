"""What flows down: the plan, the one thing that tells every carrier, encoder and renderer what to do next."""

from dataclasses import dataclass, field
from enum import StrEnum


class Carrier(StrEnum):
    """What takes the speech to the listener: RTP, or a data channel."""

    AUDIO = "audio"
    DATA = "data"


class Bandwidth(StrEnum):
    """Audio bandwidth of an Opus frame (RFC 6716 section 2): up to 4, 6, 8, 12 and 20 kHz."""

    NB = "NB"
    MB = "MB"
    WB = "WB"
    SWB = "SWB"
    FB = "FB"


class Codec(StrEnum):
    """How samples become bytes."""

    OPUS = "opus"
    PCM16 = "pcm16"
    ULAW = "ulaw"


class Reason(StrEnum):
    """Why a plan is what it is: a short fixed word, used as metric label and log field."""

    START = "start"
    STEADY = "steady"
    CONGESTED = "congested"
    LOSS = "loss"
    RECOVERED = "recovered"
    STALE = "stale"
    COMPUTE = "compute"
    HEADROOM = "headroom"
    FORCED = "forced"
    ERROR = "error"


@dataclass(frozen=True, kw_only=True)
class Rung:
    """A codec operating point."""

    bitrate: int
    """Payload, bit/s."""
    bandwidth: Bandwidth
    frame_ms: int
    """20, 40 or 60."""

    def __str__(self) -> str:
        return f"{self.bitrate // 1000}k {self.bandwidth} {self.frame_ms}ms"


@dataclass(frozen=True, kw_only=True)
class Format:
    """The codec and the rate at which samples enter it."""

    codec: Codec = Codec.OPUS
    rate: int = 48_000
    """Hz: 8000, 12000, 16000, 24000 or 48000, so that a sample is a whole number of ticks."""


@dataclass(frozen=True, kw_only=True)
class Protection:
    """What repairs loss."""

    copies: tuple[int, ...] = ()
    """Distances in frames at which a frame is sent again (RED, RFC 2198), most valuable first."""
    nack: bool = False
    """Lost packets are sent again on request (RFC 4585)."""
    fec: bool = False
    """Opus in-band FEC (LBRR, RFC 6716 section 2.1.7)."""
    loss_hint: int = 0
    """Percent of packets the encoder is told to expect to lose."""

    def __str__(self) -> str:
        parts = ["nack"] if self.nack else []
        if self.copies:
            parts.append("red" + "+".join(map(str, self.copies)))
        if self.fec:
            parts.append("fec")
        return "+".join(parts) or "none"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One decision of a controller; it holds until the next one replaces it."""

    rung: Rung
    tier: str
    """Precision of the speech model, one of the sounding voice's tiers."""
    reason: Reason
    carrier: Carrier = Carrier.AUDIO
    format: Format = field(default_factory=Format)
    protection: Protection = field(default_factory=Protection)
    playout_delay_s: float | None = None
    """Asked of the listener; None leaves it to the listener."""
    lead_s: float = 0.0
    """How far ahead of what was heard frames are delivered (data track)."""
    chunk_frames: int | None = None
    """Model frames rendered in one go; None leaves the ramp to the stream."""
    idle_gap_s: float = 0.2
    """Between two packets of silence while nothing sounds: they measure the path before the first word."""
