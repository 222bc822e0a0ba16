"""The controller used unless another is asked for: fast down, slow up, one axis at a time, always with a reason."""

from .carriers import ByCarrier
from .guard import Guarded
from .ladder import RUNGS, START
from .plan import Plan, Reason, Rung
from .profiles import Profile
from .tiering import FIRST_TIER


class AdaptiveController(Guarded):
    """Reads every kind of report, and does without any of them; pure, on the time of the reports and of `plan`.

    | seen | done |
    |---|---|
    | a queue builds, or much less arrives than is sent | the rung falls to what arrives, at once; tier with it |
    | loss without a queue | in-band FEC and its hint, from 24 kb/s up; the rate stays |
    | rendering too slow for what is ready | the tier falls |
    | jitter, late packets, protection | more playout delay, within the profile |
    | no reports | nothing rises (1.5 s), the safe rung (3 s), the lowest (8 s) |
    | calm | rung, then tier, then protection come back, one change in 4 s |
    | the data track carries | the rung follows what is delivered, and the lead: `ahead` |
    """

    def __init__(self, *, profile: Profile, start: Rung = START, top: Rung = START) -> None:
        """`start` is held until reports say otherwise, `top` never exceeded; both stand in `ladder.RUNGS`."""
        safe = Plan(rung=start, tier=FIRST_TIER, reason=Reason.START, playout_delay_s=profile.clean_playout_delay_s)
        if start not in RUNGS or top not in RUNGS:
            raise ValueError("A controller starts and ends on rungs of the ladder.")
        super().__init__(ByCarrier(profile=profile, start=start, top=top), safe=safe)
