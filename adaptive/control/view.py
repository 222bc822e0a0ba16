"""Every way of sending beside the present one, by what going over to it would be worth: made once for as long as the
path, the limits and the present way stay what they are."""

from collections.abc import Callable
from functools import cached_property

from .ladder import wire_rate
from .objective import Present, value
from .outlook import Limits, Path, Way, ways
from .plan import Rung
from .profiles import Weights

EASE = 0.03
"""Gain for which repair is given up: a copy of 32 kb/s costs .05."""


class View:
    """Best first in each of its lists; what fits the capacity is for whoever reads them to say."""

    def __init__(
        self,
        *,
        path: Path,
        limits: Limits,
        weights: Weights,
        present: Present,
        tier_worth: Callable[[Rung], float],
        home: Rung,
    ) -> None:
        """`home` is the rung that is gone back to where it fits."""
        self.path, self.limits, self.present = path, limits, present
        self._weights = weights
        self._tier_worth = tier_worth
        self._home = home

    @property
    def here(self) -> Way:
        """The present way."""
        return self.present.way

    def value(self, way: Way) -> float:
        """Over three chunks, in points."""
        return value(way, self.present, self._weights, tier=self._tier_worth(way.rung))

    @cached_property
    def gains(self) -> list[tuple[float, Way]]:
        """Every way with what it is worth more than the present one."""
        stay = self.value(self.here)
        found = [(self.value(way) - stay, way) for way in ways(self.path, self.limits, self._weights)]
        found.sort(key=lambda pair: -pair[0])
        return found

    @cached_property
    def lower(self) -> list[Way]:
        """Those of no more bitrate."""
        return [way for _, way in self.gains if way.rung.bitrate <= self.here.rung.bitrate]

    @cached_property
    def higher(self) -> list[Way]:
        """Those of a higher rung that are worth a rise. Home is where nothing is lost, unless it is worth that much
        less."""
        rung, home = self.here.rung, self._home
        homeward = 0.0 if self.path.loss else -self._weights.gain
        return [
            way
            for gain, way in self.gains
            if way.rung.bitrate >= rung.bitrate
            and wire_rate(way.rung) > wire_rate(rung)
            and gain >= (homeward if same(way.rung, home) else self._weights.gain)
        ]

    @cached_property
    def repaired(self) -> list[Way]:
        """Those of no more bitrate that lose less, where that is worth a change; all of them where the present one has
        come to need more of the wire than anything may."""
        too_much = self.here.wire > self.limits.wire
        return [
            way
            for gain, way in self.gains
            if way.rung.bitrate <= self.here.rung.bitrate
            and (too_much or (gain >= self._weights.gain and way.left < self.here.left))
        ]

    @cached_property
    def eased(self) -> list[Way]:
        """Those of the same rung that need no more of the wire, or let the listener hold less, and are worth more."""
        here = self.here
        return [
            way
            for gain, way in self.gains
            if gain > EASE
            and same(way.rung, here.rung)
            and (way.protection, way.needs_s) != (here.protection, here.needs_s)
            and (way.wire <= here.wire or way.needs_s < here.needs_s)
        ]


def same(one: Rung, other: Rung) -> bool:
    """The same but for the bandwidth, which in-band FEC narrows."""
    return (one.bitrate, one.frame_ms) == (other.bitrate, other.frame_ms)
