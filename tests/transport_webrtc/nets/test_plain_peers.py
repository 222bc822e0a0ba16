"""A client that offers no data channel, and one that knows IPv6 only."""

import json
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pytest

from transport_webrtc.client import Client

Serve = Callable[..., Awaitable[Any]]


def loud(samples: np.ndarray) -> bool:
    return bool((np.abs(samples) > 0.1).any())


async def test_without_channels_it_hears_and_interrupts_over_http(serve: Serve, ear: Any) -> None:
    server = await serve()
    one = ear(server)
    await one.connect("/v1/listen?carrier=data", channels=False)
    assert (await server.client.post(f"{one.location}/speak", json={"say": "m" * 200, "id": "a"})).status_code == 202
    await server.until(lambda: loud(one.samples()))
    told = []
    async with server.client.stream("GET", f"{one.location}/events") as stream:
        urgent = {"say": "ee", "id": "b", "interrupt": True}
        assert (await server.client.post(f"{one.location}/speak", json=urgent)).status_code == 202
        async for line in stream.aiter_lines():
            if line.startswith("data:"):
                told.append(json.loads(line[5:]))
                if told[-1]["event"] == "finished":
                    break
    ends = {event["event"]: event for event in told if event["event"] in ("interrupted", "finished")}
    assert (ends["interrupted"]["id"], ends["finished"]["id"]) == ("a", "b")
    assert 0 < ends["interrupted"]["position"] < 200 * 2880
    present = await one.snapshot()
    assert present["carrier"] == "audio"
    assert present["carrier_why"] == "The client offers no data track."


@pytest.mark.parametrize("carrier", ["audio", "data"])
async def test_over_ipv6_alone(serve: Serve, carrier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    monkeypatch.setattr("aioice.ice.get_host_addresses", lambda use_ipv4, use_ipv6: [])
    monkeypatch.setattr("transport_webrtc.aiortc_private.LOOPBACK", ("::1",))
    server = await serve(host="::1")
    assert server.url.startswith("http://[::1]:")
    async with Client(server.url, carrier=carrier) as client:
        first = await client.say("m" * 100)
        await client.told("started", id=first)
        await server.until(lambda: loud(client.ear.heard()))
        second = await client.interrupt("ee")
        await client.told("interrupted", id=first)
        await client.told("finished", id=second)
        assert client.ear.carrier == carrier
