"""What flows up: reports, each with the time of its observation. A fact that is not known is None, never zero."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

NARROW_PATH = 64_000.0
"""bit/s: what a path carries beyond that is not looked for while nothing is sent."""


class Source(StrEnum):
    """Where the facts of a network report come from, best first."""

    TWCC = "twcc"
    FEEDBACK = "feedback"
    RTCP = "rtcp"


class Arrival(NamedTuple):
    """One packet that arrived."""

    sent_at: float
    """Monotonic seconds."""
    delay_s: float
    """One-way, above the lowest seen on this path."""
    size: int
    """Bytes on the wire."""


@dataclass(frozen=True, kw_only=True)
class NetworkReport:
    """What one exchange with the listener showed of the path since the exchange before it."""

    at: float
    """Monotonic seconds at which the report was made."""
    source: Source
    rtt_s: float | None = None
    """Round-trip time of this exchange, not smoothed."""
    loss: float | None = None
    """Share of the packets sent in the interval that did not arrive, before any repair, 0..1."""
    packets: int | None = None
    """How many packets `loss` speaks of."""
    lost_mask: tuple[bool | None, ...] | None = None
    """Per packet in sending order: lost, arrived, or unknown (TWCC only)."""
    jitter_s: float | None = None
    """Interarrival jitter (RFC 3550 section 6.4.1)."""
    queue_delay_s: float | None = None
    """One-way delay above the lowest seen on this path."""
    received_rate: float | None = None
    """What arrived, bit/s on the wire, including 28 bytes of IP and UDP a packet."""
    sent_rate: float | None = None
    """What was sent in the same interval, counted the same way."""
    capacity: float | None = None
    """What the path carries, bit/s on the wire, found while nothing was said; `NARROW_PATH` where that or more."""
    standing_s: float | None = None
    """How long an answer to what is on its way is overdue; None where none is."""
    arrivals: tuple[Arrival, ...] | None = None
    """The packets newly known to have arrived, in sending order, retransmissions left out (TWCC only)."""


@dataclass(frozen=True, kw_only=True)
class ComputeReport:
    """What making the speech costs at present."""

    at: float
    tiers: tuple[str, ...]
    """Tiers of the sounding voice, best first."""
    cost: Mapping[str, float] = field(default_factory=dict)
    """Measured seconds of rendering per second of speech, for the tiers measured so far."""
    ready_s: float | None = None
    """Speech rendered and not yet taken by the carrier; None when nothing is being rendered."""
    target_s: float | None = None
    """What `ready_s` should be."""
    rendering: bool = False
    """More of this utterance is still to be rendered."""
    queue_s: float | None = None
    """How long this listener's next chunk waits for a worker."""
    frame_s: float | None = None
    """Length of one model frame of the sounding voice."""
    lengths: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    """Tier → model frames of a chunk → seconds of rendering per second of speech, as calibrated on an idle machine."""
    losses: Mapping[str, float] = field(default_factory=dict)
    """Tier → points of opinion by which it sounds worse than the voice's best, where that was judged."""


@dataclass(frozen=True, kw_only=True)
class ContentReport:
    """What the speech ahead looks like."""

    at: float
    sounding: bool
    pauses: tuple[tuple[float, float], ...] = ()
    """Pauses ahead: seconds from now to their start and to their end."""
    remaining_s: float | None = None
    """Speech still to come in this utterance; None while its text is open."""


@dataclass(frozen=True, kw_only=True)
class HeardReport:
    """What came out at the listener since the report before."""

    at: float
    position: int | None = None
    """Last tick of the sounding utterance that was heard."""
    concealed: float | None = None
    """Share of the samples that the receiver made up, 0..1."""
    buffered_s: float | None = None
    """Speech waiting in the receiver's buffer (its mean delay)."""
    opinion: float | None = None
    """What the sound that came out under the plan that holds was worth, estimated from what was sent and arrived in
    time: 1..4.5 on the scale of G.107.2, delay not counted."""
