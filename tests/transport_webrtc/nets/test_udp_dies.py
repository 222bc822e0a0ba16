"""UDP that dies after connecting, one way or both: HTTP goes on answering, nothing is left after its time."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

Serve = Callable[..., Awaitable[Any]]


@pytest.mark.parametrize("dead", [("down", "up"), ("up",)], ids=["both ways", "one way"])
async def test_the_server_cleans_up_in_its_time(
    serve: Serve, ear: Any, dead: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transport_webrtc.line.VANISHED_S", 1.5)
    server = await serve(lab=True)
    one = ear(server)
    await one.connect()
    await server.until(lambda: one.pings > 0)
    (listener,) = server.listeners
    listener.resumption.life_s = 1.0
    other = ear(server)
    await other.connect()
    cut = await server.client.put(f"{one.location}/network", json={way: {"loss": 1} for way in dead})
    assert cut.status_code == 200
    assert (await one.snapshot())["state"] == "connected"
    said = await server.client.post(f"{one.location}/speak", json={"say": "m" * 100, "id": "a"})
    assert said.status_code == 202, "HTTP knows nothing of it"
    assert (await server.client.post(f"{one.location}/control", json={"stop": True})).status_code == 200
    await server.until(lambda: listener.state != "connected", 10)
    assert (await server.client.get(one.location)).status_code == 200, "it may still come back"
    await server.until(lambda: len(server.listeners) == 1, 10)
    assert (await server.client.get(one.location)).status_code == 404
    assert (await other.snapshot())["state"] == "connected"
