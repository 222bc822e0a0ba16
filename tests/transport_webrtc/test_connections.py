"""Connections that are held for nothing, against a real server."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

import pytest
import uvicorn
from fastapi import FastAPI, Request, Response

from transport_webrtc import connections
from transport_webrtc.connections import limited, most_connections, most_listeners

MOST = 4


class Place:
    """A server that takes four connections."""

    def __init__(self, server: uvicorn.Server) -> None:
        self.server = server
        self._open: list[asyncio.StreamWriter] = []

    async def connect(self, sent: bytes = b"") -> asyncio.StreamReader:
        """A connection over which something was sent."""
        port = self.server.servers[0].sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        self._open.append(writer)
        return reader

    @property
    def last(self) -> asyncio.StreamWriter:
        return self._open[-1]

    def hang_up(self) -> None:
        for writer in self._open:
            writer.close()


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    app = FastAPI()

    @app.post("/")
    async def post(request: Request) -> Response:
        return Response(await request.body())

    @app.get("/")
    async def get() -> Response:
        await asyncio.sleep(0.3)
        return Response(b"here")

    config = uvicorn.Config(app, port=0, log_config=None, ws="none", http=limited(MOST), timeout_graceful_shutdown=3)
    server = uvicorn.Server(config)
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign]
    task = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    one = Place(server)
    yield one
    one.hang_up()
    server.should_exit = True
    await task


GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HALF = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf"


async def ends(reader: asyncio.StreamReader, within_s: float = 3.0) -> bytes:
    """All that comes until the server hangs up."""
    async with asyncio.timeout(within_s):
        with contextlib.suppress(ConnectionResetError):
            return await reader.read()
    return b""


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nX"])
async def test_a_request_that_does_not_come_is_not_waited_for(place, monkeypatch, sent: bytes) -> None:
    monkeypatch.setattr(connections, "REQUEST_S", 0.2)
    assert await ends(await place.connect(sent)) == b""


async def test_nor_is_the_second_one(place, monkeypatch) -> None:
    monkeypatch.setattr(connections, "REQUEST_S", 0.5)
    reader = await place.connect(GET)
    async with asyncio.timeout(3):
        await reader.readuntil(b"here")
    for part in (b"GE", b"T / HT"):
        place.last.write(part)
        await asyncio.sleep(0.2)
    assert await ends(reader, within_s=1) == b""


async def test_an_answer_may_take_longer_than_the_request_may(place, monkeypatch) -> None:
    monkeypatch.setattr(connections, "REQUEST_S", 0.1)
    reader = await place.connect(GET)
    async with asyncio.timeout(3):
        await reader.readuntil(b"here")


async def test_beyond_the_limit_it_is_said_why(place) -> None:
    held = [await place.connect() for _ in range(MOST)]
    answer = await ends(await place.connect(GET))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503 ")
    assert b"Retry-After" in head
    assert "takes no more" in json.loads(body)["error"]
    crowd = [await place.connect() for _ in range(connections.REFUSED_MOST + 10)]
    for reader in crowd:
        assert await ends(reader) == b"", "who says nothing is told nothing"
    place.hang_up()
    assert all([await ends(reader) == b"" for reader in held])
    async with asyncio.timeout(3):
        await (await place.connect(GET)).readuntil(b"here")


async def test_leaving_does_not_wait_for_the_rest_of_a_request(place, caplog) -> None:
    reader = await place.connect(HALF)
    answered = await place.connect(GET)
    await asyncio.sleep(0.1)
    place.server.should_exit = True
    assert await ends(reader, within_s=2) == b""
    assert (await ends(answered)).endswith(b"here"), "what was asked for whole is answered"


def test_listeners_have_room_for_their_sockets() -> None:
    assert most_connections(64, files=512) == 512 - 64 - 4 * 64
    assert most_connections(64, files=1 << 20) == 32 + 20 * 64
    assert most_connections(64, files=128) == 32
    assert connections.files_allowed() >= 64
    assert most_listeners(512) == (512 - 64 - connections.LEAST) // 4
    assert most_connections(most_listeners(512), files=512) >= connections.LEAST
    assert most_listeners(10) == 0
