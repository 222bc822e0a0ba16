"""A listener without a browser: connects, asks for speech, answers pings as a page does, and keeps what it heard on
either carrier."""

import asyncio
import json
import secrets
import time
from collections.abc import Callable
from typing import Any

from aiortc import RTCIceServer

from . import aiortc_private
from .client_control import Control
from .client_http import ClientHttp, ListenError
from .client_line import ClientLine, Told
from .client_lines import ClientLines, State
from .client_resource import Resource
from .ear import Ear

__all__ = ["Client", "ListenError", "State"]

NO_CONNECTION = "There is no connection to the server."


class Client:
    """One native listener. Use it as `async with Client(url) as client: …`; every wait raises ListenError.

    A connection that is lost is taken up again by itself, with the token that the server gave: what was sent ahead
    plays on meanwhile, the speech goes on where it was heard, and what is asked for waits.
    """

    def __init__(
        self,
        url: str,
        *,
        voice: str | None = None,
        profile: str | None = None,
        carrier: str | None = None,
        token: str | None = None,
        insecure: bool = False,
        fingerprint: str | None = None,
        relay_only: bool = False,
        playout_delay_s: float | None = None,
        timeout_s: float = 10.0,
        on_state: Callable[[State, str], None] = lambda state, message: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`url` is the server's address; for `insecure` and `fingerprint` see `ClientHttp`. `relay_only`: over the
        server's TURN server or not at all. `playout_delay_s` is how long speech on the audio track is held before it
        is played (None: as the server asks), `timeout_s` the longest that a request or the connecting may take.
        `on_state(state, sentence)` is called at each change of `state`; the sentence may be empty."""
        self.events: list[dict[str, Any]] = []
        """What the server told, each with `received`, the time on this client's clock."""
        self.connected_s: float | None = None
        """From the offer until media could flow."""
        self.reconnects = 0
        """So often the connection was lost and another one had to be tried."""
        self._carrier, self._relay_only = carrier, relay_only
        self._timeout_s = timeout_s
        self._on_state = on_state
        self._clock = clock
        self._http = ClientHttp(url, token=token, timeout_s=timeout_s, insecure=insecure, fingerprint=fingerprint)
        self.url = self._http.url
        self._why = NO_CONNECTION
        """Why there is none, once it is closed."""
        self._last = 0
        """Number of the last event."""
        self._changed = asyncio.Condition()
        self._waking: set[asyncio.Task[None]] = set()
        self.ear = Ear(clock, delay_s=playout_delay_s)
        """What was heard."""
        self._resource = Resource(self._http, {"voice": voice, "profile": profile, "carrier": carrier})
        self._control = Control(self._hurry)
        self._lines = ClientLines(
            self.ear,
            self._control,
            self._resource,
            make=self._make_line,
            on_control=self._told,
            on_state=self._state_changed,
            last=lambda: self._last,
        )

    async def __aenter__(self) -> "Client":
        try:
            await self.connect()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def connect(self) -> None:
        """Offers to listen, and returns when the connection and its channels are open."""
        aiortc_private.check()
        await self._http.open()
        began = self._clock()
        await self._lines.open(within_s=self._timeout_s)
        self.connected_s = self._clock() - began

    @property
    def state(self) -> State:
        """Of the connection."""
        return self._lines.state

    @property
    def candidates(self) -> set[str]:
        """Kinds of the addresses that were offered: `host`, `srflx`, `relay`."""
        return self._lines.current.candidates if self._lines.current is not None else set()

    async def say(self, text: str, **fields: Any) -> str:
        """Asks for `text`; `fields` are those of the message. Returns the utterance's id once it is queued."""
        name = fields.get("id") or secrets.token_urlsafe(9)
        seen = len(self.events)
        self.send({**fields, "id": name, "say": text})

        def answer() -> dict[str, Any] | None:
            for event in self.events[seen:]:
                if event["event"] == "error" or (event["event"] == "queued" and event["id"] == name):
                    return event
            return None

        try:
            await self._until(lambda: answer() is not None, "The server did not answer.", self._timeout_s)
        finally:
            self._control.answered(name)
        if (event := answer()) is not None and event["event"] == "error":
            raise ListenError(event["message"])
        return name

    async def interrupt(self, text: str, **fields: Any) -> str:
        """Cuts off what is sounding and speaks `text`; see `say`."""
        return await self.say(text, **{**fields, "interrupt": True})

    def send(self, message: dict[str, Any]) -> None:
        """Sends any message of the control channel, such as `{"stop": true}` or `{"carrier": "audio"}`, or text with
        its `id`; while there is no connection it waits for one."""
        if self._lines.current is None or self.state == "closed":
            raise ListenError(self._why)
        self._control.send(message)

    async def told(self, *names: str, id: str | None = None, timeout_s: float = 30.0) -> dict[str, Any]:
        """The first event of these names, about the utterance `id` where one is given. `timeout_s` is the longest
        that the server may say nothing at all while there is a connection."""
        while True:
            for event in self.events:
                if event["event"] in names and id in (None, event["id"]):
                    return event
            count = len(self.events)
            await self._until(lambda: len(self.events) > count, "The server says nothing any more.", timeout_s)  # noqa: B023

    async def snapshot(self) -> dict[str, Any]:
        """The listener's present, as the server sees it."""
        return (await self._http.request("GET", self._resource.below(""))).json()

    async def network(self, changes: dict[str, Any] | None = None) -> dict[str, Any]:
        """The lab's network in front of this listener, with `changes` made where there are any."""
        if changes is None:
            return (await self._http.request("GET", self._resource.below("/network"))).json()
        return (await self._http.request("PUT", self._resource.below("/network"), json=changes)).json()

    async def close(self) -> None:
        """Says goodbye and leaves nothing behind; safe to repeat."""
        try:
            await self._lines.close()
        finally:
            await self._http.close()
            await self.ear.close()

    def _make_line(self, told: Told, servers: list[RTCIceServer]) -> ClientLine:
        if self._relay_only and not any(str(server.urls).startswith("turn") for server in servers):
            raise ListenError(f"{self.url} names no TURN server, and nothing but one may be used.")
        return ClientLine(
            self.ear,
            told,
            servers=servers,
            relay_only=self._relay_only,
            loopback=self._http.host in ("localhost", "127.0.0.1", "::1"),
            speech=self._carrier != "audio",
        )

    def _hurry(self, message: str) -> None:
        if self._lines.current is not None:
            self._lines.current.send(message)

    async def _until(self, true: Callable[[], bool], otherwise: str, timeout_s: float) -> None:
        """Waits until something holds. Raises ListenError after `timeout_s` with a connection, or when it is lost for
        good."""
        left_s = timeout_s
        async with self._changed:
            while not true():
                if self.state == "closed":
                    raise ListenError(self._why)
                began, counts = self._clock(), self.state != "reconnecting"
                try:
                    async with asyncio.timeout(max(left_s, 0.0) if counts else None):
                        await self._changed.wait()
                except TimeoutError:
                    raise ListenError(otherwise) from None
                left_s -= self._clock() - began if counts else 0.0

    def _wake(self) -> None:
        """Lets those who wait look again."""

        async def notify() -> None:
            async with self._changed:
                self._changed.notify_all()

        task = asyncio.ensure_future(notify())
        self._waking.add(task)
        task.add_done_callback(self._waking.discard)

    def _state_changed(self, state: State, message: str) -> None:
        if state == "closed":
            self._why = message
        self.reconnects += state == "reconnecting"
        self._on_state(state, message)
        self._wake()

    def _told(self, raw: str | bytes) -> None:
        event = {**json.loads(raw), "received": self._clock()}
        self._control.heard(event["id"])
        if event.get("number", self._last + 1) <= self._last:
            return  # it was told over the connection before
        self._last = event.get("number", self._last)
        if event["event"] == "switched" and event.get("kind") == "carrier":
            self.ear.carried(event["to"])
        self.events.append(event)
        self._wake()
