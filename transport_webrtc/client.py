"""A listener without a browser: connects, asks for speech, answers pings as a page does, and keeps what it heard on
either carrier."""

import asyncio
import json
import re
import secrets
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urljoin

from aiortc import (
    RTCBundlePolicy,
    RTCConfiguration,
    RTCDataChannel,
    RTCIceServer,
    RTCIceTransportPolicy,
    RTCPeerConnection,
    RTCSessionDescription,
)

from . import aiortc_private, aiortc_sctp
from .client_http import ClientHttp, ListenError, ice_servers
from .ear import Ear

__all__ = ["Client", "ListenError"]

NOT_LEGATO = "{} answers, but not as Legato does; is the address right?"
NO_PATH = "The server answered, but no connection came about; is UDP blocked on the way, or the TURN server wrong?"
REPEAT_S = 0.15
"""Text is said again after so long without an answer, over the channel that waits for nothing: the reliable one waits a
second and more after a loss. Its id makes that harmless."""
LONGEST_REPEAT = 1000
"""Bytes; what is longer would travel in pieces."""


class Client:
    """One native listener. Use it as `async with Client(url) as client: …`; every wait raises ListenError."""

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
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`url` is the server's address; for `insecure` and `fingerprint` see `ClientHttp`. `relay_only`: over the
        server's TURN server or not at all. `playout_delay_s` is how long speech on the audio track is held before it
        is played (None: as the server asks), `timeout_s` the longest that a request or the connecting may take."""
        self.events: list[dict[str, Any]] = []
        """What the server told, each with `received`, the time on this client's clock."""
        self.connected_s: float | None = None
        """From the offer until media could flow."""
        self._query = {"voice": voice, "profile": profile, "carrier": carrier}
        self._relay_only = relay_only
        self._timeout_s = timeout_s
        self._clock = clock
        self._http = ClientHttp(url, token=token, timeout_s=timeout_s, insecure=insecure, fingerprint=fingerprint)
        self.url = self._http.url
        self._pc: RTCPeerConnection | None = None
        self._control: RTCDataChannel | None = None
        self._feedback: RTCDataChannel | None = None
        self._resource: str | None = None
        self._changed = asyncio.Condition()
        self._waking: set[asyncio.Task[None]] = set()
        self.ear = Ear(clock, delay_s=playout_delay_s)
        """What was heard."""

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
        endpoint = self.url.rstrip("/") + "/v1/listen"
        asked = await self._http.request("OPTIONS", endpoint)
        pc = self._pc = self._make_peer(ice_servers(asked.headers.get("link", "")))
        control = self._control = self._open_channels(pc)
        await pc.setLocalDescription(await pc.createOffer())
        offered = self._clock()
        answer = await self._http.request(
            "POST",
            endpoint,
            params={name: value for name, value in self._query.items() if value is not None},
            content=pc.localDescription.sdp,
            headers={"Content-Type": "application/sdp", "Accept": "application/sdp"},
        )
        if answer.status_code != 201 or "location" not in answer.headers:
            raise ListenError(NOT_LEGATO.format(self.url))
        self._resource = urljoin(str(answer.url), answer.headers["location"])
        try:
            await pc.setRemoteDescription(RTCSessionDescription(sdp=answer.text, type="answer"))
        except (ValueError, AssertionError, LookupError) as error:
            raise ListenError(NOT_LEGATO.format(self.url)) from error
        if pc.sctp is not None:
            aiortc_sctp.keep_out_of_the_way(pc.sctp)
        await self._until(
            lambda: pc.connectionState == "connected" and control.readyState == "open", NO_PATH, self._timeout_s
        )
        self.connected_s = self._clock() - offered

    @property
    def candidates(self) -> set[str]:
        """Kinds of the addresses that were offered: `host`, `srflx`, `relay`."""
        return set(re.findall(r"a=candidate:.* typ (\w+)", self._pc.localDescription.sdp)) if self._pc else set()

    async def say(self, text: str, **fields: Any) -> str:
        """Asks for `text`; `fields` are those of the message. Returns the utterance's id once it is queued."""
        name = fields.get("id") or secrets.token_urlsafe(9)
        seen = len(self.events)
        message = {**fields, "id": name, "say": text}
        self.send(message)

        def answer() -> dict[str, Any] | None:
            for event in self.events[seen:]:
                if event["event"] == "error" or (event["event"] == "queued" and event["id"] == name):
                    return event
            return None

        repeating = None if fields.get("more") else asyncio.create_task(self._repeat(message))
        try:
            await self._until(lambda: answer() is not None, "The server did not answer.", self._timeout_s)
        finally:
            if repeating is not None:
                repeating.cancel()
        if (event := answer()) is not None and event["event"] == "error":
            raise ListenError(event["message"])
        return name

    async def interrupt(self, text: str, **fields: Any) -> str:
        """Cuts off what is sounding and speaks `text`; see `say`."""
        return await self.say(text, **{**fields, "interrupt": True})

    def send(self, message: dict[str, Any]) -> None:
        """Sends any message of the control channel, such as `{"stop": true}` or `{"carrier": "audio"}`."""
        if self._control is None or self._control.readyState != "open":
            raise ListenError("There is no connection to the server.")
        self._control.send(json.dumps(message))

    async def told(self, *names: str, id: str | None = None, timeout_s: float = 30.0) -> dict[str, Any]:
        """The first event of these names, about the utterance `id` where one is given. `timeout_s` is the longest
        that the server may say nothing at all."""
        while True:
            for event in self.events:
                if event["event"] in names and id in (None, event["id"]):
                    return event
            count = len(self.events)
            await self._until(lambda: len(self.events) > count, "The server says nothing any more.", timeout_s)  # noqa: B023

    async def snapshot(self) -> dict[str, Any]:
        """The listener's present, as the server sees it."""
        return (await self._http.request("GET", self._address(""))).json()

    async def network(self, changes: dict[str, Any] | None = None) -> dict[str, Any]:
        """The lab's network in front of this listener, with `changes` made where there are any."""
        if changes is None:
            return (await self._http.request("GET", self._address("/network"))).json()
        return (await self._http.request("PUT", self._address("/network"), json=changes)).json()

    async def close(self) -> None:
        """Says goodbye and leaves nothing behind; safe to repeat."""
        try:
            if self._resource is not None:
                await self._http.leave(self._resource)
        finally:
            self._resource = None
            if self._pc is not None:
                await self._pc.close()
            await self._http.close()
            await self.ear.close()

    def _make_peer(self, servers: list[RTCIceServer]) -> RTCPeerConnection:
        policy = RTCIceTransportPolicy.RELAY if self._relay_only else RTCIceTransportPolicy.ALL
        if self._relay_only and not any(str(server.urls).startswith("turn") for server in servers):
            raise ListenError(f"{self.url} names no TURN server, and nothing but one may be used.")
        pc = RTCPeerConnection(
            RTCConfiguration(iceServers=servers, iceTransportPolicy=policy, bundlePolicy=RTCBundlePolicy.MAX_BUNDLE)
        )
        pc.on("connectionstatechange", self._wake)
        transceiver = pc.addTransceiver("audio", direction="recvonly")
        if not self._relay_only:
            here = self._http.host in ("localhost", "127.0.0.1", "::1")
            aiortc_private.gather_on_loopback(transceiver.sender, always=here)
        self.ear.listen(transceiver.receiver)
        return pc

    def _open_channels(self, pc: RTCPeerConnection) -> RTCDataChannel:
        """The control channel."""
        control = pc.createDataChannel("control")
        control.on("message", self._told)
        control.on("open", self._wake)
        speech = None
        if self._query["carrier"] != "audio":
            speech = pc.createDataChannel("speech", ordered=False, maxRetransmits=0)
        self._feedback = pc.createDataChannel("feedback", ordered=False, maxRetransmits=0)
        self.ear.answer_on(self._feedback, speech)
        return control

    def _address(self, below: str) -> str:
        if self._resource is None:
            raise ListenError("There is no connection to the server.")
        return self._resource + below

    async def _repeat(self, message: dict[str, Any]) -> None:
        again = json.dumps({"say": message})
        while len(again) <= LONGEST_REPEAT and self._feedback is not None:
            await asyncio.sleep(REPEAT_S)
            if self._feedback.readyState == "open":
                self._feedback.send(again)

    async def _until(self, true: Callable[[], bool], otherwise: str, timeout_s: float) -> None:
        """Waits until something holds. Raises ListenError after `timeout_s`, or when the connection is lost."""
        try:
            async with asyncio.timeout(timeout_s), self._changed:
                while not true():
                    if self._pc is None or self._pc.connectionState in ("failed", "closed"):
                        raise ListenError("The connection to the server is lost.")
                    await self._changed.wait()
        except TimeoutError:
            raise ListenError(otherwise) from None

    def _wake(self) -> None:
        """Lets those who wait look again."""

        async def notify() -> None:
            async with self._changed:
                self._changed.notify_all()

        task = asyncio.ensure_future(notify())
        self._waking.add(task)
        task.add_done_callback(self._waking.discard)

    def _told(self, raw: str | bytes) -> None:
        event = {**json.loads(raw), "received": self._clock()}
        if event["event"] == "switched" and event.get("kind") == "carrier":
            self.ear.carried(event["to"])
        self.events.append(event)
        self._wake()
