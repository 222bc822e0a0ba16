"""Profiles: what a use wants, as data. Controllers and carriers read them; no code asks for a profile's name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType


class Keep(StrEnum):
    """What happens to speech that an outage or an interruption cut off."""

    RESUME = "resume"
    RESTART = "restart"
    SKIP = "skip"


@dataclass(frozen=True, kw_only=True)
class Weights:
    """What a plan is worth, in points of opinion for each chunk of speech: see `outlook`."""

    stall: float = 20.0
    """A second of silence (a rebuffer weight: Yin et al., SIGCOMM 2015)."""
    change: float = 1.0
    """A point of opinion up or down, once (the same source)."""
    seam: float = 0.5
    """A change of bandwidth or tier, once."""
    delay: float = 0.75
    """Share that counts of what delay costs in the E-model, which speaks of two people in turn."""
    wait: float = 0.5
    """A second from leaving to sounding, whatever the E-model says."""
    stretch: float = 0.5
    """A second more asked of the listener while speech sounds, which stretches it, once."""
    compute: float = 0.05
    """A second of rendering per second of speech."""
    tier: float = 0.1
    """A tier below the best, where the rung lets the difference through."""
    kilobit: float = 0.0005
    """A kbit/s on the wire."""
    gain: float = 0.15
    """What a rise must promise over three chunks."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Limits and weights of one use."""

    name: str
    summary: str
    ready_s: float
    """Speech kept rendered ahead of the carrier: the target; the limit is `ready_limit_s`."""
    ready_limit_s: float
    """Above this the renderer waits."""
    playout_delay_s: float
    """The most that may be asked of the listener, on the audio track."""
    clean_playout_delay_s: float
    """What is asked while the network is clean."""
    lead_s: float
    """How far ahead of what was heard frames are delivered, on the data track."""
    keep: Keep
    priority: int
    """Of its utterances: a higher one cuts into a lower one."""
    token_life_s: float
    """How long a listener that went away may come back with its token."""
    wire_limit: float = 88_000
    """bit/s of speech on the wire, copies included: with events, pings and what comes back 100 to 112 kb/s, where
    aiortc's own sender uses 106 (measured)."""
    weights: Weights = field(default_factory=Weights)


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        p.name: p
        for p in (
            Profile(
                name="voice_chat",
                summary="a conversation: the shortest delay comes first",
                ready_s=1.2,
                ready_limit_s=2.0,
                playout_delay_s=0.3,
                clean_playout_delay_s=0.06,
                lead_s=6.0,
                keep=Keep.RESUME,
                priority=5,
                token_life_s=60.0,
            ),
            Profile(
                name="narration",
                summary="a story or a book: nothing may stumble, delay does not matter",
                ready_s=1.6,
                ready_limit_s=2.0,
                playout_delay_s=1.5,
                clean_playout_delay_s=0.2,
                lead_s=15.0,
                keep=Keep.RESUME,
                priority=1,
                token_life_s=600.0,
                weights=Weights(delay=0.0, wait=0.02),
            ),
            Profile(
                name="navigation",
                summary="instructions on the road: not a word may be lost, and they are short",
                ready_s=1.6,
                ready_limit_s=2.0,
                playout_delay_s=0.3,
                clean_playout_delay_s=0.1,
                lead_s=120.0,
                keep=Keep.RESUME,
                priority=9,
                token_life_s=3600.0,
                weights=Weights(delay=0.25, wait=0.1),
            ),
        )
    }
)

DEFAULT_PROFILE = "voice_chat"
