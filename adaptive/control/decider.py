"""The decision itself: what is known, turned into the next plan by what each way of sending is worth."""

from dataclasses import replace

from .climb import Probe, Wishes, highest, probe
from .freshness import Age
from .gate import Gate
from .knowledge import Knowledge
from .ladder import LOWEST, SAFE, wire_rate, without_fec
from .moments import Moments
from .objective import Present
from .outlook import Limits, Path, Way, rounded, way
from .plan import Carrier, Plan, Protection, Reason, Rung
from .playout import CONCEALED, PlayoutDelay
from .profiles import Profile
from .reports import ComputeReport, ContentReport, HeardReport, NetworkReport
from .tiering import Tiering
from .view import View

CALM_S = 1.0
"""Without congestion before more is tried."""
AHEAD_S = 2.0
"""So long before a rise may be made its rate is tried."""
APART_S = 0.2
"""Between changes on two axes, where neither is urgent."""
YOUNG_S, YOUNG_PACKETS = 20.0, 250
DOUBTFUL = 0.004
IDLE_GAP_S, DOUBTFUL_GAP_S, FILLING_GAP_S = 0.2, 0.04, 0.02
"""Between packets of silence while nothing sounds: more of them while little is known of the path, or loss is seen. A
hundred tell loss from none in 99 of 100 cases where it is 5 %. All of it where the listener has to fill its buffer,
which would otherwise stretch the first words."""

_NONE = Protection()


