"""One listener: a peer connection, a speaker, a carrier and the controller that steers them; from offer to goodbye."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Collection
from typing import Any

from adaptive.control.base import Controller
from adaptive.control.ladder import wire_rate
from adaptive.control.plan import Carrier, Codec, Plan, Protection
from adaptive.control.profiles import Profile
from adaptive.control.registry import load_controller
from adaptive.speech.renderer import Renderer

from .carrying import Carrying, Wanted
from .channels import Channels
from .datagram_filter import LabNetwork
from .events import Events
from .feedback.path import PathFacts
from .inbox import Inbox, TokenBucket
from .media.audio_track import OpusAudioTrack
from .media.sending import OVERHEAD_BYTES, Sending
from .messages import Accepted, CarrierMessage, Event, Limits, Message, Refused, SayMessage, VerbMessage
from .observer import Observer
from .peer import Peer
from .present import steering_as_dict
from .reporting import Reporting
from .settings import Settings
from .signalling.sdp import Fragment, Offer
from .speaker import Speaker
from .steering import Steered, Steering

log = logging.getLogger(__name__)

STEP_S = 0.2
"""Between two plans, unless a report shows a queue, which is answered at once."""
CONNECTING_S = 30.0
"""A listener that has not connected by then is closed."""
VANISHED_S = 30.0
"""So is one of which nothing was heard for so long; ICE consent (RFC 7675) runs out in the same time."""
NARROW = 40_000
"""bit/s on the wire; a plan of no more than that leaves little room for pings and events beside the speech."""


class Listener(Steered):
    """Made for one offer. Everything happens on the event loop that made it."""

    def __init__(
        self,
        *,
        settings: Settings,
        renderer: Renderer,
        profile: Profile,
        voice: str,
        observer: Observer,
        carrier: Wanted = "auto",
        codecs: Collection[Codec] = tuple(Codec),
        controller: Controller | None = None,
        on_closed: Callable[[Listener], None],
    ) -> None:
        """`codecs` are those it plays on a data track. `on_closed` is called once, when nothing is left of it. Without
        a `controller` the settings name one."""
        self.id = secrets.token_urlsafe(24)
        self.profile = profile
        self.voice = voice
        self.state = "connecting"
        self.events = Events()
        self.network: LabNetwork | None = None
        """The lab's, where the server has a lab and the offer was answered."""
        self.limits = Limits(max_text_chars=settings.max_text_chars, max_message_bytes=settings.max_message_bytes)
        self._settings = settings
        self._observer = observer
        self._on_closed = on_closed
        self.requests = TokenBucket(settings.max_messages_per_s)  # over HTTP; the data channels have their own
        self._clock = asyncio.get_running_loop().time
        self._created_at = self._clock()
        self._connected_at: float | None = None
        self._facts: PathFacts | None = None
        self._takes = {"red": False, "nack": False}
        self._closing: asyncio.Task[None] | None = None
        controller = controller or load_controller(settings.controller, profile=profile)
        self._steering = Steering(controller, apply=self._apply)
        self._speaker = Speaker(
            renderer=renderer, profile=profile, voice=voice, emit=self._tell, clock=self._clock, limits=self.limits
        )
        self._track = OpusAudioTrack(self._speaker.take, clock=self._clock)
        self._speaker.wake = self._track.wake
        self._reporting = Reporting(self._steering, self._speaker, observer, hurry=self._hurry)
        self.carrying = Carrying(
            self._speaker,
            wanted=carrier,
            codecs=codecs,
            clock=self._clock,
            on_carrier=self._carried,
            on_network=self._reporting.ahead,
            on_heard=self._steering.on_heard,
        )
        inbox = Inbox(
            limits=self.limits,
            rate=settings.max_messages_per_s,
            clock=self._clock,
            on_message=self.do,
            on_refused=self.refuse,
        )
        self._channels = Channels(inbox, self.events, self.carrying, clock=self._clock)
        self._peer = Peer(
            self._track,
            ice_servers=settings.ice_servers,
            loopback=settings.loopback,
            on_state=self._peer_state,
            on_channel=self._channels.offered,
        )
        self._loop = asyncio.create_task(self._run(), name=f"listener {self.id[:6]}")

    async def answer(self, offer: Offer) -> str:
        """The answer to its offer. Raises `Refused`."""
        answer, takes = await self._peer.answer(offer)
        self._facts = self._channels.facts = PathFacts(
            self._peer.sender,
            element=takes.transport_wide,
            overhead=OVERHEAD_BYTES,
            clock=self._clock,
            sent_rate=lambda: self.sent.sent_rate,
            on_network=self._reporting.network,
            on_heard=self._reporting.heard,
            on_rtt=self._observer.round_trip,
            on_repeat=self.sent.repeated,
        )
        if takes.red is not None:
            self._track.use_red(takes.opus)
        if takes.transport_wide is not None and self._settings.shadow:
            red, lookahead = takes.red is not None, self._track.lookahead
            self._track.watch = self._facts.shadow(red=red, lookahead=lookahead, every_s=STEP_S).left
        if self._steering.plan is not None:
            self._ask(self._steering.plan)
        self._takes = {"red": takes.red is not None, "nack": takes.nack}
        self._steering.on_carrier(Carrier.AUDIO, **self._takes)
        if self._settings.lab:
            self.network = LabNetwork(self._peer.pc)
        return answer

    async def trickle(self, fragment: Fragment) -> None:
        """Takes candidates that came late. Raises `Refused`."""
        await self._peer.add(fragment)

    def say(self, message: SayMessage) -> Accepted:
        """Accepts text. Raises `Refused`."""
        if self._closing is not None:
            raise Refused(404, "This listener is gone.")
        if message.carrier != "auto":
            self.carrying.ask(Carrier(message.carrier))
        return self._speaker.say(message)

    def do(self, message: Message) -> Accepted | None:
        """Carries out any message; `Accepted` for text. Raises `Refused`."""
        if isinstance(message, VerbMessage):
            getattr(self._speaker, message.verb)(message.id)
            return None
        if isinstance(message, CarrierMessage):
            self.carrying.ask(Carrier(message.carrier))
            return None
        return self.say(message)

    def refuse(self, refused: Refused) -> None:
        """Tells the listener that a message of its own was refused."""
        self._tell("error", None, {"message": refused.sentence, "status": refused.status})

    def snapshot(self) -> dict[str, Any]:
        """Its present, as `GET /v1/listen/{id}` shows it."""
        now = self._clock()
        present = {
            "id": self.id,
            "state": self.state,
            "connected_s": None if self._connected_at is None else round(now - self._connected_at, 3),
            "profile": self.profile.name,
            "voice": self.voice,
            **self.carrying.as_dict(),
        }
        steering = steering_as_dict(self._steering, now, self._origin(now))
        speech = self._speaker.snapshot()
        return {
            **present,
            **steering,
            "speaking": speech["speaking"],
            "queue": speech["queue"],
            "sent": self.sent.as_dict(),
        }

    @property
    def age_s(self) -> float:
        """Since its offer came, s."""
        return self._clock() - self._created_at

    @property
    def sent(self) -> Sending:
        """Counts of what it was sent."""
        return self._track.stats

    async def close(self, reason: str) -> None:
        """Ends it; returns when nothing is left. `reason` is for the log."""
        await asyncio.shield(self.close_soon(reason))

    def close_soon(self, reason: str) -> asyncio.Task[None]:
        """Begins to end it, in a task that is returned."""
        self.state = "closed"
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(reason), name=f"closing {self.id[:6]}")
        return self._closing

    async def _close(self, reason: str) -> None:
        log.info("Listener %s… leaves: %s.", self.id[:6], reason)
        try:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
            self._speaker.close()
            self.carrying.close()
            await self._peer.close()
        finally:
            self.events.close()
            self._observer.forget(self.id, self.sent)
            self._on_closed(self)

    async def _run(self) -> None:
        try:
            while True:
                self._step(self._clock())
                await asyncio.sleep(STEP_S)
        except Exception:
            log.exception("Listener %s… failed.", self.id[:6])
            self.close_soon("a fault of the server")

    def _step(self, now: float) -> None:
        plan = self._steering.step(
            now, compute=self._speaker.compute_report(now), content=self._speaker.content_report(now)
        )
        self._track.apply(self.carrying.audio_plan(plan))
        if (loss := self._steering.loss) is not None:
            self.carrying.expect_loss(loss)
        if self._facts is not None:
            self._facts.tick(now, narrow=_narrow(plan))
        if self._connected_at is None:
            if now - self._created_at > CONNECTING_S:
                self.close_soon("it never connected")
        elif self._facts is not None and (last := self._facts.last_sign) is not None and now - last > VANISHED_S:
            self.close_soon("nothing was heard of it any more")  # one that reports nothing is watched by ICE consent

    def _apply(self, plan: Plan, before: Plan | None) -> None:
        self._peer.narrow(_narrow(plan))
        if self._channels.control is not None:  # before anything is told of the change
            self._channels.control.thin = _narrow(plan) or plan.protection != Protection()
        self.carrying.apply(plan)
        self._speaker.steer(plan)
        self._ask(plan)
        self._observer.plan_changed(plan)

    def _ask(self, plan: Plan) -> None:
        """What of a plan needs the connection."""
        if self._facts is None:
            return
        self._facts.retransmissions.wanted = plan.protection.nack
        if plan.playout_delay_s is not None:
            self._facts.ask_playout_delay(plan.playout_delay_s)

    def _tell(self, name: str, utterance: str | None, data: dict[str, Any]) -> None:
        if name == "interrupted" and utterance and self._track.forget(utterance) and self._facts is not None:
            self._facts.retransmissions.forget()  # nothing that left before this is sent again, in whatever way
        now = self._clock()
        position = data.get("position")
        event = Event(name=name, id=utterance, at=now - self._origin(now), position=position, data=data).as_dict()
        self.events.publish(event)
        self._observer.event(self.id, event)

    def _origin(self, now: float) -> float:
        return now if self._connected_at is None else self._connected_at

    def _peer_state(self, state: str) -> None:
        if state == "connected" and self._connected_at is None and self._closing is None:
            self._connected_at = self._clock()
            self.state = "connected"
            log.info("Listener %s… connected.", self.id[:6])
            self.carrying.connected(channels=self._peer.pc.sctp is not None)
        elif state in ("failed", "closed"):
            self.close_soon(f"its connection is {state}")

    def _carried(self, carrier: Carrier, before: Carrier | None, why: str) -> None:
        log.info("Listener %s… has the %s track: %s", self.id[:6], carrier, why)
        self._steering.on_carrier(carrier, **self._takes)
        if before is not None:
            self._tell("switched", None, {"kind": "carrier", "from": before, "to": carrier, "reason": why})

    def _hurry(self, at: float) -> None:
        if self._closing is None:
            self._step(at)


def _narrow(plan: Plan) -> bool:
    return wire_rate(plan.rung, plan.protection) <= NARROW
