"""The decision itself: what the estimators have learnt, turned into the next plan."""

import math
from dataclasses import replace

from .capacity import CapacityEstimate
from .compute import TierChoice, worth_computing
from .freshness import Age, Freshness
from .gate import Gate
from .ladder import FEC_FROM, LOWEST, RUNGS, SAFE, highest_within, level_of, wire_rate, with_fec
from .loss import LossEstimate
from .plan import Carrier, Plan, Protection, Reason
from .playout import CONCEALED, PlayoutDelay
from .profiles import Profile
from .reports import ComputeReport, ContentReport, HeardReport, NetworkReport

FIRST_TIER = "full"
"""Named in plans before the sounding voice has said what its tiers are."""
HEADROOM = 0.95
"""Share of the estimated capacity that a higher rung may fill."""
CALM_S = 2.0
"""Without congestion before anything rises."""
TOO_FAR_S = 3.0
"""Round trip at which nothing but the lowest rung makes sense (libwebrtc's send_side_bandwidth_estimation.cc backs off
there)."""
RISE_LOSS_S, RISE_LOSS_MORE, RISE_DEVIATIONS = 5.0, 0.08, 2.5
"""Loss that grows so much so soon after a rise was caused by it (a shallow queue, a policer), where that is also so
many standard deviations of what chance does to a second of packets."""
MUCH_LOSS = 0.1
"""Above this no higher rate is tried from a rung that can be protected (libwebrtc's send_side_bandwidth_estimation.cc
even cuts there)."""

_NONE = Protection()


def _suspicious_loss(before: float) -> float:
    """The loss of a second that, after a rise, is no chance any more where it was `before`."""
    return before + max(RISE_LOSS_MORE, RISE_DEVIATIONS * math.sqrt(before * (1 - before) / 50))