class Decider:
    """A `Controller` for the audio track, without a net; see `AdaptiveController`."""

    def __init__(self, *, profile: Profile, start: Rung, top: Rung) -> None:
        """`start` and `top` stand in `ladder.RUNGS`."""
        self._profile, self._weights = profile, profile.weights
        self._start, self._top = start, top
        self._red = self._nack = True
        self._known, self._gate, self._moments, self._wishes = Knowledge(), Gate(), Moments(), Wishes()
        self._playout, self._tiers = PlayoutDelay(profile), Tiering(profile.weights)
        self._rung, self._protection = start, _NONE
        self._needs_s = profile.clean_playout_delay_s
        """Playout delay that rung and protection were chosen with."""
        self._probe: Probe | None = None
        self._sounding = True
        self._concealed_before = False
        self._changed_at = self._began_at = float("-inf")
        self._fell_for = Reason.CONGESTED
        """Why the rung fell last."""
        self._path: Path | None = None
        self._news = False
        """More is known than when the path was looked at."""
        self._view: View | None = None
        self._plan: Plan | None = None
        if top.bitrate > start.bitrate:  # above the start nothing is taken for granted
            self._known.capacity.assume(wire_rate(start))

    def on_network(self, report: NetworkReport) -> None:
        """Facts of the path."""
        rate = self._probe.rate if self._probe else wire_rate(self._rung, self._protection)
        packet_bytes = rate * self._rung.frame_ms / 8000
        try_less = not self._red
        self._known.on_network(report, sending=rate, packet_bytes=packet_bytes, try_less=try_less)
        self._news = True

    def on_compute(self, report: ComputeReport) -> None:
        """Cost and readiness."""
        self._tiers.observe(report)

    def on_content(self, report: ContentReport) -> None:
        """Whether speech sounds, and its pauses."""
        if report.sounding is not self._sounding:
            self._sounding, self._news = report.sounding, True
        self._moments.observe(report)
        self._playout.sounding(report.at, report.sounding)

    def on_heard(self, report: HeardReport) -> None:
        """Speech made up twice in a row, without loss or a queue, came too late."""
        known = self._known
        late = (report.concealed or 0.0) >= CONCEALED and known.loss.fast < CONCEALED and not known.capacity.congested
        if late and self._concealed_before:
            self._playout.late()
        self._concealed_before = late

    def on_carrier(self, carrier: Carrier, *, red: bool = True, nack: bool = True) -> None:
        """It knows the audio track only: which protection the listener takes there."""
        self._red, self._nack = red, nack
        self._news = True
        self._rung, self._protection, self._probe = without_fec(self._rung), _NONE, None

    def plan(self, now: float) -> Plan:
        """The same object for as long as nothing changes."""
        if self._plan is None:
            self._began_at = now
        known = self._known
        known.freshness.start(now)
        age = known.age(now)
        tested = wire_rate(self._rung, self._protection) if self._sounding else None
        known.capacity.grow(now, tested=tested, fresh=age is Age.FRESH and self._gate.may_try(now))
        self._tiers.meet(self._rung)
        view = self._look(now)
        self._gate.held(now, view.here.wire)
        reason = self._fall(now, age, view) or self._protect(now, view) or self._lower_tier(now)
        if reason is None and age is Age.FRESH:
            reason = self._rise(now, view)
        elif age is not Age.FRESH:
            self._probe = None
        return self._planned(now, reason)

    def _look(self, now: float) -> View:
        """The ways there are, seen from the present one; as before where nothing has changed."""
        if self._path is None or self._news:
            careful = self._known.loss.channel(careful=True)
            self._path = rounded(
                loss=self._known.loss.channel() if self._sounding else careful,
                careful=careful,
                before=self._path,
                rtt_s=self._known.usual_rtt_s,
                jitter_s=self._known.late_s(),
                red=self._red,
                nack=self._nack,
            )
            self._news = False
        profile, asked_s = self._profile, self._playout.asked_s
        clean_s = profile.clean_playout_delay_s
        limits = Limits(
            top=self._top,
            wire=profile.wire_limit,
            clean_s=clean_s,
            least_s=clean_s if self._playout.silent(now) else asked_s,
            most_s=profile.playout_delay_s,
        )
        here = way(self._rung, self._protection, asked_s, self._path, self._weights, needs_s=self._needs_s)
        present = Present(way=here, tier=self._tiers.worth(self._rung), sounding=self._sounding)
        view = self._view
        if view is None or (view.path, view.limits, view.present) != (self._path, limits, present):
            view = View(
                path=self._path,
                limits=limits,
                weights=self._weights,
                present=present,
                tier_worth=self._tiers.worth,
                home=self._start,
            )
            self._view = view
        return view

    def _fall(self, now: float, age: Age, view: View) -> Reason | None:
        """The rung, if it has to fall."""
        capacity, here = self._known.capacity, view.here
        stale = {Age.SAFE: SAFE, Age.LOWEST: LOWEST}.get(age)
        if stale is not None and stale.bitrate < self._rung.bitrate:
            self._go(now, replace(here, rung=stale, protection=_NONE, needs_s=self._profile.clean_playout_delay_s))
            self._gate.changed(now)
            self._fell_for = Reason.STALE
            return Reason.STALE
        budget = 0.0 if self._known.too_far else capacity.budget
        if self._probe is not None and capacity.filling(self._probe.since):
            self._gate.failed(now, self._probe.rate)
            self._probe = None
        if budget is None or here.wire <= budget:
            return None
        fits = next((below for below in view.lower if below.wire <= budget), None)
        below = fits or replace(here, rung=LOWEST, protection=_NONE, needs_s=self._profile.clean_playout_delay_s)
        if (below.rung, below.protection) == (here.rung, here.protection):
            return None
        self._go(now, below)
        self._gate.fell(now)
        self._fell_for = Reason.CONGESTED
        return Reason.CONGESTED

    def _protect(self, now: float, view: View) -> Reason | None:
        """Better repair comes at once; less of it by `_rise`."""
        budget = self._known.capacity.budget
        for better in view.repaired:
            if budget is None and not self._sends_as_much(better, view.here):
                continue  # random loss is no reason to send less
            if budget is None or better.wire <= budget:
                if better.wire > view.here.wire:
                    self._known.sends_more(now, repairing=True)
                self._go(now, better)
                self._gate.changed(now)
                return Reason.LOSS
        return None

    def _sends_as_much(self, way: Way, here: Way) -> bool:
        """No less in all, nor a narrower band: copies may take the place of bits that hardly anyone would hear."""
        if way.rung.bitrate == here.rung.bitrate:
            return True
        return way.wire >= here.wire and way.rung.bandwidth is here.rung.bandwidth

    def _lower_tier(self, now: float) -> Reason | None:
        reason = self._tiers.fall(
            now, self._rung, self._moments, apart=now - self._changed_at >= APART_S, why=self._fell_for
        )
        if reason is not None:
            self._gate.changed(now)
        return reason

    def _rise(self, now: float, view: View) -> Reason | None:
        """One step on one axis: the rung first, then the tier, then protection that is no longer needed."""
        capacity = self._known.capacity
        if capacity.calm_for(now) < CALM_S or self._known.too_far:
            self._wishes.clear()
            return None
        if self._probe is not None and self._probe.held(now, self._known.reports) and not capacity.suspicious:
            capacity.prove(self._probe.rate)
            self._probe = self._probe.further(now, self._known.reports)
        if self._raise_rung(now, view):
            return Reason.RECOVERED if self._rung.bitrate <= self._start.bitrate else Reason.HEADROOM
        if not self._gate.open(now) or self._probe is not None:
            return None
        reason = self._tiers.rise(now, self._rung, self._moments)
        if reason is not None:
            self._gate.changed(now)
        return reason or self._ease(now, view)

    def _raise_rung(self, now: float, view: View) -> bool:
        budget, gate = self._known.capacity.budget, self._gate
        if not self._wishes.long(now, "rung", bool(view.higher)):
            return False
        up = highest(view, gate, now, budget)
        trying = self._probe is None and budget is not None and self._can_probe() and gate.may_try(now)
        if trying and budget is not None and now >= gate.opens_at - AHEAD_S:
            self._probe = probe(view, gate, now, budget, self._known.reports)
            if self._probe is not None:
                self._known.sends_more(now)
        if up is None or not gate.open(now) or self._probe is not None:
            return False
        if up.rung.bandwidth is not self._rung.bandwidth and not self._moments.come(now, "bandwidth"):
            return False
        self._moments.forget("bandwidth")
        self._go(now, up)
        gate.rose(now, up.wire)
        self._known.sends_more(now)
        return True

    def _can_probe(self) -> bool:
        return self._red and self._sounding

    def _ease(self, now: float, view: View) -> Reason | None:
        """Less repair or less delay, where that is worth more."""
        if not self._wishes.long(now, "ease", bool(view.eased)):
            return None
        self._go(now, view.eased[0])
        self._gate.changed(now)
        return Reason.RECOVERED

    def _go(self, now: float, to: Way) -> None:
        self._rung, self._protection, self._probe = to.rung, to.protection, None
        self._needs_s = to.needs_s
        self._changed_at = now
        self._wishes.clear()

    def _idle_gap_s(self, now: float) -> float:
        loss = self._known.loss
        if self._playout.filling(now):
            return FILLING_GAP_S
        young = now - self._began_at < YOUNG_S and loss.known < YOUNG_PACKETS
        return DOUBTFUL_GAP_S if young or max(loss.fast, loss.slow) > DOUBTFUL else IDLE_GAP_S

    def _planned(self, now: float, reason: Reason | None) -> Plan:
        before = self._plan
        plan = Plan(
            rung=self._rung,
            tier=self._tiers.name,
            reason=reason or (Reason.STEADY if before else Reason.START),
            protection=self._probe.protection if self._probe else self._protection,
            playout_delay_s=self._playout.decide(now, self._needs_s),
            chunk_frames=self._tiers.chunk_frames,
            idle_gap_s=self._idle_gap_s(now),
        )
        if before is None:
            self._plan = plan
        elif (same_reason := replace(plan, reason=before.reason)) != before:
            only_idle = replace(same_reason, idle_gap_s=before.idle_gap_s) == before
            self._plan = same_reason if only_idle else plan
        return self._plan or plan
