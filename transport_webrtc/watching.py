"""Holds the speech of the audio track while it cannot reach the listener, and lets it go on when something arrives."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace

from adaptive.control.plan import Plan

from .carrying import OUTAGE
from .feedback.outage import ASK_S, Outage
from .speaker import Speaker

log = logging.getLogger(__name__)

PROBE_S = 0.2
"""Between packets of silence by which the way back is found."""


class Watching:
    """One connection's, from its first sign until `close`. Used from the event loop only."""

    def __init__(
        self,
        speaker: Speaker,
        *,
        clock: Callable[[], float],
        matters: Callable[[], bool],
        arrived_until: Callable[[float], float | None],
        on_out: Callable[[], None],
        name: str,
    ) -> None:
        """`matters()`: speech is on its way on the audio track; idle, silence is thin and says little.
        `arrived_until(before)`: what left by then arrived, of all that left by `before`. `on_out` is called when an
        outage begins, after the speech was held; `name` is for the log."""
        self._speaker = speaker
        self._clock = clock
        self._matters = matters
        self._arrived_until = arrived_until
        self._on_out = on_out
        self._name = name
        self._outage = Outage()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def out(self) -> bool:
        """The listener is out of reach."""
        return self._outage.since is not None

    def plan(self, plan: Plan) -> Plan:
        """The plan for the audio track: out of reach it only probes."""
        return replace(plan, idle_gap_s=PROBE_S) if self.out else plan

    def sign(self, now: float, reached: float | None) -> None:
        """Something came of the listener. `reached`: what left by then arrived, by what it says; None where it does not
        say. What is only late, and not lost, arrives before anything that left in the outage does."""
        if self._closed:
            return
        since = self._outage.since
        if since is None:
            self._outage.sign(now)
            self._speaker.live.arrived(reached, watched=self._outage.watched)
            self._arm()
        elif reached is None or reached > since:
            self._outage.sign(now)
            log.info("Listener %s… is heard of again after %.1f s.", self._name, now - since)
            self._speaker.live.arrived(self._arrived_until(since), watched=self._outage.watched)
            self._speaker.back(OUTAGE)
            self._arm()

    def close(self) -> None:
        """Watches no more; speech that is held stays so."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ask(self) -> None:
        self._timer = None
        now = self._clock()
        if self._matters() and self._outage.ask(now):
            log.info("Listener %s… is out of reach.", self._name)
            self._speaker.away(OUTAGE)
            self._on_out()
        else:
            self._arm()

    def _arm(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(ASK_S, self._ask)
