"""All listeners of a server: made within the limits, found by their id, closed together."""

import asyncio
from collections.abc import Callable, Collection, Iterator

from adaptive.control.base import Controller
from adaptive.control.plan import Codec
from adaptive.control.profiles import PROFILES, Profile
from adaptive.speech.renderer import Renderer

from .carrying import Wanted
from .listener import Listener
from .messages import Refused
from .observer import Observer
from .sentences import shorten
from .settings import Settings
from .signalling.sdp import Offer

YIELDS_AFTER_S = 2.0
"""A listener that has not connected by then makes room for a newcomer; ICE and DTLS take a few round trips."""


class Listeners:
    """Owns its listeners."""

    def __init__(
        self,
        settings: Settings,
        renderer: Renderer,
        observer: Observer,
        *,
        controller: Callable[[Profile], Controller] | None = None,
        most_connecting: int | None = None,
    ) -> None:
        """`controller` makes one for each listener; without it the settings name it. `most_connecting` listeners may be
        on their way in at a time, without it a quarter of all: else whoever only sends offers would fill the server.
        """
        self._settings = settings
        self._renderer = renderer
        self._observer = observer
        self._controller = controller
        self._most_connecting = most_connecting or min(max(settings.max_listeners // 4, 4), 16)
        self._by_id: dict[str, Listener] = {}
        self._most_away = max(settings.max_listeners // 2, 1)
        self.draining = False
        """Nobody new is taken."""

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Listener]:
        return iter(tuple(self._by_id.values()))

    def get(self, listener_id: str) -> Listener:
        """Raises `Refused` with status 404."""
        listener = self._by_id.get(listener_id)
        if listener is None:
            raise Refused(
                404, "There is no such listener; it may have left. POST an offer to /v1/listen for a new one."
            )
        return listener

    async def welcome(
        self,
        offer: Offer,
        *,
        voice: str | None,
        profile: str | None,
        carrier: Wanted = "auto",
        codecs: Collection[Codec] = tuple(Codec),
    ) -> tuple[Listener, str]:
        """A new listener and the answer to its offer; `codecs` are those it plays on a data track. Raises `Refused`."""
        profile = profile or self._settings.profile
        voice = voice or self._settings.first_voice
        if profile not in PROFILES:
            raise Refused(400, f"There is no profile '{shorten(profile)}'; there are: {', '.join(PROFILES)}.")
        voices = [info.name for info in self._renderer.status().voices]
        if voices and voice not in voices:
            raise Refused(400, f"There is no voice '{shorten(voice)}' here; there are: {', '.join(voices)}.")
        if self.draining:
            raise Refused(503, "This server is shutting down; try again in a moment.")
        if len(self._by_id) >= self._settings.max_listeners and not self._yield_away():
            most = self._settings.max_listeners
            raise Refused(503, f"This server is full: it takes {most} listeners. Try again later.")
        self._make_room()
        listener = Listener(
            settings=self._settings,
            renderer=self._renderer,
            profile=PROFILES[profile],
            voice=voice,
            carrier=carrier,
            codecs=codecs,
            observer=self._observer,
            controller=self._controller,
            on_away=self._bound_away,
            on_closed=self._forget,
        )
        self._by_id[listener.id] = listener
        try:
            return listener, await listener.answer(offer)
        except BaseException:
            await listener.close("its offer was not answered")
            raise

    async def take_over(
        self, token: str, offer: Offer, *, carrier: Wanted, codecs: Collection[Codec], kept: bool, after: int
    ) -> tuple[Listener, str]:
        """The listener that the token opens, and the answer to the offer of its new connection: see
        `Listener.take_over`. Raises `Refused`, with status 404 where it opens none."""
        now = asyncio.get_running_loop().time()
        found = [listener for listener in self if listener.resumption.opens(token, now)]
        if not found or found[0].state == "closed":
            raise Refused(
                404,
                "This token opens nothing: it was used, it expired, or its listener has left. "
                "POST an offer to /v1/listen without takeover, and say again what is to be heard.",
            )
        if self.draining:
            raise Refused(503, "This server is shutting down; try again in a moment.")
        answer = await found[0].take_over(token, offer, carrier=carrier, codecs=codecs, kept=kept, after=after)
        return found[0], answer

    async def close(self) -> None:
        """Says goodbye to all of them."""
        self.draining = True
        await asyncio.gather(*(listener.close("the server is shutting down") for listener in self))

    def _make_room(self) -> None:
        """Closes whoever has been connecting for longest, where too many are. Raises `Refused` where none is late."""
        connecting = [listener for listener in self if listener.state == "connecting"]
        if len(connecting) < self._most_connecting:
            return
        oldest = max(connecting, key=lambda listener: listener.age_s)
        if oldest.age_s < YIELDS_AFTER_S:
            raise Refused(503, f"{len(connecting)} listeners are connecting at this moment. Try again in a moment.")
        oldest.close_soon("others want to connect, and it has not")

    def _away(self) -> list[Listener]:
        """Who is away, the longest first."""
        return sorted((one for one in self if one.state == "away"), key=lambda one: -one.away_s)

    def _yield_away(self) -> bool:
        """Who has been away for longest makes room for somebody who is here; whether there was anyone."""
        away = self._away()
        if away:
            away[0].close_soon("somebody else wants to hear, and it is away")
        return bool(away)

    def _bound_away(self, listener: Listener) -> None:
        """One more is away: beyond half of all listeners the longest away are let go."""
        away = self._away()
        for one in away[: max(len(away) - self._most_away, 0)]:
            one.close_soon("too many are away")

    def _forget(self, listener: Listener) -> None:
        self._by_id.pop(listener.id, None)
