"""Behind a reverse proxy that puts a prefix before every path, and rewrites nothing of what comes back."""

import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from transport_webrtc.client import Client

Serve = Callable[..., Awaitable[Any]]


@pytest.fixture
async def voice(serve: Serve, nginx: Callable[[int], str]) -> str:
    """Address under which the server is found."""
    server = await serve()
    return nginx(urlsplit(server.url).port)


async def test_a_listener_hears_and_interrupts(voice: str) -> None:
    async with Client(voice, carrier="data") as client:
        first = await client.say("m" * 100)
        await client.told("started", id=first)
        second = await client.interrupt("ee")
        assert (await client.told("interrupted", id=first))["position"] < 100 * 2880
        await client.told("finished", id=second)
        assert (await client.snapshot())["carrier"] == "data"


async def test_events_come_through_as_they_happen(voice: str, ear: Any) -> None:
    class Behind:
        client = httpx.AsyncClient(base_url=voice, timeout=10)

    one = ear(Behind)
    await one.connect()
    assert urlsplit(one.location).path.startswith("/voice/v1/listen/")
    async with Behind.client.stream("GET", f"{one.location}/events") as stream:
        said = await Behind.client.post(f"{one.location}/speak", json={"say": "m" * 200, "id": "long"})
        assert said.status_code == 202
        async for line in stream.aiter_lines():
            if line.startswith("data:") and '"started"' in line:
                break
        assert (await one.snapshot())["speaking"], "it was told while it spoke"
    assert (await Behind.client.delete(one.location)).status_code == 200
    await Behind.client.aclose()


async def test_what_the_page_names_lies_below_the_prefix(voice: str) -> None:
    async with httpx.AsyncClient(follow_redirects=False) as client:
        page = await client.get(f"{voice}/")
        named = re.findall(r'(?:href|src)="(?!data:|https?:)([^"#]+)"', page.text)
        assert "static/page.js" in named
        for path in named:
            found = await client.get(str(page.url.join(path)))
            assert found.status_code == 200, path
        slash = await client.get(voice)
        assert slash.headers["location"].endswith("/voice/"), "nginx adds the slash that relative addresses need"