class Decider:
    """A `Controller` without a net; see `AdaptiveController`."""

    def __init__(self, *, profile: Profile, start: int, top: int) -> None:
        """`start` and `top` are levels of the ladder."""
        self._profile = profile
        self._level, self._start, self._top = start, start, top
        self._carrier = Carrier.AUDIO
        self._fec = _NONE
        self._tiers: tuple[str, ...] = ()
        self._tier = 0
        self._capacity, self._loss, self._compute = CapacityEstimate(), LossEstimate(), TierChoice()
        self._freshness, self._gate, self._playout = Freshness(), Gate(), PlayoutDelay(profile)
        self._rtt_s: float | None = None
        self._jitter_s: float | None = None
        self._sounding = True
        self._concealed_before = False
        self._raised: tuple[float, float] | None = None
        """When the rung rose last, and the loss before."""
        self._plan: Plan | None = None
        if top > start:  # above the start nothing is taken for granted
            self._capacity.assume(wire_rate(RUNGS[start]))

    def on_network(self, report: NetworkReport) -> None:
        """Loss and delay from the best source that is fresh; round trip and jitter from any."""
        facts = (report.rtt_s, report.loss, report.queue_delay_s, report.jitter_s, report.received_rate)
        outage = self._freshness.silent_before(report)
        if all(fact is None for fact in facts) or not self._freshness.accept(report):
            return
        self._rtt_s = report.rtt_s if report.rtt_s is not None else self._rtt_s
        self._jitter_s = report.jitter_s if report.jitter_s is not None else self._jitter_s
        if report.loss is not None and not outage:
            self._loss.observe(report.at, report.loss, report.packets, report.lost_mask)
        rung = RUNGS[self._level]
        sending = wire_rate(rung)
        packet_bytes = sending * rung.frame_ms / 8000
        self._capacity.observe(report, sending=sending, packet_bytes=packet_bytes, lossy=self._loss.fast)
        if self._raised is None or report.at - self._raised[0] >= RISE_LOSS_S:
            self._raised = None
        elif self._loss.fast >= _suspicious_loss(self._raised[1]):
            arrived = report.received_rate if report.received_rate is not None else sending
            self._capacity.cut(report.at, arrived, report.rtt_s)
            self._raised = None

    def on_compute(self, report: ComputeReport) -> None:
        """Cost and readiness."""
        self._compute.observe(report)

    def on_content(self, report: ContentReport) -> None:
        """Whether speech sounds."""
        self._sounding = report.sounding
        self._playout.sounding(report.at, report.sounding)

    def on_heard(self, report: HeardReport) -> None:
        """Speech made up twice in a row, without loss or a queue, came too late."""
        late = (report.concealed or 0.0) >= CONCEALED and self._loss.fast < CONCEALED and not self._capacity.congested
        if late and self._concealed_before:
            self._playout.late()
        self._concealed_before = late

    def on_carrier(self, carrier: Carrier, *, red: bool = True, nack: bool = True) -> None:
        """The data track repairs by itself."""
        self._carrier = carrier

    def plan(self, now: float) -> Plan:
        """The same object for as long as nothing changes."""
        self._freshness.start(now)
        fresh = self._freshness.age(now) is Age.FRESH
        self._capacity.grow(now, tested=wire_rate(RUNGS[self._level]) if self._sounding else None, fresh=fresh)
        self._gate.held(now, self._level)
        self._meet_voice()
        reasons = [reason for reason in (self._fall(now), self._protect(now), self._lower_tier(now)) if reason]
        reason = reasons[0] if reasons else self._rise(now) if fresh and self._may_rise(now) else None
        return self._planned(now, reason)

    def _fall(self, now: float) -> Reason | None:
        """The rung, if it has to fall."""
        stale = {Age.SAFE: level_of(SAFE), Age.LOWEST: level_of(LOWEST)}.get(self._freshness.age(now), self._level)
        if stale < self._level:
            self._level = stale
            self._capacity.assume(wire_rate(RUNGS[stale]))
            self._gate.changed(now)
            return Reason.STALE
        budget = self._capacity.budget
        fits = self._level if budget is None else highest_within(budget)
        if (self._rtt_s or 0.0) > TOO_FAR_S:
            fits = 0
        if fits >= self._level:
            return None
        self._level = fits
        self._gate.fell(now)
        return Reason.CONGESTED

    def _protect(self, now: float) -> Reason | None:
        """Protection comes at once; it goes with a rung that has no room for it, or else by `_rise`."""
        wanted = self._loss.protection()
        if self._carrier is not Carrier.AUDIO or RUNGS[self._level].bitrate < FEC_FROM:
            self._fec = _NONE
            return None
        if wanted is None or wanted == self._fec:
            return None
        if not self._fec.fec:
            self._gate.changed(now)
        self._fec = wanted
        return Reason.LOSS

    def _meet_voice(self) -> None:
        """Another voice has other tiers: it begins at the best that is allowed."""
        if self._compute.tiers != self._tiers:
            self._tiers = self._compute.tiers
            self._tier = self._best_tier()

    def _best_tier(self) -> int:
        return max(self._compute.index, worth_computing(RUNGS[self._level], len(self._tiers)))

    def _lower_tier(self, now: float) -> Reason | None:
        fell = self._compute.fall(now)
        best = self._best_tier()
        if best <= self._tier:
            return None
        self._tier = best
        self._gate.changed(now)
        return Reason.COMPUTE if fell else Reason.CONGESTED

    def _may_rise(self, now: float) -> bool:
        calm = not self._capacity.suspicious and self._capacity.calm_for(now) >= CALM_S
        return calm and self._gate.open(now) and (self._rtt_s or 0.0) <= TOO_FAR_S

    def _rise(self, now: float) -> Reason | None:
        """One step on one axis: the rung first, then the tier, then protection that is no longer needed."""
        return self._raise_rung(now) or self._raise_tier(now) or self._unprotect(now)

    def _raise_rung(self, now: float) -> Reason | None:
        rate, ceiling = self._capacity.rate, self._gate.ceiling(now)
        level = self._top if rate is None else min(self._top, highest_within(HEADROOM * rate))
        if ceiling is not None:
            level = min(level, ceiling)
        if RUNGS[self._level].bitrate >= FEC_FROM and max(self._loss.fast, self._loss.slow) > MUCH_LOSS:
            return None
        if RUNGS[level].bitrate <= RUNGS[self._level].bitrate:  # shorter frames alone are not worth a rise
            return None
        self._level = level
        self._gate.rose(now, level)
        self._raised = (now, self._loss.slow)
        self._protect(now)
        return Reason.RECOVERED if level <= self._start else Reason.HEADROOM

    def _raise_tier(self, now: float) -> Reason | None:
        reason = Reason.RECOVERED
        if self._tier == self._compute.index and self._compute.may_rise(now):
            self._compute.rise(now)
            reason = Reason.HEADROOM
        if self._best_tier() >= self._tier:
            return None
        self._tier = self._best_tier()
        self._gate.changed(now)
        return reason

    def _unprotect(self, now: float) -> Reason | None:
        if not self._fec.fec or self._loss.protection() is not None:
            return None
        self._fec = _NONE
        self._gate.changed(now)
        return Reason.RECOVERED

    def _planned(self, now: float, reason: Reason | None) -> Plan:
        audio = self._carrier is Carrier.AUDIO
        rung = with_fec(RUNGS[self._level]) if self._fec.fec else RUNGS[self._level]
        delay_s = self._playout.decide(now, rung=rung, protection=self._fec, jitter_s=self._jitter_s)
        plan = Plan(
            rung=rung,
            tier=self._tiers[self._tier] if self._tiers else FIRST_TIER,
            reason=reason or (Reason.STEADY if self._plan else Reason.START),
            carrier=self._carrier,
            protection=self._fec,
            playout_delay_s=delay_s if audio else None,
            lead_s=0.0 if audio else self._profile.lead_s,
        )
        if self._plan is None or replace(plan, reason=self._plan.reason) != self._plan:
            self._plan = plan
        return self._plan
