"""One listener's controller at work: reports go in, plans come out, and every change is kept and told."""

import dataclasses
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from adaptive.control.base import Controller
from adaptive.control.opinion import expected
from adaptive.control.plan import Bandwidth, Plan, Protection, Reason, Rung
from adaptive.control.reports import ComputeReport, ContentReport, HeardReport, NetworkReport

log = logging.getLogger(__name__)

T = TypeVar("T")

PLANS_KEPT = 50
LOSS_MEMORY = 150
"""Packets over which loss is averaged for the opinion: 3 s at 20 ms."""
BURST = 1.0
"""Ratio of bursts assumed for the opinion: counters do not tell how losses lie."""
SAFE_PLAN = Plan(
    rung=Rung(bitrate=16_000, bandwidth=Bandwidth.WB, frame_ms=20),
    tier="full",
    reason=Reason.ERROR,
    protection=Protection(),
)
"""Holds where a controller fails before its first plan."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """A plan, and from when it held."""

    at: float
    plan: Plan


class Steering:
    """Owns a controller. Whatever the controller raises is logged, and the last plan holds on."""

    def __init__(self, controller: Controller, *, apply: Callable[[Plan, Plan | None], None]) -> None:
        """`apply(plan, before)` is called with every plan that differs from its predecessor in more than the reason."""
        self._controller = controller
        self._apply = apply
        self._failing = False
        self._loss: float | None = None
        self.plan: Plan | None = None
        self.plan_at: float | None = None
        self.changes: deque[Change] = deque(maxlen=PLANS_KEPT)
        self.network: NetworkReport | None = None
        """The newest report that had a fact in it; likewise the three below."""
        self.compute: ComputeReport | None = None
        self.content: ContentReport | None = None
        self.heard: HeardReport | None = None

    def on_network(self, report: NetworkReport) -> None:
        """Passes a report on."""
        if report.rtt_s is not None or report.loss is not None:
            self.network = report
        if report.loss is not None and report.packets:
            share = 1.0 if self._loss is None else min(1.0, report.packets / LOSS_MEMORY)
            self._loss = (1 - share) * (self._loss or 0.0) + share * report.loss
        self._guard(lambda: self._controller.on_network(report))

    def on_heard(self, report: HeardReport) -> None:
        """Passes a report on."""
        self.heard = report
        self._guard(lambda: self._controller.on_heard(report))

    def opinion(self) -> float | None:
        """What is expected of the plan on the path as reported, on the scale of G.107.2; None without a report."""
        if self.plan is None or self.network is None or self.network.rtt_s is None:
            return None
        buffered_s = self.heard.buffered_s if self.heard and self.heard.buffered_s is not None else 0.0
        delay_s = self.network.rtt_s / 2 + buffered_s + self.plan.rung.frame_ms / 1000
        return round(expected(self.plan, self._loss or 0.0, BURST, delay_s), 2)

    def step(self, now: float, *, compute: ComputeReport | None, content: ContentReport | None) -> Plan:
        """Ten times a second: the newest facts from this machine in, the plan out."""
        if compute is not None:
            self.compute = compute
            self._guard(lambda: self._controller.on_compute(compute))
        if content is not None:
            self.content = content
            self._guard(lambda: self._controller.on_content(content))
        plan = self._guard(lambda: self._controller.plan(now))
        if plan is None:
            plan = dataclasses.replace(self.plan, reason=Reason.ERROR) if self.plan else SAFE_PLAN
        else:
            self._failing = False
        before, self.plan = self.plan, plan
        if before is None or dataclasses.replace(plan, reason=before.reason) != before:
            self.plan_at = now
            self.changes.append(Change(at=now, plan=plan))
            self._apply(plan, before)
        return plan

    def _guard(self, act: Callable[[], T]) -> T | None:
        try:
            return act()
        except Exception:
            # Controllers come from anywhere; one that fails must not take the listener's sound with it.
            if not self._failing:
                log.exception("The controller failed; the last plan holds.")
            self._failing = True
            return None
