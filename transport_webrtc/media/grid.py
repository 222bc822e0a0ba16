"""Which RTP tick is due when. Pure."""

from adaptive.ticks import TICK_RATE

GRID = 960
"""Ticks between places at which a packet may begin: 20 ms."""


class Grid:
    """RTP time tied to the wall clock once and for all: tick `t` is due `t / 48000` seconds after the anchor.

    Deadlines are absolute, so that no lateness adds up. All times are monotonic seconds.
    """

    def __init__(self, anchor: float) -> None:
        self._anchor = anchor

    def due(self, tick: int) -> float:
        """When a packet with that timestamp is to leave."""
        return self._anchor + tick / TICK_RATE

    def first(self, earliest: int, now: float) -> int:
        """The first place from tick `earliest` on that is not past yet."""
        behind = round((now - self.due(earliest)) * TICK_RATE)
        return earliest + max(-(-behind // GRID), 0) * GRID

    def last(self, earliest: int, now: float) -> int:
        """The last place from tick `earliest` on that is due already; `earliest` where none is."""
        behind = round((now - self.due(earliest)) * TICK_RATE)
        return earliest + max(behind // GRID, 0) * GRID
