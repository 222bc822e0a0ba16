"""The routes in an app of their own: a registry of one listener whose network is a real one."""

import types
from collections.abc import AsyncIterator

import httpx
import pytest
from aiortc import RTCConfiguration, RTCPeerConnection
from fastapi import FastAPI

from transport_webrtc.datagram_filter import LabNetwork
from transport_webrtc.http import add_refusals
from transport_webrtc.lab_routes import router


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    pc = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    pc.createDataChannel("anything")
    await pc.setLocalDescription(await pc.createOffer())
    networks = {"one": LabNetwork(pc), "without": None}
    app = FastAPI()
    app.include_router(router)
    app.state.settings = types.SimpleNamespace(max_message_bytes=2000)
    app.state.listeners = {name: types.SimpleNamespace(network=network) for name, network in networks.items()}

    add_refusals(app)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://legato") as client:
        yield client
    await pc.close()


async def test_a_network_is_read_changed_and_made_clean_again(client: httpx.AsyncClient) -> None:
    assert (await client.get("/v1/listen/one/network")).json()["preset"] == "clean"
    changed = await client.put(
        "/v1/listen/one/network", json={"down": {"loss": 0.1, "burst": 3}, "up": {"delay_ms": 20}}
    )
    assert changed.status_code == 200
    assert changed.json() == (await client.get("/v1/listen/one/network")).json()
    assert (changed.json()["down"]["loss"], changed.json()["up"]["delay_ms"], changed.json()["preset"]) == (
        0.1,
        20,
        None,
    )
    bad = (await client.put("/v1/listen/one/network", json={"preset": "bad", "up": {"loss": 0}})).json()
    assert (bad["down"]["rate_kbps"], bad["down"]["burst"], bad["up"]["loss"], bad["up"]["delay_ms"]) == (28, 1, 0, 60)
    clean = (await client.put("/v1/listen/one/network", json={"preset": "clean"})).json()
    assert clean["preset"] == "clean"
    assert set(clean["flow"]["down"]) >= {
        "offered_packets",
        "lost_packets",
        "overflow_packets",
        "queue_delay_ms",
        "capacity_kbps",
    }


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        (b"{", 400, "not JSON"),
        (b"\xff\xfe", 400, "not JSON"),
        (b"[]", 422, "Send an object"),
        (b"{}", 422, "Send an object"),
        (b'{"sideways": {}}', 422, "Unknown field 'sideways'"),
        (b'{"preset": 5}', 422, "preset must be the name"),
        (b'{"preset": "worst"}', 422, "There is no preset 'worst'"),
        (b'{"down": [1]}', 422, "down must be an object"),
        (b'{"down": {"loss": 2}}', 422, "loss must be 0 to 1"),
        (b'{"down": {"loss": NaN}}', 422, "loss must be 0 to 1"),
        (b'{"down": {"lag": 2}}', 422, "A link has no setting 'lag'"),
        (b'{"down": {"loss": 0.1}, "up": {"rate_kbps": -3}}', 422, "rate_kbps must be"),
        (b'{"down": {"trace": [' + b"1," * 1200 + b"1]}}", 413, "larger than"),
    ],
)
async def test_what_is_wrong_is_said_and_changes_nothing(
    client: httpx.AsyncClient, body: bytes, status: int, says: str
) -> None:
    answer = await client.put("/v1/listen/one/network", content=body)
    assert answer.status_code == status
    assert says in answer.json()["error"]
    assert answer.json()["error"].endswith(".")
    assert (await client.get("/v1/listen/one/network")).json()["preset"] == "clean"


async def test_a_server_without_a_lab_says_so(client: httpx.AsyncClient) -> None:
    answer = await client.put("/v1/listen/without/network", json={"preset": "bad"})
    assert answer.status_code == 404
    assert "--lab" in answer.json()["error"]
