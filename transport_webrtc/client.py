"""A listener without a browser: connects, asks for speech, answers pings as a page does, and keeps what it heard."""

import asyncio
import json
import secrets
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx
from aiortc import RTCConfiguration, RTCDataChannel, RTCPeerConnection, RTCSessionDescription

from . import aiortc_private
from .ear import Ear


class ListenError(Exception):
    """The server cannot be reached, refuses, or is gone; the message is a sentence for people."""

    def __init__(self, sentence: str, *, status: int | None = None) -> None:
        """`status` is HTTP's, where the server refuses with one."""
        super().__init__(sentence)
        self.status = status


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
        playout_delay_s: float | None = None,
        timeout_s: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`url` is the server's address, `playout_delay_s` how long speech is held before it is played (None: as the
        server asks), `timeout_s` the longest that a request or the connecting may take."""
        self.url = url if "://" in url else f"http://{url}"
        self.events: list[dict[str, Any]] = []
        """What the server told, each with `received`, the time on this client's clock."""
        self.connected_s: float | None = None
        """From the offer until media could flow."""
        self._query = {"voice": voice, "profile": profile, "carrier": carrier}
        self._timeout_s = timeout_s
        self._clock = clock
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.AsyncClient(headers=headers, timeout=timeout_s)
        self._pc = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self._control: RTCDataChannel | None = None
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
        transceiver = self._pc.addTransceiver("audio", direction="recvonly")
        loopback = urlsplit(self.url).hostname in ("localhost", "127.0.0.1", "::1")
        aiortc_private.gather_on_loopback(transceiver.sender, always=loopback)
        self.ear.listen(transceiver.receiver)
        self._pc.on("connectionstatechange", self._wake)
        self._control = self._pc.createDataChannel("control")
        self._control.on("message", self._told)
        self._control.on("open", self._wake)
        self.ear.answer_pings(self._pc.createDataChannel("feedback", ordered=False, maxRetransmits=0))
        await self._pc.setLocalDescription(await self._pc.createOffer())
        offered = self._clock()
        answer = await self._request(
            "POST",
            self.url.rstrip("/") + "/v1/listen",
            params={name: value for name, value in self._query.items() if value is not None},
            content=self._pc.localDescription.sdp,
            headers={"Content-Type": "application/sdp", "Accept": "application/sdp"},
        )
        if answer.status_code != 201 or "location" not in answer.headers:
            raise ListenError(f"{self.url} answers, but not as Legato does; is the address right?")
        self._resource = urljoin(str(answer.url), answer.headers["location"])
        await self._pc.setRemoteDescription(RTCSessionDescription(sdp=answer.text, type="answer"))
        control = self._control
        await self._until(
            lambda: self._pc.connectionState == "connected" and control.readyState == "open",
            "The server answered, but no connection came about; is UDP blocked on the way?",
            self._timeout_s,
        )
        self.connected_s = self._clock() - offered

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

        await self._until(lambda: answer() is not None, "The server did not answer.", self._timeout_s)
        if (event := answer()) is not None and event["event"] == "error":
            raise ListenError(event["message"])
        return name

    def send(self, message: dict[str, Any]) -> None:
        """Sends any message of the control channel, such as `{"stop": true}`."""
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
        return (await self._request("GET", self._address(""))).json()

    async def network(self, changes: dict[str, Any] | None = None) -> dict[str, Any]:
        """The lab's network in front of this listener, with `changes` made where there are any."""
        if changes is None:
            return (await self._request("GET", self._address("/network"))).json()
        return (await self._request("PUT", self._address("/network"), json=changes)).json()

    async def close(self) -> None:
        """Says goodbye and leaves nothing behind; safe to repeat."""
        try:
            if self._resource is not None:
                await self._http.delete(self._resource)
        except httpx.HTTPError:
            pass  # the server notices by itself that this listener is gone
        finally:
            self._resource = None
            await self._pc.close()
            await self._http.aclose()
            await self.ear.close()

    def _address(self, below: str) -> str:
        if self._resource is None:
            raise ListenError("There is no connection to the server.")
        return self._resource + below

    async def _request(self, method: str, url: str, **arguments: Any) -> httpx.Response:
        """A request whose failure is a ListenError with a sentence."""
        try:
            response = await self._http.request(method, url, **arguments)
        except httpx.TimeoutException:
            raise ListenError(f"{self.url} did not answer within {self._timeout_s:g} s.") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            reason = f" ({error})" if str(error) else ""
            raise ListenError(f"No server can be reached at {self.url}{reason}; is legato serve running?") from error
        if response.is_error:
            raise ListenError(_refusal(response), status=response.status_code)
        return response

    async def _until(self, true: Callable[[], bool], otherwise: str, timeout_s: float) -> None:
        """Waits until something holds. Raises ListenError after `timeout_s`, or when the connection is lost."""
        try:
            async with asyncio.timeout(timeout_s), self._changed:
                while not true():
                    if self._pc.connectionState in ("failed", "closed"):
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
        self.events.append({**json.loads(raw), "received": self._clock()})
        self._wake()


def _refusal(response: httpx.Response) -> str:
    """What an answer of 4xx or 5xx says."""
    try:
        said = response.json()["error"]
    except (ValueError, KeyError, TypeError):
        return f"{response.url.copy_with(query=None)} answers {response.status_code} and is not Legato's."
    return str(said)
