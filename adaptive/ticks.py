"""The clock of an utterance: positions count 48 kHz ticks from its start, whatever the voice's or the wire's rate."""

TICK_RATE = 48_000
"""Ticks in a second."""


def to_ticks(seconds: float) -> int:
    """Seconds as whole ticks, rounded to the nearest."""
    return round(seconds * TICK_RATE)


def to_seconds(ticks: int) -> float:
    """Ticks as seconds."""
    return ticks / TICK_RATE
