"""How long the listener is asked to hold speech: raised early and seldom, lowered in silence, else late and slowly.

A change of the delay in the middle of speech is heard as stretching.
"""

from .profiles import Profile

STEP_S = 0.040
"""Asked for in steps of this."""
CONCEALED = 0.05
"""Share of made-up samples without loss to explain it: packets come too late."""
SILENCE_S = 2.0
UNNEEDED_S = 5.0
"""Speech in which less would have done all the time: then a step less is asked for, and a step more every so often."""
EVERY_S = 1.0
FILLING_S = 3.0
"""So long a receiver takes to fill its buffer by 240 ms with what it makes longer (a tenth, measured in Chromium)."""


class PlayoutDelay:
    """One listener's."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self.asked_s = profile.clean_playout_delay_s
        self._silent_since: float | None = None
        self._needed_at = float("-inf")
        """When what is asked for was needed last."""
        self._raised_at = float("-inf")

    def sounding(self, at: float, sounding: bool) -> None:
        """Whether speech sounds at `at`."""
        if sounding:
            self._silent_since = None
        elif self._silent_since is None:
            self._silent_since = at

    def silent(self, now: float) -> bool:
        """Nothing has sounded for so long that the delay may be lowered unheard."""
        return self._silent_since is not None and now - self._silent_since >= SILENCE_S

    def filling(self, now: float) -> bool:
        """The listener makes longer what it hears, to hold more of it."""
        return now - self._raised_at < FILLING_S

    def late(self) -> None:
        """The listener made up speech that was not lost: it needs one step more."""
        self.asked_s = min(self._profile.playout_delay_s, self.asked_s + STEP_S)

    def decide(self, now: float, wanted_s: float) -> float:
        """Seconds to ask for where `wanted_s` are needed."""
        wanted_s = max(self._profile.clean_playout_delay_s, min(self._profile.playout_delay_s, wanted_s))
        if wanted_s >= self.asked_s:
            self._needed_at = now
        if wanted_s > self.asked_s:
            self._raised_at = now
        if wanted_s > self.asked_s or (self.silent(now) and now - self._needed_at >= SILENCE_S):
            self.asked_s = wanted_s
        elif now - self._needed_at >= UNNEEDED_S:
            self.asked_s = max(wanted_s, round(self.asked_s - STEP_S, 3))
            self._needed_at = now - UNNEEDED_S + EVERY_S
        return self.asked_s
