"""A native listener whose network dies, HTTP and all, plays on, comes back by itself and goes on where it was heard."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import numpy as np
import pytest

from transport_webrtc.client import Client, ListenError

Serve = Callable[..., Awaitable[Any]]

COUNT = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
DEAD = {"down": {"loss": 1}, "up": {"loss": 1}}


class Gate:
    """A way to the server's HTTP that swallows everything while it is shut."""

    def __init__(self, url: str) -> None:
        self.open = True
        self.swallowed = 0
        self._port = int(url.rsplit(":", 1)[1])
        self._tasks: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def url(self) -> AsyncIterator[str]:
        async with await asyncio.start_server(self._client, "127.0.0.1", 0) as server:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.add(asyncio.current_task())  # type: ignore[arg-type]
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self._port)
        with contextlib.suppress(asyncio.CancelledError, OSError):
            await asyncio.gather(self._pass(reader, inner_writer), self._pass(inner_reader, writer))
        for one in (writer, inner_writer):
            one.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            if self.open:
                writer.write(data)
                await writer.drain()
            else:
                self.swallowed += 1
        writer.close()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dead connection is given up sooner than is good outside of tests."""
    monkeypatch.setattr("transport_webrtc.client_lines.GIVEN_UP_S", 1.0)
    monkeypatch.setattr("transport_webrtc.client_line.SILENCE_S", 0.7)
    monkeypatch.setattr("transport_webrtc.client_line.LOOK_S", 0.1)


def sounding_s(samples: np.ndarray) -> float:
    """How long the tone sounded, between the pauses of its words."""
    blocks = np.abs(samples[: len(samples) // 480 * 480]).reshape(-1, 480).max(axis=1)
    return float(np.sum(blocks > 0.03)) / 100


LONG = [pytest.param("data", 60, marks=pytest.mark.long), pytest.param("audio", 15, marks=pytest.mark.long)]


@pytest.mark.parametrize(("carrier", "count"), [("data", 7), *LONG])
async def test_it_plays_on_and_goes_on_where_it_was_heard(serve: Serve, hasty: None, carrier: str, count: int) -> None:
    """Of sixty words a part is sent after the outage only."""
    server = await serve(lab=True)
    gate, states = Gate(server.url), {}
    text = [f"number{n}" for n in range(count)] if count > 15 else COUNT.split()[:count]
    async with (
        gate.url() as url,
        Client(url, carrier=carrier, profile="narration", on_state=states.__setitem__) as client,
    ):
        (listener,) = server.listeners
        told: list[dict[str, Any]] = []  # all of it: a channel leaves words out where the network is bad
        listener.events.attach(lambda numbered: told.append(numbered.event), after=0)
        asked = client.ear.now
        name = await client.say(" ".join(text), keep="resume")
        await server.until(lambda: told[-1]["event"] == "progress" and told[-1]["position"] >= 48_000)
        gate.open = False
        listener.network.set(**DEAD)
        spoken = client.ear.player.spoken_s
        await server.until(lambda: client.state == "reconnecting")
        await server.until(lambda: gate.swallowed > 1)
        if carrier == "data":
            assert client.ear.player.spoken_s - spoken > 0.5, "it plays on"
        later = asyncio.create_task(client.say("later", id="later"))
        gate.open = True
        await asyncio.sleep(0.1)
        listener.network.set(down={"loss": 0}, up={"loss": 0})
        back = time.monotonic()
        await server.until(lambda: client.state == "connected")
        took_s = time.monotonic() - back
        await later
        ends = [await client.told("finished", id=one) for one in (name, "later")]
        await asyncio.sleep(0.4)
        heard = client.ear.heard(asked)
    words = [event["text"] for event in told if event["event"] == "word" and event["id"] == name]
    numbers = [event["number"] for event in client.events]
    whole_s, sounded_s = sum(end["ticks"] for end in ends) / 48_000, sounding_s(heard)
    print(f"{carrier}: back after {took_s:.2f} s, {sounded_s:.2f} s sounded of {whole_s:.2f}, {client.ear.gaps}")
    assert took_s < 4
    assert client.reconnects == 1
    assert "plays on" in states["reconnecting"]
    assert numbers == sorted(set(numbers)), "nothing is told twice"
    assert list(dict.fromkeys(words)) == text
    assert sounded_s > whole_s - 0.1, "nothing is lost"
    if carrier == "data":
        assert len(words) == len(text), "and nothing is said again"
        assert sounded_s < whole_s + 0.1


async def test_a_listener_that_the_server_knows_no_more_is_lost_with_a_sentence(serve: Serve) -> None:
    server = await serve()
    async with Client(server.url) as client:
        await server.listeners.close()
        with pytest.raises(ListenError, match=r"The connection to the server is lost\. This token opens nothing"):
            await client.told("finished")
        assert client.state == "closed"
        with pytest.raises(ListenError, match="token opens nothing"):
            client.send({"stop": True})


@pytest.mark.long
async def test_closing_while_it_tries_again_leaves_nothing(serve: Serve, hasty: None) -> None:
    server = await serve(lab=True)
    before = {task for task in asyncio.all_tasks() if not task.done()}
    gate = Gate(server.url)
    async with gate.url() as url, Client(url, carrier="data", timeout_s=2.0) as client:
        (listener,) = server.listeners
        await client.say("m" * 100)
        waiting = asyncio.create_task(client.told("finished"))
        await server.until(lambda: client.ear.player.spoken_s > 0.3)
        gate.open = False
        listener.network.set(**DEAD)
        await server.until(lambda: client.state == "reconnecting")
        await server.until(lambda: gate.swallowed > 2)
        await client.close()
        with pytest.raises(ListenError, match="no connection"):
            await waiting
    await server.listeners.close()
    await asyncio.sleep(0.5)
    left = {task for task in asyncio.all_tasks() if not task.done()} - before
    assert left == set()


@pytest.mark.long
async def test_it_comes_back_again_and_again(serve: Serve, hasty: None) -> None:
    server = await serve(lab=True)
    gate = Gate(server.url)
    async with gate.url() as url, Client(url, carrier="data", profile="narration") as client:
        (listener,) = server.listeners
        name = await client.say(" ".join(f"number{n}" for n in range(80)))
        for times in range(1, 6):
            await asyncio.sleep(1.0)
            gate.open = False
            listener.network.set(**DEAD)
            await server.until(lambda: client.state == "reconnecting")
            gate.open = True
            listener.network.set(down={"loss": 0}, up={"loss": 0})
            await server.until(lambda: client.state == "connected")
            assert client.reconnects == times
        await client.told("finished", id=name)
        assert client.ear.player.gaps == []
        assert len(server.listeners) == 1
