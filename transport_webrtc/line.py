"""One connection of a listener: its tracks and channels, and the controller that steers them, from offer to end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from typing import Any

from adaptive.control.base import Controller
from adaptive.control.ladder import wire_rate
from adaptive.control.plan import Carrier, Codec, Plan, Protection

from .carrying import Carrying, Wanted
from .channels import Channels
from .datagram_filter import LabNetwork
from .events import Events
from .feedback.path import PathFacts
from .inbox import Inbox
from .media.audio_track import OpusAudioTrack
from .media.block import Block
from .media.sending import OVERHEAD_BYTES, Sending
from .observer import Observer
from .peer import Peer
from .reporting import Reporting
from .settings import Settings
from .signalling.sdp import Fragment, Offer
from .speaker import Speaker
from .steering import Steering
from .watching import Watching

log = logging.getLogger(__name__)

STEP_S = 0.2
"""Between two plans, unless a report shows a queue, which is answered at once."""
CALM_STEP_S, PLENTY_S = 0.5, 3.0
"""The same while the listener has so much speech in store that nothing is urgent."""
CONNECTING_S = 30.0
"""A connection that does not stand by then is lost."""
VANISHED_S = 30.0
"""So is one of which nothing was heard for so long; ICE consent (RFC 7675) runs out in the same time."""
NARROW = 40_000
"""bit/s on the wire; a plan of no more than that leaves little room for pings and events beside the speech."""


class Line:
    """Carries what a speaker says from `begin` on, and nothing after `end`. Everything happens on the event loop."""

    def __init__(
        self,
        *,
        settings: Settings,
        controller: Controller,
        speaker: Speaker,
        events: Events,
        inbox: Inbox,
        observer: Observer,
        carrier: Wanted,
        codecs: Collection[Codec],
        sent: Sending,
        after: int,
        clock: Callable[[], float],
        tell: Callable[[str, str | None, dict[str, Any]], None],
        on_connected: Callable[[Line], None],
        on_lost: Callable[[Line, str], None],
        name: str,
    ) -> None:
        """`codecs` are those that the client plays on a data track. `on_lost(line, why)` is called once at most, not
        after `end`. `sent` counts what leaves; `after` is the number of the last event that the client
        knows; `name` is for the log."""
        self.network: LabNetwork | None = None
        """The lab's, where the server has a lab and the offer was answered."""
        self.connected = False
        self.facts: PathFacts | None = None
        """Once the offer was answered."""
        self._settings, self._observer, self._speaker = settings, observer, speaker
        self._tell, self._on_connected, self._on_lost = tell, on_connected, on_lost
        self._name = name
        self._clock = clock
        self._began_at: float | None = None
        self.ended = False
        """Nothing passes any more."""
        self._takes = {"red": False, "nack": False}
        self._loop: asyncio.Task[None] | None = None
        self.steering = Steering(controller, apply=self._apply)
        self.track = OpusAudioTrack(self._take, clock=clock)
        self.track.stats = sent
        self._reporting = Reporting(self.steering, speaker, observer, hurry=self._hurry)
        self.carrying = Carrying(
            speaker,
            wanted=carrier,
            codecs=codecs,
            clock=clock,
            on_carrier=self._carried,
            on_network=self._reporting.ahead,
            on_heard=self.steering.on_heard,
        )
        self._watching = Watching(
            speaker,
            clock=clock,
            matters=lambda: speaker.live.busy,
            told=lambda: self.facts,
            forget_sent=self._forget_sent,
            name=name,
        )
        self._channels = Channels(inbox, events, self.carrying, after=after, clock=clock)
        self._peer = Peer(
            self.track,
            ice_servers=settings.ice_servers,
            loopback=settings.loopback,
            on_state=self._peer_state,
            on_channel=self._channels.offered,
            on_refused=inbox.complain,
        )

    async def answer(self, offer: Offer, *, network: LabNetwork | None = None) -> str:
        """The answer to its offer; the lab's network, where there is one, is like `network`. Raises `Refused`."""
        answer, takes = await self._peer.answer(offer)
        self.facts = self._channels.facts = PathFacts(
            self._peer.sender,
            element=takes.transport_wide,
            overhead=OVERHEAD_BYTES,
            clock=self._clock,
            sent_rate=lambda: self.track.stats.sent_rate,
            on_network=self._reporting.network,
            on_heard=self._reporting.heard,
            on_rtt=self._observer.round_trip,
            on_repeat=self.track.stats.repeated,
            on_sign=self._watching.sign,
        )
        if takes.red is not None:
            self.track.use_red(takes.opus)
        if takes.transport_wide is not None and self._settings.shadow:
            red, lookahead = takes.red is not None, self.track.lookahead
            self.track.watch = self.facts.shadow(red=red, lookahead=lookahead, every_s=STEP_S).left
        self._takes = {"red": takes.red is not None, "nack": takes.nack}
        self.steering.on_carrier(Carrier.AUDIO, **self._takes)
        if self._settings.lab:
            self.network = LabNetwork(self._peer.pc)
            if network is not None:
                self.network.be_like(network)
        return answer

    def begin(self) -> None:
        """It is the listener's from now on. Call it once, when the offer is answered."""
        self._began_at = self._clock()
        self._speaker.wake = self.track.wake
        self._loop = asyncio.create_task(self._run(), name=f"listener {self._name}")

    async def trickle(self, fragment: Fragment) -> None:
        """Takes candidates that came late. Raises `Refused`."""
        await self._peer.add(fragment)

    def forget(self, utterance: str) -> None:
        """It was cut off: nothing that left before this is sent again, in whatever way."""
        if self.track.forget(utterance) and self.facts is not None:
            self.facts.retransmissions.forget()

    def end(self) -> None:
        """Nothing passes any more, at once; `close` does the rest."""
        if self.ended:
            return
        self.ended = True
        self._watching.close()
        if self._loop is not None:
            self._loop.cancel()
        self._channels.close()
        self.carrying.close()

    async def close(self) -> None:
        """Returns when nothing is left of it."""
        self.end()
        if self._loop is not None:
            await asyncio.gather(self._loop, return_exceptions=True)
        await self._peer.close()

    def _forget_sent(self) -> None:
        """What left until now is not sent again, in whatever way."""
        self.track.forget_copies()
        if self.facts is not None:
            self.facts.retransmissions.forget()

    def _take(self, ticks: int) -> Block | None:
        return None if self.ended else self._speaker.take(ticks)

    async def _run(self) -> None:
        try:
            while True:
                self._step(self._clock())
                await asyncio.sleep(gap_s(self.carrying.lead_s))
        except Exception:
            log.exception("Listener %s… failed.", self._name)
            self._lose("a fault of the server")

    def _step(self, now: float) -> None:
        plan = self.steering.step(
            now, compute=self._speaker.compute_report(now), content=self._speaker.content_report(now)
        )
        narrow = _narrow(plan) or self.carrying.slow
        self._peer.narrow(narrow)
        self.track.apply(self._watching.plan(self.carrying.audio_plan(plan, narrow=narrow)))
        self.carrying.look(now)
        if (loss := self.steering.loss) is not None:
            self.carrying.expect_loss(loss)
        if self.facts is not None:
            self.facts.tick(now, narrow=narrow, acknowledged=self.carrying.speaks)
        if not self.connected:
            if self._began_at is not None and now - self._began_at > CONNECTING_S:
                self._lose("it never connected")
        elif self.facts is not None and (last := self.facts.last_sign) is not None and now - last > VANISHED_S:
            self._lose("nothing was heard of it any more")  # one that reports nothing is watched by ICE consent

    def _apply(self, plan: Plan, before: Plan | None) -> None:
        if self._channels.control is not None:  # before anything is told of the change
            self._channels.control.thin = _narrow(plan) or plan.protection != Protection()
        self.carrying.apply(plan)
        self._speaker.steer(plan)
        if self.facts is not None:
            self.facts.retransmissions.wanted = plan.protection.nack
            if plan.playout_delay_s is not None:
                self.facts.ask_playout_delay(plan.playout_delay_s)
        self._observer.plan_changed(plan)

    def _peer_state(self, state: str) -> None:
        if self.ended:
            return
        if state == "connected" and not self.connected:
            self.connected = True
            self._on_connected(self)
            self.carrying.connected(channels=self._peer.pc.sctp is not None)
        elif state in ("failed", "closed"):
            self._lose(f"its connection is {state}")

    def _lose(self, why: str) -> None:
        if not self.ended:
            self._on_lost(self, why)

    def _carried(self, carrier: Carrier, before: Carrier | None, why: str) -> None:
        log.info("Listener %s… has the %s track: %s", self._name, carrier, why)
        self.steering.on_carrier(carrier, **self._takes)
        if before is not None:
            self._tell("switched", None, {"kind": "carrier", "from": before, "to": carrier, "reason": why})

    def _hurry(self, at: float) -> None:
        if not self.ended and self._loop is not None:
            self._step(at)


def gap_s(lead_s: float | None) -> float:
    """Between two plans for a listener with that much speech in store; None on the audio track."""
    return STEP_S if lead_s is None or lead_s < PLENTY_S else CALM_STEP_S


def _narrow(plan: Plan) -> bool:
    return wire_rate(plan.rung, plan.protection) <= NARROW
