"""One listener's controller at work: reports go in, plans come out, and every change is kept and told."""

import dataclasses
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from adaptive.control.base import Controller
from adaptive.control.guard import Guarded
from adaptive.control.ladder import SAFE
from adaptive.control.loss import FIT_PACKETS, Gilbert
from adaptive.control.opinion import expected
from adaptive.control.plan import Carrier, Plan, Reason
from adaptive.control.reports import ComputeReport, ContentReport, HeardReport, NetworkReport
from adaptive.control.residual import residual
from adaptive.control.tiering import FIRST_TIER

from .shadowing import SPAN_S

PLANS_KEPT = 50
HEARD_S = 30.0
"""An estimate of what was heard is shown for so long: three times as long as from one to the next."""
BEGINS_S = 0.06
"""A player of the data track begins with so much speech."""
LOSS_MEMORY = 150
"""Packets over which loss is averaged for the opinion and for people: 3 s at 20 ms."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """A plan, and from when it held."""

    at: float
    plan: Plan


class Steering:
    """Owns a controller, which may come from anywhere: where it fails the last plan holds."""

    def __init__(self, controller: Controller, *, apply: Callable[[Plan, Plan | None], None]) -> None:
        """`apply(plan, before)` is called with every plan that differs from its predecessor in more than the reason."""
        self._controller = Guarded(controller, safe=Plan(rung=SAFE, tier=FIRST_TIER, reason=Reason.START))
        self._apply = apply
        self.carrier = Carrier.AUDIO
        self._carries: tuple[Carrier, bool, bool] | None = None
        """What the controller was told last."""
        self._judged = 0
        """Packets of which it is known whether they were lost."""
        self.loss: float | None = None
        """Share of packets lost before any repair, over about the last 150; None before the first report of it."""
        self._fates: deque[bool] = deque(maxlen=FIT_PACKETS)
        """Whether each was lost, where that is known one by one."""
        self.plan: Plan | None = None
        self.plan_at: float | None = None
        self.changes: deque[Change] = deque(maxlen=PLANS_KEPT)
        self.network: NetworkReport | None = None
        """The newest report that had a fact in it."""
        self.compute: ComputeReport | None = None
        self.content: ContentReport | None = None
        self.heard: HeardReport | None = None
        self.estimate: HeardReport | None = None
        """The newest that told an opinion."""

    def on_network(self, report: NetworkReport) -> None:
        """Passes a report on."""
        if report.rtt_s is not None or report.loss is not None:
            self.network = report
        self.note_loss(report)
        if report.lost_mask is not None:
            self._fates.extend(lost for lost in report.lost_mask if lost is not None)
        self._controller.on_network(report)

    def note_loss(self, report: NetworkReport) -> None:
        """Counts what was lost, also where the controller is not to hear of it."""
        if report.loss is not None and report.packets:
            self._judged += report.packets
            share = min(1.0, report.packets / min(self._judged, LOSS_MEMORY))
            self.loss = (1 - share) * (self.loss or 0.0) + share * report.loss

    def on_carrier(self, carrier: Carrier, *, red: bool, nack: bool) -> None:
        """What carries the speech; which protection the listener takes on the audio track."""
        if carrier is not self.carrier:
            self.heard = None  # a lead is no delay, nor is a delay a lead
        self.carrier = carrier
        if (carrier, red, nack) == self._carries:
            return
        self._carries = carrier, red, nack
        self._controller.on_carrier(carrier, red=red, nack=nack)

    def on_heard(self, report: HeardReport) -> None:
        """Passes a report on; an opinion only where it is of the plan that holds."""
        if report.opinion is None:
            self.heard = report
        else:
            self.estimate = report
            if self.plan_at is None or self.plan_at > report.at - SPAN_S:
                return
        self._controller.on_heard(report)

    def heard_opinion(self, now: float) -> float | None:
        """What the sound that was heard was worth, on the scale of G.107.2; None where nothing newer is known."""
        if self.estimate is None or self.estimate.opinion is None or now - self.estimate.at > HEARD_S:
            return None
        return round(self.estimate.opinion, 2)

    @property
    def one_way_s(self) -> float | None:
        """From here to the listener: half of the empty path, and the queue, which is ours: we send far more."""
        if self.network is None or self.network.rtt_s is None:
            return None
        return (self.network.rtt_s + (self.network.queue_delay_s or 0.0)) / 2

    def opinion(self) -> float | None:
        """What is expected of the plan on the path as reported, on the scale of G.107.2; None without a report."""
        one_way_s = self.one_way_s
        if self.plan is None or one_way_s is None:
            return None
        buffered_s = self.heard.buffered_s if self.heard and self.heard.buffered_s is not None else 0.0
        if self.carrier is Carrier.DATA:  # what is lost is repaired, and a lead delays nothing
            return round(expected(self.plan, loss=0.0, delay_s=one_way_s + BEGINS_S), 2)
        delay_s = one_way_s + buffered_s + self.plan.rung.frame_ms / 1000
        return round(expected(self.plan, loss=self.loss or 0.0, delay_s=delay_s), 2)

    def residual_loss(self) -> float | None:
        """Share of packets still missing after repair, as far as loss, bursts and delay let expect; None where loss is
        not known packet by packet."""
        if self.plan is None or self.loss is None or not self._fates:
            return None
        bursts = sum(lost and not before for before, lost in pairwise((False, *self._fates)))
        held_s = self.heard.buffered_s if self.heard else None
        return residual(
            self.plan.protection,
            loss=Gilbert(share=self.loss, burst=sum(self._fates) / bursts if bursts else 1.0),
            frame_ms=self.plan.rung.frame_ms,
            playout_delay_s=(self.plan.playout_delay_s or 0.0) if held_s is None else held_s,
            rtt_s=self.network.rtt_s if self.network else None,
        ).share

    def step(self, now: float, *, compute: ComputeReport, content: ContentReport) -> Plan:
        """Ten times a second: the newest facts from this machine in, the plan out."""
        self.compute, self.content = compute, content
        self._controller.on_compute(compute)
        self._controller.on_content(content)
        plan = self._controller.plan(now)
        before, self.plan = self.plan, plan
        if before is None or (plan is not before and dataclasses.replace(plan, reason=before.reason) != before):
            self.plan_at = now
            self.changes.append(Change(at=now, plan=plan))
            self._apply(plan, before)
        return plan


class Steered:
    """What others may know of somebody that a controller steers."""

    _steering: Steering
    _clock: Callable[[], float]

    @property
    def plan(self) -> Plan | None:
        """The one that holds."""
        return self._steering.plan

    @property
    def network_report(self) -> NetworkReport | None:
        """The newest that had a fact in it."""
        return self._steering.network

    @property
    def loss(self) -> float | None:
        """Share of packets lost before any repair, over about 3 s of speech."""
        return self._steering.loss

    def opinion(self) -> float | None:
        """What it is expected to think of the sound, on the scale of G.107.2; None before anything is known."""
        return self._steering.opinion()

    def heard_opinion(self) -> float | None:
        """What it heard was worth by estimate, on the same scale, delay aside; None where that is not known."""
        return self._steering.heard_opinion(self._clock())
