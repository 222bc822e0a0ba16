"""A controller that never changes its mind: the yardstick for the others, and for tests that force a plan."""

from dataclasses import replace

from .ladder import START, with_fec
from .plan import Bandwidth, Carrier, Plan, Protection, Reason, Rung
from .profiles import Profile
from .reports import ComputeReport, ContentReport, HeardReport, NetworkReport


class FixedController:
    """One rung, one protection and one tier, whatever happens; only the carrier is followed."""

    def __init__(
        self,
        *,
        profile: Profile,
        rung: Rung = START,
        protection: Protection | None = None,
        tier: str | None = None,
    ) -> None:
        """Without a `tier` the best of the sounding voice's is taken."""
        self._profile = profile
        self._tier = tier
        self._plan = Plan(
            rung=rung,
            tier=tier or "full",
            reason=Reason.FORCED,
            protection=protection or Protection(),
            playout_delay_s=profile.clean_playout_delay_s,
        )

    @classmethod
    def from_text(cls, text: str, *, profile: Profile) -> "FixedController":
        """`24000` or `32000+fec`: bit/s at 20 ms, fullband from 24 kb/s. Raises ValueError with a sentence."""
        bitrate, _, extra = text.partition("+")
        if extra not in ("", "fec") or not bitrate.isdecimal() or not 6_000 <= int(bitrate) <= 510_000:
            raise ValueError(f"A fixed controller is asked for as fixed:24000 or fixed:32000+fec, not as fixed:{text}.")
        bandwidth = Bandwidth.FB if int(bitrate) >= 24_000 else Bandwidth.WB
        rung = Rung(bitrate=int(bitrate), bandwidth=bandwidth, frame_ms=20)
        if not extra:
            return cls(profile=profile, rung=rung)
        return cls(profile=profile, rung=with_fec(rung), protection=Protection(fec=True, loss_hint=10))

    def on_network(self, report: NetworkReport) -> None:
        """Nothing."""

    def on_compute(self, report: ComputeReport) -> None:
        """The names of the tiers are all it wants."""
        if self._tier is None and report.tiers and report.tiers[0] != self._plan.tier:
            self._plan = replace(self._plan, tier=report.tiers[0])

    def on_content(self, report: ContentReport) -> None:
        """Nothing."""

    def on_heard(self, report: HeardReport) -> None:
        """Nothing."""

    def on_carrier(self, carrier: Carrier, *, red: bool = True, nack: bool = True) -> None:
        """Playout delay is asked for on the audio track, lead given on the data track."""
        audio = carrier is Carrier.AUDIO
        self._plan = replace(
            self._plan,
            carrier=carrier,
            playout_delay_s=self._profile.clean_playout_delay_s if audio else None,
            lead_s=0.0 if audio else self._profile.lead_s,
        )

    def plan(self, now: float) -> Plan:
        """Always the same."""
        return self._plan
