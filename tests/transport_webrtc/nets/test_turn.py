"""Listeners that nothing but a TURN server lets through, with a real one."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pytest

from transport_webrtc import aiortc_private
from transport_webrtc.client import Client, ListenError

Serve = Callable[..., Awaitable[Any]]


async def hears_and_interrupts(client: Client) -> None:
    """As any listener does."""
    first = await client.say("m" * 200)
    await client.told("started", id=first)
    await until(lambda: bool((np.abs(client.ear.heard()) > 0.1).any()))
    second = await client.interrupt("ee")
    assert (await client.told("interrupted", id=first))["position"] < 200 * 2880
    assert (await client.told("finished", id=second))["ticks"]


async def until(true: Callable[[], bool], seconds: float = 10.0) -> None:
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


def kinds(sdp: str) -> set[str]:
    """Of the candidates in a description."""
    return set(re.findall(r"a=candidate:.* typ (\w+)", sdp))


@pytest.mark.parametrize(("way", "carrier"), [("udp", "data"), ("tcp", "audio"), ("tls", "data")])
async def test_a_listener_behind_turn_alone_hears_and_interrupts(
    turn: Any, serve: Serve, way: str, carrier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(turn.pem))
    server = await serve(ice_servers=[turn.server(way)])
    async with Client(server.url, carrier=carrier, relay_only=True) as client:
        assert client.candidates == {"relay"}
        await hears_and_interrupts(client)
        assert client.ear.carrier == carrier


async def test_credentials_that_stay_are_told_with_their_quotes(turn_with_users: Any, serve: Serve) -> None:
    named = {"urls": turn_with_users.url("udp"), "username": "ear", "credential": "pin na"}
    server = await serve(ice_servers=[named])
    async with Client(server.url, relay_only=True) as client:
        await hears_and_interrupts(client)


async def test_credentials_that_are_wrong_leave_every_other_path_open(turn: Any, serve: Serve) -> None:
    wrong = {"urls": turn.url("udp"), "username": "ear", "credential": "wrong"}
    server = await serve(ice_servers=[wrong])
    with pytest.raises(ListenError, match="TURN"):
        await Client(server.url, relay_only=True, timeout_s=1).__aenter__()
    async with Client(server.url) as client:
        assert client.candidates == {"host"}
    assert not [listener for listener in server.listeners if listener.state == "connected"]


async def test_a_turn_server_that_is_silent_is_not_waited_for(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    assert aiortc_private.GATHERING_S <= 2
    monkeypatch.setattr("transport_webrtc.aiortc_private.GATHERING_S", 0.3)
    silent = {"urls": "turn:192.0.2.1:3478", "username": "ear", "credential": "x"}  # RFC 5737: nobody is there
    server = await serve(ice_servers=[silent])
    began = asyncio.get_running_loop().time()
    async with Client(server.url):
        assert asyncio.get_running_loop().time() - began < 3.0, "aioice waits 5 s, and so would the answer"


async def test_the_server_offers_its_own_relay(turn: Any, serve: Serve, ear: Any) -> None:
    server = await serve(ice_servers=[turn.server("udp")])
    one = ear(server)
    await one.connect()
    assert kinds(one.answer) == {"host", "relay"}


async def test_no_turn_server_is_said(serve: Serve) -> None:
    server = await serve()
    with pytest.raises(ListenError, match="names no TURN server"):
        await Client(server.url, relay_only=True).__aenter__()
