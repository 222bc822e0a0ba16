"""One controller for each carrier, of which the one that carries decides."""

from .ahead import AheadRung
from .decider import Decider
from .ladder import LOWEST, RUNGS
from .moments import Moments
from .plan import Carrier, Plan, Reason, Rung
from .profiles import Profile
from .reports import ComputeReport, ContentReport, HeardReport, NetworkReport
from .tiering import Tiering

APART_S = 4.0
"""Between a fall of the rung and a rise of the tier."""


class AheadDecider:
    """A `Controller` for the data track, without a net: rung by `AheadRung`, tier as everywhere, no protection."""

    def __init__(self, *, profile: Profile, start: Rung, top: Rung) -> None:
        """`start` and `top` by bitrate."""
        self._profile, self._top = profile, top
        self._ahead = AheadRung(start=start, top=top)
        self._tiers, self._moments = Tiering(profile.weights), Moments()
        self._sounding = False
        self._changed_at = float("-inf")
        self._fell_for = Reason.CONGESTED
        self._plan: Plan | None = None

    def begin(self, rung: Rung) -> None:
        """The data track carries from now on; what was sent so far was sent at `rung`."""
        self._ahead = AheadRung(start=rung, top=self._top)
        self._plan = None

    def on_network(self, report: NetworkReport) -> None:
        """What the data track's acknowledgements say."""
        self._ahead.on_network(report)

    def on_compute(self, report: ComputeReport) -> None:
        self._tiers.observe(report)

    def on_content(self, report: ContentReport) -> None:
        """No answer is due while nothing sounds."""
        self._sounding = report.sounding
        self._moments.observe(report)
        if not report.sounding:
            self._ahead.silent()

    def on_heard(self, report: HeardReport) -> None:
        """`buffered_s` is the lead."""
        self._ahead.on_heard(report)

    def on_carrier(self, carrier: Carrier, *, red: bool = True, nack: bool = True) -> None:
        """It knows the data track only."""

    def plan(self, now: float) -> Plan:
        """The same object for as long as nothing changes."""
        before = self._plan
        reason = self._ahead.decide(now) if self._sounding else self._ahead.prepare(now)
        rung = self._ahead.rung
        if reason in (Reason.CONGESTED, Reason.STALE):
            self._changed_at, self._fell_for = now, reason
        self._tiers.meet(rung)
        if reason is None:
            reason = self._tiers.fall(now, rung, self._moments, apart=True, why=self._fell_for)
        if reason is None and now - self._changed_at >= APART_S:
            reason = self._tiers.rise(now, rung, self._moments)
        tier, chunk_frames = self._tiers.name, self._tiers.chunk_frames
        if before is not None and (before.rung, before.tier, before.chunk_frames) == (rung, tier, chunk_frames):
            return before
        self._plan = Plan(
            rung=rung,
            tier=tier,
            reason=reason or (Reason.STEADY if before else Reason.START),
            carrier=Carrier.DATA,
            lead_s=self._profile.lead_s,
            chunk_frames=chunk_frames,
        )
        return self._plan


class ByCarrier:
    """Both know what making the speech costs and what it looks like; of the path each knows its own carrier's."""

    def __init__(self, *, profile: Profile, start: Rung, top: Rung) -> None:
        """`start` and `top` stand in `ladder.RUNGS`."""
        self._profile, self._top = profile, top
        self._audio = Decider(profile=profile, start=start, top=top)
        self._data = AheadDecider(profile=profile, start=start, top=top)
        self._carrier = Carrier.AUDIO
        self._rung = start
        self._compute: ComputeReport | None = None
        self._content: ContentReport | None = None

    def on_network(self, report: NetworkReport) -> None:
        self._active.on_network(report)

    def on_compute(self, report: ComputeReport) -> None:
        self._compute = report if report.tiers else self._compute
        self._audio.on_compute(report)
        self._data.on_compute(report)

    def on_content(self, report: ContentReport) -> None:
        self._content = report
        self._audio.on_content(report)
        self._data.on_content(report)

    def on_heard(self, report: HeardReport) -> None:
        self._active.on_heard(report)

    def on_carrier(self, carrier: Carrier, *, red: bool = True, nack: bool = True) -> None:
        """What is known of the path is not taken along, but for the rung."""
        if carrier is not self._carrier and carrier is Carrier.DATA:
            self._data.begin(self._rung)
        elif carrier is not self._carrier:
            self._audio = self._anew()
        self._carrier = carrier
        if carrier is Carrier.AUDIO:
            self._audio.on_carrier(carrier, red=red, nack=nack)

    def plan(self, now: float) -> Plan:
        """Of the one whose carrier it is."""
        plan = self._active.plan(now)
        self._rung = plan.rung
        return plan

    def _anew(self) -> Decider:
        """For a path of which nothing is known any more."""
        decider = Decider(profile=self._profile, start=nearest_rung(self._rung), top=self._top)
        if self._compute is not None:
            decider.on_compute(self._compute)
        if self._content is not None:
            decider.on_content(self._content)
        return decider

    @property
    def _active(self) -> Decider | AheadDecider:
        return self._data if self._carrier is Carrier.DATA else self._audio


def nearest_rung(rung: Rung) -> Rung:
    """The audio track's rung with this bitrate, or the next lower."""
    return next((own for own in reversed(RUNGS) if own.bitrate <= rung.bitrate), LOWEST)
