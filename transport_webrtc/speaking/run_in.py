"""Silence that keeps the receiver's decoder awake before speech and where speech ran out. Pure.

A decoder that was told that nothing follows fades in what does: speech would begin 10 dB too low (measured with libopus
1.6). So after a rest the first frame is silence. Most of the time it leaves while the first samples are still being
rendered, and costs nothing.
"""

import numpy as np

from ..media.block import Block

RUN_IN_S = 2.0
"""So long silence is sent frame by frame while an utterance has nothing ready; after that the track rests."""


class RunIn:
    """Knows whether the decoder rests."""

    def __init__(self) -> None:
        self.resting = True
        """Nothing was there to take when the carrier asked last."""
        self._sounded_at = 0.0

    def sounded(self, now: float) -> None:
        """Speech was taken."""
        self._sounded_at = now

    def block(self, ticks: int, now: float, *, utterance: str, start: int, paused: bool) -> Block | None:
        """What to send while `utterance` has nothing to send from tick `start` on: silence, or None to rest."""
        if self.resting:
            self._sounded_at = now
        self.resting = paused or now - self._sounded_at > RUN_IN_S
        return None if self.resting else Block(np.zeros(ticks, np.float32), utterance, start, speech=False)
