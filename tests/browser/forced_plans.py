"""A controller, installed as anybody's would be, that goes down and up again whatever the network is like."""

from adaptive.control.ladder import RUNGS
from adaptive.control.plan import Plan, Reason, Rung
from adaptive.control.profiles import Profile

HOLD_S = 1.0
LOWEST, _, SAFE, _, FAIR, _, _, GOOD, _ = RUNGS
WAY: tuple[tuple[Rung, str], ...] = (
    (GOOD, "full"),
    (LOWEST, "light"),
    (SAFE, "light"),
    (FAIR, "light"),
    (FAIR, "mixed"),
    (GOOD, "mixed"),
)
"""What the adaptive controller does when the network gets bad and good again, only faster."""


class ForcedController:
    """Changes the plan every `HOLD_S` seconds, around and around."""

    def __init__(self, *, profile: Profile) -> None:
        self._delay_s = profile.clean_playout_delay_s
        self._begun: float | None = None

    def _ignore(self, fact: object, **_: object) -> None:
        """Nothing moves it."""

    on_network = on_compute = on_content = on_heard = on_carrier = _ignore

    def plan(self, now: float) -> Plan:
        """The plan whose turn it is."""
        if self._begun is None:
            self._begun = now
        rung, tier = WAY[int((now - self._begun) / HOLD_S) % len(WAY)]
        return Plan(rung=rung, tier=tier, reason=Reason.FORCED, playout_delay_s=self._delay_s)
