"""What rendering costs and how long chunks wait, as running means of what was measured; and what was bad."""

import math
from collections import Counter
from collections.abc import Mapping

from ..ticks import to_seconds
from .judge import Fault
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
        self.faults: Counter[Fault] = Counter()
        """Bad chunks, by what was wrong."""
        self.rendered_again = 0
        """Of those, the ones that came one tier higher."""

    def count(self, voice: str, chunk: Chunk, waited_s: float) -> None:
        """Adds what `chunk` cost. The pause behind its speech cost nothing and is not counted; what was rendered again
        cost two tiers, and says nothing of either."""
        self.wait_s += _WAIT_SHARE * (waited_s - self.wait_s)
        if chunk.fault is not None:
            self.faults[chunk.fault] += 1
        if chunk.again:
            self.rendered_again += 1
            return
        speech = to_seconds(len(chunk.samples) - chunk.pause_after)
        kept = math.exp(-speech / _MEMORY_S)
        tiers = self._spent.setdefault(voice, {})
        render, length = tiers.get(chunk.tier, (0.0, 0.0))
        tiers[chunk.tier] = (render * kept + chunk.render_s, length * kept + speech)

    def table(self) -> Mapping[str, Mapping[str, float]]:
        """Voice → tier → seconds of rendering per second of speech."""
        return {
            voice: {tier: render / length for tier, (render, length) in tiers.items() if length > 0}
            for voice, tiers in self._spent.items()
        }
