"""Who is compared: controllers by the names that the command line takes, the network adaptor among them."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from adaptive.control.base import Controller
from adaptive.control.plan import Carrier, Plan
from adaptive.control.profiles import Profile
from adaptive.control.registry import load_controller
from adaptive.control.reports import ComputeReport, ContentReport, HeardReport, NetworkReport

from .baselines import NetworkAdaptor

ADAPTIVE, ANA, ORACLE = "adaptive", "ana", "oracle"
FIXED = ("fixed:12000", "fixed:16000", "fixed:24000", "fixed:32000", "fixed:32000+fec")
"""None dearer on the wire than the plan that the others start from."""
ROUNDING_S = 1e-9
DEFAULT = (ADAPTIVE, ANA, *FIXED, ORACLE)


def make(name: str, *, profile: Profile) -> Controller:
    """A fresh controller; `oracle` is none, as it has to know the path. Raises ValueError with a sentence."""
    if name == ANA:
        return NetworkAdaptor(profile=profile)
    if name == ORACLE:
        raise ValueError("The oracle is no controller: it plans for one path that it knows.")
    return load_controller(name, profile=profile)


class Scheduled:
    """A controller that follows a schedule of plans, whatever is reported."""

    def __init__(self, schedule: Sequence[tuple[float, Plan]]) -> None:
        """Plans with the seconds, since the first question, from which they hold; the first holds before too."""
        self._times = [at for at, _ in schedule]
        self._plans = [plan for _, plan in schedule]
        self._began: float | None = None
        self._tiers: tuple[str, ...] = ()

    def on_network(self, report: NetworkReport) -> None:
        """Nothing."""

    def on_compute(self, report: ComputeReport) -> None:
        """The names of the voice's tiers: its best stands for one that it has not."""
        self._tiers = report.tiers

    def on_content(self, report: ContentReport) -> None:
        """Nothing."""

    def on_heard(self, report: HeardReport) -> None:
        """Nothing."""

    def on_carrier(self, carrier: Carrier, *, red: bool = True, nack: bool = True) -> None:
        """Nothing."""

    def plan(self, now: float) -> Plan:
        """The one whose time it is."""
        if self._began is None:
            self._began = now
        plan = self._plans[max(0, bisect_right(self._times, now - self._began + ROUNDING_S) - 1)]
        return replace(plan, tier=self._tiers[0]) if self._tiers and plan.tier not in self._tiers else plan
