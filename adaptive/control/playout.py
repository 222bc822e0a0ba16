"""How long the listener is asked to hold speech: raised early and seldom, lowered only in silence.

A change of the delay in the middle of speech is heard as stretching.
"""

import math

from .plan import Protection, Rung
from .profiles import Profile

JITTERS = 3.0
"""Times the interarrival jitter (a mean deviation, RFC 3550 section 6.4.1) that must fit."""
MARGIN_S = 0.010
STEP_S = 0.040
"""Asked for in steps of this."""
CONCEALED = 0.05
"""Share of made-up samples without loss to explain it: packets come too late."""
SILENCE_S = 2.0


class PlayoutDelay:
    """One listener's."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self.asked_s = profile.clean_playout_delay_s
        self._silent_since: float | None = None

    def sounding(self, at: float, sounding: bool) -> None:
        """Whether speech sounds at `at`."""
        if sounding:
            self._silent_since = None
        elif self._silent_since is None:
            self._silent_since = at

    def late(self) -> None:
        """The listener made up speech that was not lost: it needs one step more."""
        self.asked_s = min(self._profile.playout_delay_s, self.asked_s + STEP_S)

    def decide(self, now: float, *, rung: Rung, protection: Protection, jitter_s: float | None) -> float:
        """Seconds to ask for: the jitter, and the frames from a lost one to the one that brings its copy."""
        behind = max((1 if protection.fec else 0, *protection.copies))
        frames = behind + 1 if behind else 0
        need = MARGIN_S + JITTERS * (jitter_s or 0.0) + frames * rung.frame_ms / 1000
        least, most = self._profile.clean_playout_delay_s, self._profile.playout_delay_s
        wanted = min(most, least + STEP_S * math.ceil(max(0.0, need - least) / STEP_S - 1e-9))
        silent = self._silent_since is not None and now - self._silent_since >= SILENCE_S
        if wanted > self.asked_s or silent:
            self.asked_s = wanted
        return self.asked_s
