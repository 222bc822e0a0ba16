"""What goes again: frames that were lost, the soonest needed first, and copies of those that get no second chance."""

import heapq
from collections.abc import Callable, Sequence

from adaptive.ticks import TICK_RATE, to_ticks

from .transmissions import Kept

COPY_AFTER_S = 0.02
"""Between a message and its copy: bursts of loss are shorter than this at the rates speech starts with."""
SOON_S = 0.04
"""The same, at most, on a path known to lose much: there a copy is needed more often than not, and in time."""
START_TICKS = to_ticks(0.3)
"""Of what a player waits for go with copies, since nothing is ahead yet."""
ROUND_S = 0.1
"""Beyond two round trips: the player's wait with its answer, twice."""
MANY, MORE, MOST = 0.08, 0.15, 0.25
"""Loss from which two, three and four copies are sent: at 20 % one frame in 600 is still missing, at 40 % one in a
hundred."""
UNKNOWN_RTT_S = 0.1
MOST_FRAMES = 40
"""Looked at for one message."""


def copies_for(loss: float | None) -> int:
    """Copies of a frame that gets no further chance to arrive."""
    if loss is None or loss < MANY:
        return 1
    return 2 if loss < MORE else 3 if loss < MOST else 4


def chances(ahead: int, rtt_s: float | None, loss: float | None) -> bool:
    """Whether what is needed in `ahead` ticks can be sent again once missed, more than once where much is lost."""
    round_s = 2 * (rtt_s or UNKNOWN_RTT_S) + ROUND_S
    rounds = 1 if loss is None or loss < MANY else 2 if loss < MOST else 3
    return ahead > rounds * round_s * TICK_RATE


class Repair:
    """Places are ticks on the line; the earlier one is needed sooner."""

    def __init__(self) -> None:
        self._lost: list[Kept] = []
        self._copies: list[tuple[float, int, Sequence[Kept]]] = []
        """When, the first place, and what."""

    def lose(self, frames: Sequence[Kept]) -> None:
        """They are to be sent again."""
        for kept in frames:
            if not kept.lost:
                kept.lost = True
                heapq.heappush(self._lost, kept)

    def copy(self, now: float, frames: Sequence[Kept], count: int, *, due_s: float) -> None:
        """They go again `count` times before they are needed in `due_s`, unless they are known to have arrived by then.

        As late as is still useful where there is one, as most are then never sent; soon where there are more.
        """
        step_s = max(COPY_AFTER_S, (due_s - COPY_AFTER_S) / count)
        step_s = step_s if count == 1 else min(SOON_S, step_s)
        for turn in range(1, count + 1):
            heapq.heappush(self._copies, (now + turn * step_s, frames[0].place, frames))

    def lost(self, past: Callable[[int], bool]) -> Sequence[Kept]:
        """Lost frames that follow each other, from the one that is needed soonest; they stay lost until they are sent.

        What has been played past is given up.
        """
        while self._lost and (not self._lost[0].lost or past(self._lost[0].end)):
            heapq.heappop(self._lost).lost = False
        run: list[Kept] = []
        while self._lost and (not run or self._lost[0].place <= run[-1].end) and len(run) < MOST_FRAMES:
            kept = heapq.heappop(self._lost)
            if kept.lost and not (run and kept is run[-1]):
                run.append(kept)
        for kept in run:
            heapq.heappush(self._lost, kept)
        return run

    def copies(self, now: float, past: Callable[[int], bool]) -> Sequence[Kept] | None:
        """The next copy that is due, taken out of the list; None where all that were due have arrived."""
        while self._copies and self._copies[0][0] <= now:
            frames = heapq.heappop(self._copies)[2]
            if any(not kept.arrived and not past(kept.end) for kept in frames):
                return frames
        return None

    def next_copy(self) -> float | None:
        """When a copy is due."""
        return self._copies[0][0] if self._copies else None
