"""A real server on a port of its own and real aiortc listeners, for every test that wants them."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import uvicorn
from aiortc import MediaStreamTrack, RTCConfiguration, RTCDataChannel, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError
from fastapi import FastAPI

from adaptive.speech.local import LocalRenderer
from transport_webrtc.app import create_app
from transport_webrtc.settings import Settings

pytest_plugins = ["far_servers"]

WAIT_S = 15.0


@dataclass
class RunningServer:
    """A server with the tone voice; `client` speaks to it over a real socket."""

    app: FastAPI
    url: str
    client: httpx.AsyncClient

    @property
    def listeners(self) -> Any:
        return self.app.state.listeners

    async def until(self, true: Callable[[], bool], seconds: float = WAIT_S) -> None:
        """Waits for something to become true, or fails."""
        async with asyncio.timeout(seconds):
            while not true():  # noqa: ASYNC110
                await asyncio.sleep(0.02)


class Ear:
    """A listener like any other, made of aiortc: hears, answers pings, keeps what it is told."""

    def __init__(self, client: httpx.AsyncClient, on_closed: Callable[["Ear"], None]) -> None:
        self._on_closed = on_closed
        self.pc = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.client = client
        self.location = ""
        self.answer = ""
        self.events: list[dict[str, Any]] = []
        self.control: RTCDataChannel | None = None
        self.feedback: RTCDataChannel | None = None
        self.delays: list[int] = []
        """Playout delays that the server asked for, ms."""
        self.pings = 0
        self.deaf = False
        """Answers no pings while true."""
        self._heard: list[np.ndarray] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def connect(
        self, path: str = "/v1/listen", *, channels: bool = True, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        """Offers, takes the answer and waits until both channels are open."""
        self.pc.addTransceiver("audio", "recvonly")
        self.pc.on("track", self._take)
        if channels:
            self.control = self.pc.createDataChannel("control")
            self.control.on("message", lambda raw: self.events.append(json.loads(raw)))
            self.feedback = self.pc.createDataChannel("feedback", ordered=False, maxRetransmits=0)
            self.feedback.on("message", self._ping)
        await self.pc.setLocalDescription(await self.pc.createOffer())
        response = await self.client.post(
            path,
            content=self.pc.localDescription.sdp,
            headers={"Content-Type": "application/sdp", **(headers or {})},
        )
        if response.status_code == 201:
            self.location = str(response.url.join(response.headers["location"]))
            self.answer = response.text
            await self.pc.setRemoteDescription(RTCSessionDescription(sdp=self.answer, type="answer"))
            async with asyncio.timeout(WAIT_S):
                while not self._connected():  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
        return response

    def _connected(self) -> bool:
        return self.pc.connectionState == "connected" and (self.control is None or self.control.readyState == "open")

    def send(self, message: dict[str, Any] | str | bytes) -> None:
        """Over the control channel."""
        assert self.control is not None
        self.control.send(json.dumps(message) if isinstance(message, dict) else message)

    async def told(self, name: str, seconds: float = WAIT_S, **fields: Any) -> dict[str, Any]:
        """Waits for an event with these fields."""
        async with asyncio.timeout(seconds):
            while True:
                for event in self.events:
                    if event["event"] == name and all(event.get(k) == v for k, v in fields.items()):
                        return event
                await asyncio.sleep(0.01)

    async def snapshot(self) -> dict[str, Any]:
        """What the server says of this listener."""
        return (await self.client.get(self.location)).json()

    def samples(self) -> np.ndarray:
        """All that was heard, mono, 48 kHz, full scale ±1."""
        return np.concatenate(self._heard) if self._heard else np.zeros(0, np.float32)

    async def close(self) -> None:
        """Goes without a word to the server."""
        await self.pc.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._on_closed(self)

    def _take(self, track: MediaStreamTrack) -> None:
        self._tasks.add(asyncio.create_task(self._record(track)))

    async def _record(self, track: MediaStreamTrack) -> None:
        with contextlib.suppress(MediaStreamError):
            while True:
                frame: Any = await track.recv()
                channels = len(frame.layout.channels)
                self._heard.append(frame.to_ndarray()[0, ::channels].astype(np.float32) / 32768)

    def _ping(self, raw: str) -> None:
        message = json.loads(raw)
        if "jbt" in message:
            self.delays.append(message["jbt"])
        if "p" in message and not self.deaf:
            self.pings += 1
            task = asyncio.create_task(self._pong(message))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pong(self, ping: dict[str, Any]) -> None:
        stats = (await self.pc.getStats()).values()
        inbound = next((s for s in stats if s.type == "inbound-rtp"), None)
        counters = (
            [inbound.packetsReceived, max(inbound.packetsLost, 0), inbound.jitter, 0, 0, 0, 0, 0, 0]
            if inbound
            else None
        )
        if self.feedback is not None and self.feedback.readyState == "open":
            self.feedback.send(json.dumps({"p": ping["p"], "t": ping["t"], "h": 0, "s": counters}))


Serve = Callable[..., Awaitable[RunningServer]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Starts servers: `await serve(token="x")`, with any settings; each has the tone voice, warm, and serves HTTPS
    where it is given a certificate."""
    running: list[tuple[uvicorn.Server, asyncio.Task[None], httpx.AsyncClient]] = []

    async def start(
        *, client_headers: dict[str, str] | None = None, pem: Path | None = None, **changes: Any
    ) -> RunningServer:
        settings = Settings(**{"voices": ("tone",), "voice": "tone", "port": 0, **changes})
        app = create_app(settings, renderer=LocalRenderer(settings.voices))
        config = uvicorn.Config(
            app,
            host=settings.host,
            port=0,
            log_config=None,
            access_log=False,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=2,
            ssl_certfile=pem,
        )
        server = uvicorn.Server(config)
        server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign]
        task = asyncio.create_task(server.serve())
        while not server.started:
            if task.done():
                await task
            await asyncio.sleep(0.01)
        await app.state.warming
        host = "[::1]" if settings.host == "::1" else "127.0.0.1"
        url = f"http{'s' if pem else ''}://{host}:{server.servers[0].sockets[0].getsockname()[1]}"
        client = httpx.AsyncClient(base_url=url, headers=client_headers, timeout=WAIT_S, verify=False)
        running.append((server, task, client))
        return RunningServer(app, url, client)

    yield start
    for server, task, client in running:
        await client.aclose()
        await server.config.app.state.listeners.close()  # type: ignore[union-attr]
        server.should_exit = True
        await task


@pytest.fixture
async def server(serve: Serve) -> RunningServer:
    """A server with default settings and the tone voice."""
    return await serve()


MakeEar = Callable[..., Ear]


@pytest.fixture
async def ear() -> AsyncIterator[MakeEar]:
    """Makes listeners: `await ear(server).connect()`. Those still there at the end leave."""
    ears: set[Ear] = set()

    def make(server: RunningServer) -> Ear:
        one = Ear(server.client, ears.discard)
        ears.add(one)
        return one

    yield make
    for one in tuple(ears):
        await one.close()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser wants the machine to itself, and comes last: its driver leaves an event loop running in the thread of
    the tests."""
    for item in items:
        if item.get_closest_marker("browser") is not None:
            item.add_marker("alone")
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
