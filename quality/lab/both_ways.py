"""The two directions of a scenario on virtual time, and what happens to them while it goes on."""

from collections.abc import Callable
from math import inf
from typing import Generic, TypeVar

from .link import Link, seeds
from .scenarios import Scenario

Down = TypeVar("Down")
Up = TypeVar("Up")


class BothWays(Generic[Down, Up]):
    """`down` and `up`, and the steps of the scenario that are still to come."""

    def __init__(self, scenario: Scenario, *, seed: int, lead_s: float, start: float) -> None:
        """The links stand from `start` on, as the scenario has them `lead_s` before its second 0."""
        own = seeds(seed)
        self.down: Link[Down] = Link(scenario.settings("down", -lead_s), seed=own["down"], start=start)
        self.up: Link[Up] = Link(scenario.settings("up", -lead_s), seed=own["up"], start=start)
        self._steps = [step for step in scenario.steps if step.at_s > -lead_s]

    @property
    def next_change_s(self) -> float:
        """The second of the scenario at which the next step is due; infinity where none is left."""
        return self._steps[0].at_s if self._steps else inf

    def change(self, now: float) -> None:
        """Takes the next step."""
        step = self._steps.pop(0)
        if step.direction != "up":
            self.down.set(now=now, **step.settings)
        if step.direction != "down":
            self.up.set(now=now, **step.settings)

    def carry(
        self, now: float, *, at_listener: Callable[[float, Down], None], at_server: Callable[[float, Up], None]
    ) -> None:
        """Hands over everything that arrives by `now`, each at its own instant."""
        while True:
            down, up = self.down.next_time(), self.up.next_time()
            if down is not None and down <= now and (up is None or down <= up):
                for item in self.down.due(down):
                    at_listener(down, item)
            elif up is not None and up <= now:
                for answer in self.up.due(up):
                    at_server(up, answer)
            else:
                return
