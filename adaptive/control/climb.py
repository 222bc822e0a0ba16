"""Going up again: only what is worth it for a while, and only after its rate has been tried.

A higher rate is tried with copies of what is sent anyway: if it does not fit, nothing of the speech is worse for it.
"""

from dataclasses import dataclass, replace

from .gate import Gate
from .ladder import wire_rate
from .outlook import Way
from .plan import Protection
from .view import View

WINDOWS_S = 0.6
"""A change for the better is wanted for so long, three windows of 200 ms, before it is made."""
MOST_COPIES = 2
"""A receiver is given (Chromium takes two, measured)."""
PROBE_S, PROBE_REPORTS = 1.0, 3
"""A rate that holds for so long, and in so many reports, is taken to fit: a seventh too much makes a queue of a packet
in that time. One copy comes after another, so that a rate that does not fit has not made a long queue by then."""


@dataclass(frozen=True, kw_only=True)
class Probe:
    """Rates being tried, one after the other."""

    since: float
    """When the present one began."""
    reports: int
    """Of the path that had come by then."""
    stages: tuple[tuple[float, Protection], ...]
    """bit/s on the wire, and what fills it; the first is the present one."""

    @property
    def rate(self) -> float:
        """bit/s on the wire at present."""
        return self.stages[0][0]

    @property
    def protection(self) -> Protection:
        """What is sent at present."""
        return self.stages[0][1]

    def held(self, now: float, reports: int) -> bool:
        """The present rate fits."""
        return now - self.since >= PROBE_S and reports - self.reports >= PROBE_REPORTS

    def further(self, now: float, reports: int) -> "Probe | None":
        """The next stage, if there is one."""
        return Probe(since=now, reports=reports, stages=self.stages[1:]) if len(self.stages) > 1 else None


class Wishes:
    """What has been wanted for how long."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}

    def long(self, now: float, what: str, wanted: bool) -> bool:
        """Whether something is `wanted`, and has been for three windows."""
        if not wanted:
            self._since.pop(what, None)
            return False
        return now - self._since.setdefault(what, now) >= WINDOWS_S - 1e-9

    def clear(self) -> None:
        """Everything is new."""
        self._since.clear()


def highest(view: View, gate: Gate, now: float, budget: float | None) -> Way | None:
    """The best way up within what is known to fit, and below what failed of late."""
    ceiling = gate.ceiling(now)
    for way in view.higher:
        if (budget is None or way.wire <= budget) and (ceiling is None or way.wire < ceiling):
            return way
    return None


def probe(view: View, gate: Gate, now: float, budget: float, reports: int) -> Probe | None:
    """What to send so that the best way up that can be tried is known to fit; None where nothing is to be tried."""
    here, ceiling = view.here, gate.ceiling(now)
    copies, stages = here.protection.copies, []
    for distance in range(1, 2 * MOST_COPIES + 1):
        if len(copies) < MOST_COPIES and distance not in copies:
            copies = (*copies, distance)
            protection = replace(here.protection, copies=copies)
            rate = wire_rate(here.rung, protection, loss=view.path.loss)
            if rate <= view.limits.wire and (ceiling is None or rate < ceiling):
                stages.append((rate, protection))
    for way in view.higher:
        for place, (rate, _) in enumerate(stages):
            if budget < way.wire <= rate:
                return Probe(since=now, reports=reports, stages=tuple(stages[: place + 1]))
    return None
