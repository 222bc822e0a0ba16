"""How much is lost, how fast that changes, and in what bursts."""

import math
from collections import deque
from collections.abc import Sequence

from .plan import Protection

FAST_S = 1.0
SLOW_S = 10.0
"""Time constants. Ten seconds is libwebrtc's for its FEC decision (audio_network_adaptor/config.proto)."""
PACKET_S = 0.06
"""A lost packet weighs no more than the speech it could have held: between utterances packets are few."""
FIT_PACKETS = 500
UNKNOWN_BURST = 2.0
"""Packets; assumed while the fates of single packets are not known."""

ON_SUDDEN = 0.04
ON_BEGUN = 0.01
ON_SLOW = 0.025
OFF_SLOW = 0.02
OFF_FAST = 0.005
"""Protection comes on when the fast estimate is above `ON_SUDDEN` and the slow one has begun to follow, or when the
slow one alone is above `ON_SLOW`; it goes off when both are below their limits. One lost packet does neither."""

HINTS = (10, 15, 20)
"""Percent told to the encoder: below 10 it makes no copies at 24 kb/s; 20 is libwebrtc's ceiling."""


class LossEstimate:
    """Two averages and a burst length."""

    def __init__(self) -> None:
        self.fast = 0.0
        self.slow = 0.0
        """Shares of packets lost, 0..1."""
        self._at: float | None = None
        self._fates: deque[bool] = deque(maxlen=FIT_PACKETS)
        self._protect = False
        self._hint = HINTS[0]

    def observe(
        self, at: float, loss: float, packets: int | None = None, mask: Sequence[bool | None] | None = None
    ) -> None:
        """One interval: `loss` of `packets`, ended at `at` seconds, and the fates of single packets where known."""
        elapsed = 0.25 if self._at is None else max(0.0, at - self._at)
        self._at = at
        if packets is not None:
            elapsed = min(elapsed, packets * PACKET_S)
        self.fast += (1 - math.exp(-elapsed / FAST_S)) * (loss - self.fast)
        self.slow += (1 - math.exp(-elapsed / SLOW_S)) * (loss - self.slow)
        self._fates.extend(fate for fate in mask or () if fate is not None)

    @property
    def burst(self) -> float:
        """Mean packets lost in a row (a Gilbert channel's 1 / P(bad to good), ITU-T G.107 clause 7.4)."""
        lost = sum(self._fates)
        if not lost:
            return UNKNOWN_BURST
        bursts = sum(now and not before for before, now in zip([False, *self._fates], self._fates, strict=False))
        return lost / bursts

    def protection(self) -> Protection | None:
        """What the loss asks for now, with a memory: in-band FEC and its hint, or None."""
        if self._protect:
            self._protect = self.slow >= OFF_SLOW or self.fast >= OFF_FAST
        else:
            self._protect = (self.fast >= ON_SUDDEN and self.slow >= ON_BEGUN) or self.slow >= ON_SLOW
        if not self._protect:
            self._hint = HINTS[0]
            return None
        percent = 100 * max(self.slow, self.fast / 2)
        wanted = next((hint for hint in HINTS if hint >= percent), HINTS[-1])
        if wanted > self._hint or percent < 0.5 * self._hint:
            self._hint = wanted
        return Protection(fec=True, loss_hint=self._hint)
