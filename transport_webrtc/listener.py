"""One listener: what it is to hear, and the connection over which it hears it; from offer to goodbye."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Collection
from typing import Any

from adaptive.control.base import Controller
from adaptive.control.plan import Carrier, Codec
from adaptive.control.profiles import Profile
from adaptive.control.registry import load_controller
from adaptive.speech.renderer import Renderer

from .carrying import Carrying, Wanted
from .datagram_filter import LabNetwork
from .events import Events
from .inbox import Inbox, TokenBucket
from .line import Line
from .media.data_track import DataTrack
from .media.sending import Sending
from .messages import Accepted, CarrierMessage, Event, Limits, Message, Refused, SayMessage, VerbMessage
from .observer import Observer
from .present import steering_as_dict
from .resumption import Resumption
from .settings import Settings
from .signalling.sdp import Fragment, Offer
from .speaker import Speaker
from .steering import Steered

log = logging.getLogger(__name__)


class Listener(Steered):
    """Made for one offer; whoever has its token may go on with another connection. Everything happens on the event loop
    that made it."""

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
        controller: Callable[[Profile], Controller] | None = None,
        on_away: Callable[[Listener], None],
        on_closed: Callable[[Listener], None],
    ) -> None:
        """`codecs` are those it plays on a data track. `on_away` is called when its connection is gone, `on_closed`
        once, when nothing is left of it. Without a `controller` the settings name one."""
        self.id = secrets.token_urlsafe(24)
        self.profile = profile
        self.voice = voice
        self.state = "connecting"
        self.events = Events()
        self.sent = Sending()
        """Counts of what it was sent."""
        self.limits = Limits(max_text_chars=settings.max_text_chars, max_message_bytes=settings.max_message_bytes)
        self._settings = settings
        self._observer = observer
        self._controller = controller
        self._lines = 0
        self._on_away, self._on_closed = on_away, on_closed
        self.requests = TokenBucket(settings.max_messages_per_s)  # over HTTP; the data channels have their own
        self._clock = asyncio.get_running_loop().time
        self._created_at = self._clock()
        self._connected_at: float | None = None
        self._closing: asyncio.Task[None] | None = None
        self.resumption = Resumption(life_s=profile.token_life_s)
        self._kept: DataTrack | None = None
        """Of a player that may go on with what it has."""
        self._expiry: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()
        """Earlier connections."""
        self._speaker = Speaker(
            renderer=renderer, profile=profile, voice=voice, emit=self._tell, clock=self._clock, limits=self.limits
        )
        self._inbox = Inbox(
            limits=self.limits,
            rate=settings.max_messages_per_s,
            clock=self._clock,
            on_message=self.do,
            on_refused=self.refuse,
        )
        self._line = self._make_line(carrier, codecs)
        self._steering = self._line.steering

    async def answer(self, offer: Offer) -> str:
        """The answer to its offer. Raises `Refused`."""
        answer = await self._line.answer(offer)
        self._line.begin()
        return answer

    async def take_over(
        self, token: str, offer: Offer, *, carrier: Wanted, codecs: Collection[Codec], kept: bool, after: int
    ) -> str:
        """Another connection has the speech from now on, and the one before it is closed, whatever it believes of
        itself; the answer. `kept`: the same player goes on with what it has. `after`: number of the last event that the
        client knows. Raises `Refused`, and then nothing has changed."""
        self.resumption.begin(token, self._clock())
        line = self._make_line(carrier, codecs, after)
        try:
            answer = await line.answer(offer, network=self.network)
            if self._closing is not None:
                raise Refused(404, "This listener is gone. POST an offer to /v1/listen for a new one.")
        except BaseException:
            self.resumption.failed()
            await line.close()
            raise
        self.resumption.answered(self._clock())
        self._leave("another connection takes its speech over")
        player, self._kept = self._kept, None
        if player is not None and kept:
            line.carrying.keep(player)
        else:
            self._speaker.ahead.lose_player()
            if player is not None:
                player.close()
        self._line, self._steering = line, line.steering
        line.begin()
        return answer

    async def trickle(self, fragment: Fragment) -> None:
        """Takes candidates that came late. Raises `Refused`."""
        await self._line.trickle(fragment)

    def say(self, message: SayMessage) -> Accepted:
        """Accepts text. Raises `Refused`."""
        if self._closing is not None:
            raise Refused(404, "This listener is gone.")
        if message.carrier != "auto":
            self.carrying.of_turn.check(Carrier(message.carrier))
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
        now, speech = self._clock(), self._speaker.snapshot()
        return {
            "id": self.id,
            "state": self.state,
            "connected_s": None if self._connected_at is None else round(now - self._connected_at, 3),
            "profile": self.profile.name,
            "voice": self.voice,
            **self.carrying.as_dict(),
            **steering_as_dict(self._steering, now, self._origin(now)),
            "speaking": speech["speaking"],
            "queue": speech["queue"],
            "sent": self.sent.as_dict(),
        }

    @property
    def age_s(self) -> float:
        """Since its offer came, s."""
        return self._clock() - self._created_at

    @property
    def session(self) -> str:
        """Names its connection among those that it had."""
        return f"{self.id[:12]}-{self._lines}"

    @property
    def away_s(self) -> float:
        """For how long it has been away, s; 0 while it is there."""
        since = self.resumption.away_since
        return 0.0 if since is None else self._clock() - since

    @property
    def line(self) -> Line:
        """Its connection."""
        return self._line

    @property
    def carrying(self) -> Carrying:
        """Which carrier has its speech."""
        return self._line.carrying

    @property
    def network(self) -> LabNetwork | None:
        """The lab's, where the server has a lab and the offer was answered."""
        return self._line.network

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
            if self._expiry is not None:
                self._expiry.cancel()
            self._line.end()
            if self._kept is not None:
                self._kept.close()
            self._speaker.close()
            await asyncio.gather(self._line.close(), *self._ending)
        finally:
            self.events.close()
            self._observer.forget(self.id, self.sent)
            self._on_closed(self)

    def _make_line(self, carrier: Wanted, codecs: Collection[Codec], after: int = 0) -> Line:
        self._lines += 1
        made = self._controller and self._controller(self.profile)
        return Line(
            settings=self._settings,
            controller=made or load_controller(self._settings.controller, profile=self.profile),
            speaker=self._speaker,
            events=self.events,
            inbox=self._inbox,
            observer=self._observer,
            carrier=carrier,
            codecs=codecs,
            sent=self.sent,
            after=after,
            clock=self._clock,
            tell=self._tell,
            on_connected=self._connected,
            on_lost=self._lost,
            name=self.id[:6],
        )

    def _tell(self, name: str, utterance: str | None, data: dict[str, Any]) -> None:
        if name == "interrupted" and utterance:
            self._line.forget(utterance)
        now = self._clock()
        position = data.get("position")
        event = Event(name=name, id=utterance, at=now - self._origin(now), position=position, data=data).as_dict()
        self.events.publish(event)
        self._observer.event(self.id, event)

    def _origin(self, now: float) -> float:
        return now if self._connected_at is None else self._connected_at

    def _connected(self, line: Line) -> None:
        if self._closing is not None:
            return
        if self._connected_at is None:
            self._connected_at = self._clock()
        elif self.state == "away":
            self._observer.taken_over()
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None
        self.state = "connected"
        self.resumption.arrived()
        log.info("Listener %s… connected.", self.id[:6])

    def _lost(self, line: Line, why: str) -> None:
        if self._closing is not None or line is not self._line:
            return
        if self._connected_at is None:
            self.close_soon(why)
        else:
            self._leave(why)
            self._on_away(self)

    def _leave(self, why: str) -> None:
        """Its connection is no more: what it is to hear is kept for whoever takes it over."""
        line, now = self._line, self._clock()
        if not line.ended:
            self._kept = line.carrying.part()
            line.end()
            self._speaker.away("outage")
            task = asyncio.create_task(line.close(), name=f"ending {self.id[:6]}")
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
        log.info("Listener %s… is away: %s.", self.id[:6], why)
        if self._connected_at is None:
            return  # it is still connecting
        self.state = "away"
        until = self.resumption.left(now)
        if self._expiry is None:
            self._expiry = asyncio.get_running_loop().call_later(until - now, self.close_soon, "it stayed away")
