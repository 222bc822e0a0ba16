"""What rendering costs and how long chunks wait, as running means of what was measured."""

import math
from collections.abc import Mapping

from ..ticks import to_seconds
from .renderer import Chunk

_MEMORY_S = 10.0
"""Seconds of speech after which a measurement counts 1/e."""

_WAIT_SHARE = 0.2
"""What the newest wait counts in the running mean."""


class Costs:
    """Seconds of rendering per second of speech, by voice and tier, and the wait of a chunk for its turn."""

    def __init__(self) -> None:
        self._spent: dict[str, dict[str, tuple[float, float]]] = {}
        self.wait_s = 0.0
        """Running mean of the seconds from when a chunk could have been rendered until its rendering began."""

    def count(self, voice: str, chunk: Chunk, waited_s: float) -> None:
        """Adds what `chunk` cost. The pause behind its speech cost nothing and is not counted."""
        speech = to_seconds(len(chunk.samples) - chunk.pause_after)
        kept = math.exp(-speech / _MEMORY_S)
        tiers = self._spent.setdefault(voice, {})
        render, length = tiers.get(chunk.tier, (0.0, 0.0))
        tiers[chunk.tier] = (render * kept + chunk.render_s, length * kept + speech)
        self.wait_s += _WAIT_SHARE * (waited_s - self.wait_s)

    def table(self) -> Mapping[str, Mapping[str, float]]:
        """Voice → tier → seconds of rendering per second of speech."""
        return {
            voice: {tier: render / length for tier, (render, length) in tiers.items() if length > 0}
            for voice, tiers in self._spent.items()
        }
