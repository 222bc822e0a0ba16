"""What every voice here checks of its arguments, in the same words."""

from ..voice import VoiceInfo

SLOWEST, FASTEST = 0.25, 4.0


def checked_speed(speed: float) -> float:
    """`speed` itself. Raises ValueError where no voice can speak so slowly or so fast."""
    if not SLOWEST <= speed <= FASTEST:
        raise ValueError(f"The speed must be between {SLOWEST} and {FASTEST}, not {speed}.")
    return speed


def checked_tier(info: VoiceInfo, tier: str) -> str:
    """`tier` itself. Raises ValueError where the voice does not have it."""
    if tier not in info.tiers:
        raise ValueError(f"The voice {info.name} has no tier {tier!r}: it has {', '.join(info.tiers)}.")
    return tier


def last_frame(frames: int, start: int, count: int, tail: int) -> int:
    """Where decoding ends: `tail` behind `start + count`, or with the clause. Raises ValueError outside of it."""
    if min(start, count, tail) < 0 or start + count > frames:
        raise ValueError(f"Frames {start} to {start + count} (and {tail} more) are not in a clause of {frames} frames.")
    return min(frames, start + count + tail)


def seed_words(seed: int, part: int) -> tuple[int, int]:
    """Entropy for numpy's generators: any whole number, negative ones too, and a part of its own for each use."""
    return seed & 0xFFFF_FFFF_FFFF_FFFF, part
