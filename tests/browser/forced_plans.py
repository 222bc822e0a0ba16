"""A controller, installed as anybody's would be, that goes through the same plans whatever the network is like."""

from adaptive.control.plan import Bandwidth, Plan, Reason, Rung
from adaptive.control.profiles import Profile

HOLD_S = 0.8
RUNGS = (
    Rung(bitrate=32_000, bandwidth=Bandwidth.FB, frame_ms=20),
    Rung(bitrate=12_000, bandwidth=Bandwidth.WB, frame_ms=60),
    Rung(bitrate=24_000, bandwidth=Bandwidth.SWB, frame_ms=40),
    Rung(bitrate=16_000, bandwidth=Bandwidth.WB, frame_ms=20),
)
TIERS = ("full", "light", "mixed")


class ForcedController:
    """Changes rung and tier every `HOLD_S` seconds."""

    def __init__(self, *, profile: Profile) -> None:
        self._begun: float | None = None

    def _ignore(self, fact: object) -> None:
        """Nothing moves it."""

    on_network = on_compute = on_content = on_heard = on_carrier = _ignore

    def plan(self, now: float) -> Plan:
        """The plan whose turn it is."""
        if self._begun is None:
            self._begun = now
        turn = int((now - self._begun) / HOLD_S)
        return Plan(rung=RUNGS[turn % len(RUNGS)], tier=TIERS[turn % len(TIERS)], reason=Reason.FORCED)
