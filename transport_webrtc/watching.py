"""Holds the speech of the audio track while it cannot reach the listener, and lets it go on when something arrives."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from adaptive.control.ladder import LOWEST
from adaptive.control.plan import Plan, Protection

from .carrying import OUTAGE
from .feedback.outage import ASK_S, Outage
from .speaker import Speaker

log = logging.getLogger(__name__)

PROBE_S = 0.2
"""Between packets of silence by which the way back is found."""
GAP_S = 0.2
"""Lost in one piece, so much may be words."""
CUT_S = 0.25
"""So much shows a path that loses what it cannot carry: more than between two packets of silence, of which one is lost
now and then."""
AHEAD_S, VERDICT_S = 0.5, 0.5
"""An answer to a ping so much newer than the newest word on what arrived waits for that word, but no longer."""
BEHIND_S = 0.4
"""In a queue of so much speech goes silent."""
ASKED_S = 0.3
"""What was lost and is asked for again is there by then."""


class Told(Protocol):
    """What a listener tells of packets: see `PathFacts`."""

    @property
    def queue_s(self) -> float:
        """How much longer than the least a packet took of which it was told last, at most."""

    def arrived_until(self, before: float) -> float | None:
        """Of those that left by then, when the newest left that arrived; None where nobody says."""

    def missing(self, since: float) -> list[tuple[float, float]]:
        """Runs that never arrived though later ones did: when the one before left, and when the last one did."""


class Watching:
    """One connection's, from its first sign until `close`. Used from the event loop only."""

    def __init__(
        self,
        speaker: Speaker,
        *,
        clock: Callable[[], float],
        matters: Callable[[], bool],
        told: Callable[[], Told | None],
        forget_sent: Callable[[], None],
        name: str,
    ) -> None:
        """`matters()`: speech is on its way on the audio track; idle, silence is thin and says little. `forget_sent` is
        called where nothing that left until then may be sent again in any way; `name` is for the log."""
        self._speaker = speaker
        self._clock = clock
        self._matters = matters
        self._told = told
        self._forget_sent = forget_sent
        self._name = name
        self._outage = Outage()
        self._plan: Plan | None = None
        self._reached: float | None = None
        """What left by then arrived, or is seen to."""
        self._stalled_from: float | None = None
        """The same when packets began to wait of which it is not known yet whether any was lost."""
        self._asked_until: float | None = None
        """When it shows whether what was lost came after all."""
        self._ahead_since: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def out(self) -> bool:
        """The listener is out of reach."""
        return self._outage.since is not None

    def plan(self, plan: Plan) -> Plan:
        """The plan for the audio track: out of reach it only probes; what has to wait for the path, or may have to, is
        light, so that it arrives as soon as can be."""
        self._plan = plan
        told = self._told()
        behind = told is not None and told.queue_s > BEHIND_S
        if behind or (self._outage.stalled and self._reached is not None):  # pings alone may just be late
            plan = replace(plan, rung=min(plan.rung, LOWEST, key=lambda rung: rung.bitrate), protection=Protection())
        return replace(plan, idle_gap_s=PROBE_S) if self.out else plan

    def sign(self, now: float, reached: float | None) -> None:
        """Something came of the listener. `reached`: what left by then arrived, by what it says; None where it does not
        say. What is only late, and not lost, arrives before anything that left in the outage does."""
        if self._closed:
            return
        since, known = self._outage.since, self._known(now, reached)
        if since is not None and known is not None and known <= since and not self._moves(known):
            return
        stalled = self._outage.sign(now)
        if since is not None:
            log.info("Listener %s… is heard of again after %.1f s.", self._name, now - since)
            self._back(known)
        self._learn(now, known, stalled=stalled)
        self._arm()

    def close(self) -> None:
        """Watches no more; speech that is held stays so."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _known(self, now: float, reached: float | None) -> float | None:
        """What left by then arrived: who tells of packets one by one is believed, unless it fell silent."""
        told = self._told()
        newest = None if told is None else told.arrived_until(now)
        if newest is None:
            return reached
        if reached is None or reached - newest <= AHEAD_S:
            self._ahead_since = None
            return newest
        if self._ahead_since is None:
            self._ahead_since = now
        return reached if now - self._ahead_since >= VERDICT_S else newest

    def _moves(self, known: float) -> bool:
        """What left before the outage was declared arrives now: as nothing is held yet, nothing hangs on the rest."""
        held = self._speaker.live.held_at is not None or self._asked_until is not None
        return not held and self._reached is not None and known > self._reached

    def _back(self, known: float | None) -> None:
        """What was held goes on: where it was if nothing was lost, else after the last that arrived before that."""
        held_at, told = self._speaker.live.held_at, self._told()
        if held_at is not None:
            self._forget_sent()
            until = None if told is None else told.arrived_until(held_at)
            if known is not None and told is not None and self._reached is not None and until is not None:
                lost = any(last - first >= GAP_S - 1e-6 for first, last in told.missing(self._reached))
                until = until if lost else held_at
            self._speaker.live.arrived(until, watched=self._outage.watched)
        self._speaker.back(OUTAGE)

    def _learn(self, now: float, known: float | None, *, stalled: bool) -> None:
        """What arrived, and from who tells of packets one by one what did not."""
        told = self._told()
        if told is not None and known is not None and told.arrived_until(now) is not None:
            if (stalled or told.queue_s > BEHIND_S) and self._stalled_from is None:
                self._stalled_from = self._reached
            known = self._reached = self._judged(now, known, told)
        self._speaker.live.arrived(known, watched=self._outage.watched)

    def _judged(self, now: float, known: float, told: Told) -> float:
        """Whether anything was lost since it was last known what arrived, and whether the path is one that loses. The
        time by which what left arrived or will not, which is no later than `known`."""
        before = known if self._reached is None else self._reached
        if known - before >= GAP_S - 1e-6:
            runs = told.missing(before)
            if any(last - first >= CUT_S for first, last in runs):
                self._outage.cut()
                self._stalled_from = None
            if self._say_again(now, runs):
                return before
        if self._stalled_from is not None and known - self._stalled_from >= CUT_S:
            self._outage.kept(now)
            self._stalled_from = None
        return max(known, before)

    def _say_again(self, now: float, runs: list[tuple[float, float]]) -> bool:
        """Words that were lost are said again, unless the receiver has copies of them, or gets them where it asks;
        whether that is not known yet."""
        plan = self._plan
        copied_s = 0.0
        if plan is not None and plan.protection.copies:
            copied_s = max(plan.protection.copies) * plan.rung.frame_ms / 1000
        runs = [(first, last - copied_s) for first, last in runs if last - copied_s - first >= GAP_S - 1e-6]
        if not runs:
            self._asked_until = None
            return False
        if plan is not None and plan.protection.nack and self._asked_until is None:
            self._asked_until = now + ASKED_S
        if self._asked_until is not None and now < self._asked_until:
            return True
        self._asked_until = None
        if any(self._speaker.live.lost(first, last) for first, last in runs):
            self._forget_sent()
        return False

    def _ask(self) -> None:
        self._timer = None
        now = self._clock()
        if self._matters() and self._outage.ask(now):
            log.info("Listener %s… is out of reach.", self._name)
            self._speaker.away(OUTAGE, finish=True)
            self._forget_sent()
        else:
            self._arm()

    def _arm(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(ASK_S, self._ask)
