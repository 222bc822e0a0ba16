"""Lets what is not to be said again go by while nobody hears it, as fast as it would have sounded."""

import asyncio
from collections.abc import Callable

from adaptive.control.profiles import Keep
from adaptive.ticks import to_seconds, to_ticks

from .turns import Turns

SKIP_S = 0.2
"""It goes by in steps of this, so that the renderer keeps up."""


class Skipping:
    """Of one listener. Used from the event loop only."""

    def __init__(self, turns: Turns, *, clock: Callable[[], float]) -> None:
        self._turns = turns
        self._clock = clock
        self._skipped_to = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Nobody hears it from now on. The first step is for `step`."""
        self._skipped_to = self._clock()

    def step(self) -> None:
        """Up to now, and on from there by itself."""
        self.stop()
        current, now = self._turns.current, self._clock()
        if current is None or current.keep is not Keep.SKIP or not current.pipeline.begun or current.pipeline.paused:
            return
        skipped = current.pipeline.skip(to_ticks(now - self._skipped_to))
        self._skipped_to += to_seconds(skipped)
        for _ in current.marks.until(current.pipeline.taken):
            pass  # nobody hears them
        self._turns.advance()
        self._timer = asyncio.get_running_loop().call_later(SKIP_S, self.step)

    def stop(self) -> None:
        """No further by itself."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
