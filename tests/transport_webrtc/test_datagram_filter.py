import asyncio
import gc
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from aiortc import RTCConfiguration, RTCDataChannel, RTCPeerConnection

from transport_webrtc.aiortc_private import datagram_protocols, gather_on_loopback
from transport_webrtc.datagram_filter import LabNetwork


@dataclass
class Pair:
    """A server with a lab in front of its listener, and that listener; the data channel between them keeps nothing."""

    lab: LabNetwork
    server: RTCPeerConnection
    ours: RTCDataChannel

    async def ping(self, timeout_s: float = 5.0) -> float:
        """Seconds until the listener's echo is back, infinity if it never is."""
        back = asyncio.get_running_loop().create_future()
        self.ours.once("message", back.set_result)
        started = time.monotonic()
        self.ours.send("ping")
        try:
            await asyncio.wait_for(back, timeout_s)
        except TimeoutError:
            return math.inf
        return time.monotonic() - started


@asynccontextmanager
async def pair() -> AsyncIterator[Pair]:
    configuration = RTCConfiguration(iceServers=[])
    server, listener = RTCPeerConnection(configuration), RTCPeerConnection(configuration)
    opened = asyncio.get_running_loop().create_future()
    server.on("datachannel", opened.set_result)
    theirs = listener.createDataChannel("ping", ordered=False, maxRetransmits=0)
    theirs.on("message", lambda message: theirs.send(message) if message == "ping" else None)
    gather_on_loopback(listener.addTransceiver("audio", direction="recvonly").sender, always=True)
    await listener.setLocalDescription(await listener.createOffer())
    await server.setRemoteDescription(listener.localDescription)
    gather_on_loopback(server.getTransceivers()[0].sender, always=True)
    await server.setLocalDescription(await server.createAnswer())
    lab = LabNetwork(server, seed=1)
    await listener.setRemoteDescription(server.localDescription)
    try:
        yield Pair(lab, server, await asyncio.wait_for(opened, 10))
    finally:
        await listener.close()
        await server.close()


async def test_the_round_trip_is_the_network_that_was_set() -> None:
    async with pair() as peers:
        clean = await peers.ping()
        peers.lab.set(down={"delay_ms": 60}, up={"delay_ms": 40})
        slow = [await peers.ping() for _ in range(5)]
        peers.lab.preset("clean")
        await asyncio.sleep(0.1)
        again = await peers.ping()
    assert clean < 0.05
    assert all(0.1 <= rtt < 0.16 for rtt in slow)
    assert again < 0.05


async def test_what_is_lost_on_the_way_never_arrives_and_is_counted() -> None:
    async with pair() as peers:
        before = peers.lab.snapshot()["flow"]["down"]
        peers.lab.set(down={"loss": 1.0})
        assert await peers.ping(0.3) == math.inf
        flow = peers.lab.snapshot()["flow"]["down"]
        assert flow["lost_packets"] > before["lost_packets"] == 0
        assert flow["delivered_packets"] == before["delivered_packets"]


async def test_everything_of_the_connection_goes_through_from_its_first_datagram_on() -> None:
    async with pair() as peers:
        flow = peers.lab.snapshot()["flow"]
    assert flow["down"]["delivered_packets"] >= 5, "ICE, the DTLS handshake and SCTP"
    assert flow["up"]["delivered_packets"] >= 5
    assert flow["down"]["offered_bytes"] > 28 * flow["down"]["offered_packets"]


async def test_a_full_bottleneck_shows_as_queueing_delay() -> None:
    async with pair() as peers:
        peers.lab.set(down={"rate_kbps": 64})
        for _ in range(8):
            peers.ours.send("x" * 900)
        await asyncio.sleep(0.1)
        flow = peers.lab.snapshot()["flow"]["down"]
        rtt = await peers.ping()
    assert flow["capacity_kbps"] == 64
    assert 300 < flow["queue_delay_ms"] < 1500
    assert rtt > 0.3


async def test_one_listeners_network_is_not_anothers() -> None:
    async with pair() as bad, pair() as good:
        bad.lab.preset("far")
        assert await bad.ping() > 0.3
        assert await good.ping() < 0.05


async def test_a_preset_is_named_until_something_else_is_set() -> None:
    async with pair() as peers:
        assert peers.lab.snapshot()["preset"] == "clean"
        peers.lab.preset("bad")
        shown = peers.lab.snapshot()
        assert (shown["preset"], shown["down"]["rate_kbps"], shown["up"]["rate_kbps"]) == ("bad", 28, None)
        peers.lab.set(down={"loss": 0.07})
        shown = peers.lab.snapshot()
        assert (shown["preset"], shown["down"]["loss"], shown["down"]["rate_kbps"]) == (None, 0.07, 28)
        with pytest.raises(ValueError, match="no preset 'worse'; there are clean"):
            peers.lab.preset("worse")
        with pytest.raises(ValueError, match="loss must be"):
            peers.lab.set(down={"delay_ms": 5}, up={"loss": 7})
        assert peers.lab.snapshot()["down"]["delay_ms"] == 60, "refused as a whole"


async def test_it_goes_away_with_the_connection_and_leaves_nothing() -> None:
    failures: list[dict] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
    async with pair() as peers:
        protocols = datagram_protocols(peers.server)
        peers.lab.set(down={"delay_ms": 300}, up={"delay_ms": 300})
        peers.ours.send("on its way when all ends")
        await asyncio.sleep(0.02)
    assert peers.lab._down._timer is None
    assert peers.lab._up._timer is None
    assert all("datagram_received" not in vars(protocol) for protocol in protocols)
    await asyncio.sleep(0.35)
    gc.collect()
    assert failures == []


async def test_it_can_be_taken_out_of_a_connection_that_goes_on() -> None:
    async with pair() as peers:
        peers.lab.set(down={"delay_ms": 200})
        peers.lab.close()
        rtt = await peers.ping()
    assert rtt < 0.05


async def test_a_connection_without_sockets_is_refused() -> None:
    pc = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    pc.addTransceiver("audio")
    with pytest.raises(RuntimeError, match="set its local description first"):
        LabNetwork(pc)
    await pc.close()
