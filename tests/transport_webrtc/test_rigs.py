"""The three rigs beside the model they all carry: what each does to numbered datagrams is what its settings say."""

import asyncio
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import psutil
import pytest
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription

from quality.lab import Fate, Link, LinkSettings
from quality.lab.link import seeds
from quality.lab.relay import MOST_CLIENTS, RelayRig, host_candidate, through, without_candidates
from quality.lab.tun import CLIENT_ADDRESS, TunRig, available
from transport_webrtc.aiortc_private import gather_on_loopback
from transport_webrtc.datagram_filter import LabNetwork

LOSSY = {"delay_ms": 50, "loss": 0.1, "burst": 3}
SIZE = 172
EVERY_S = 0.001
Took = dict[int, tuple[float, float]]
"""Number of a packet that arrived → seconds of its arrival, and of its way."""
Carry = Callable[[dict[str, Any], int, int], Awaitable[Took]]


def packet(number: int) -> bytes:
    """Looks like RTP; carries its time."""
    header = b"\x80\x6f" + number.to_bytes(2, "big") + bytes(8)
    return (header + f"{time.monotonic():028.6f}".encode()).ljust(SIZE, b".")


def read(data: bytes) -> tuple[int, tuple[float, float]]:
    now = time.monotonic()
    return int.from_bytes(data[2:4], "big"), (now, now - float(data[12:40]))


class End(asyncio.DatagramProtocol):
    """A socket that keeps what comes, as aioice's protocols keep their transport."""

    def __init__(self) -> None:
        self.transport: Any = None
        self.took: Took = {}
        self.address: tuple[str, int] = ("", 0)
        self.met = asyncio.Event()

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
        self.address = address
        self.met.set()
        if len(data) == SIZE:
            number, took = read(data)
            self.took[number] = took

    def connection_lost(self, error: Exception | None) -> None: ...


async def end(**arguments: Any) -> End:
    return (await asyncio.get_running_loop().create_datagram_endpoint(End, **arguments))[1]


async def paced(send: Callable[[bytes], None], count: int) -> None:
    start = time.monotonic()
    for number in range(count):
        await asyncio.sleep(max(0.0, start + number * EVERY_S - time.monotonic()))
        send(packet(number))


async def settled(took: Took) -> Took:
    """When nothing more comes."""
    count = -1
    while count != len(took):
        count = len(took)
        await asyncio.sleep(0.4)
    return took


async def in_process(settings: dict[str, Any], count: int, seed: int) -> Took:
    receiver = await end(local_addr=("127.0.0.1", 0))
    sender = await end(local_addr=("127.0.0.1", 0))
    network = LabNetwork.around([sender], seed=seed)
    network.set(down=settings)
    there = receiver.transport.get_extra_info("sockname")
    await paced(lambda data: sender.transport.sendto(data, there), count)
    took = await settled(receiver.took)
    sender.transport.close()
    receiver.transport.close()
    return took


async def relay(settings: dict[str, Any], count: int, seed: int) -> Took:
    target = await end(local_addr=("127.0.0.1", 0))
    with RelayRig(target.transport.get_extra_info("sockname"), down=settings, seed=seed) as rig:
        client = await end(remote_addr=rig.address)
        client.transport.sendto(b"hello")
        await asyncio.wait_for(target.met.wait(), 5)
        await paced(lambda data: target.transport.sendto(data, target.address), count)
        took = await settled(client.took)
        logged = rig.packets()["down"]
    assert {entry[2] for entry in logged if entry[4]} == set(took), "the log names exactly what arrived"
    client.transport.close()
    target.transport.close()
    return took


RECEIVE = f"""
import socket, test_rigs
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("{CLIENT_ADDRESS}", 5000)); s.settimeout(20)
print("bound", flush=True)
try:
    while True:
        number, (at, way) = test_rigs.read(s.recv(2000)); print(number, at, way); s.settimeout(.7)
except TimeoutError: pass
"""
SEND = f"""
import asyncio, socket, sys, test_rigs
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
asyncio.run(test_rigs.paced(lambda data: s.sendto(data, ("{CLIENT_ADDRESS}", 5000)), int(sys.argv[1])))
"""


async def tun(settings: dict[str, Any], count: int, seed: int) -> Took:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    with TunRig(down=settings, seed=seed) as rig:
        at = ["ip", "netns", "exec"]
        receiver = await asyncio.create_subprocess_exec(
            *[*at, rig.client, sys.executable, "-c", RECEIVE], stdout=subprocess.PIPE, env=environment
        )
        assert receiver.stdout is not None
        assert await receiver.stdout.readline() == b"bound\n"
        sender = await asyncio.create_subprocess_exec(
            *[*at, rig.server, sys.executable, "-c", SEND, str(count)], env=environment
        )
        assert await sender.wait() == 0
        said = (await receiver.communicate())[0].decode()
    lines = (line.split() for line in said.splitlines())
    return {int(number): (float(at), float(way)) for number, at, way in lines}


needs_tun = pytest.mark.skipif(available() is not None, reason=str(available()))
RIGS = [in_process, relay, pytest.param(tun, marks=needs_tun)]


def carried(settings: dict[str, Any], count: int, seed: int) -> set[int]:
    """What the model lets through on virtual time."""
    link: Link[int] = Link(LinkSettings(**settings), seed=seeds(seed)["down"], start=0.0)
    return {n for n in range(count) if link.offer(n * EVERY_S, SIZE, n) is Fate.CARRIED}


def check(took: Took, count: int, seed: int) -> None:
    assert set(took) == carried(LOSSY, count, seed), "the same seed, the same drop list"
    assert abs(statistics.median(way for _, way in took.values()) - 0.05) < 0.002


@pytest.mark.alone
@pytest.mark.parametrize("rig", RIGS)
async def test_the_same_seed_gives_the_same_drop_list_in_every_rig_and_the_delay_is_true(rig: Carry) -> None:
    check(await rig(LOSSY, 500, 7), 500, 7)


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.parametrize("rig", RIGS)
async def test_each_rig_is_as_it_was_set(rig: Carry) -> None:
    count = 5000
    check(await rig(LOSSY, count, 7), count, 7)
    took = await rig({"delay_ms": 20, "loss": 0.05}, count, 1)
    assert abs(1 - len(took) / count - 0.05) < 0.005
    assert abs(statistics.median(way for _, way in took.values()) - 0.02) < 0.002
    took = await rig({"rate_kbps": 800, "queue_bytes": 60_000}, count, 1)
    times = sorted(at for at, _ in took.values())
    size = SIZE + 28
    rate = (len(times) - 1) * size * 8 / (times[-1] - times[0])
    assert rate == pytest.approx(800_000, rel=0.05)


async def test_peers_that_know_only_the_relay_meet_there() -> None:
    server, listener = (RTCPeerConnection(RTCConfiguration(iceServers=[])) for _ in range(2))
    opened = asyncio.get_running_loop().create_future()
    server.on("datachannel", opened.set_result)
    theirs = listener.createDataChannel("ping")
    theirs.on("message", theirs.send)
    gather_on_loopback(listener.addTransceiver("audio", direction="recvonly").sender, always=True)
    await listener.setLocalDescription(await listener.createOffer())
    offer = without_candidates(listener.localDescription.sdp)
    await server.setRemoteDescription(RTCSessionDescription(offer, "offer"))
    gather_on_loopback(server.getTransceivers()[0].sender, always=True)
    await server.setLocalDescription(await server.createAnswer())
    answer = server.localDescription.sdp
    there = host_candidate(answer)
    with RelayRig(there, host=there[0], down={"delay_ms": 60}, up={"delay_ms": 40}) as rig:
        await listener.setRemoteDescription(RTCSessionDescription(through(answer, rig.address), "answer"))
        ours = await asyncio.wait_for(opened, 10)
        back = asyncio.get_running_loop().create_future()
        ours.once("message", back.set_result)
        began = time.monotonic()
        ours.send("ping")
        await asyncio.wait_for(back, 5)
        assert 0.1 <= time.monotonic() - began < 0.2
        await listener.close()
        await server.close()


async def test_clients_of_a_relay_are_kept_apart_and_the_oldest_makes_room() -> None:
    class Echo(asyncio.DatagramProtocol):
        def connection_made(self, transport: Any) -> None:
            self.transport = transport

        def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
            self.transport.sendto(data, address)

    loop = asyncio.get_running_loop()
    target, _ = await loop.create_datagram_endpoint(Echo, ("127.0.0.1", 0))
    with RelayRig(target.get_extra_info("sockname")) as rig:
        clients = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(MOST_CLIENTS + 2)]
        for number, client in enumerate(clients):
            client.setblocking(False)
            await loop.sock_sendto(client, str(number).encode(), rig.address)
            assert (await asyncio.wait_for(loop.sock_recv(client, 99), 5)).decode() == str(number)
            if number == MOST_CLIENTS + 1:
                await loop.sock_sendto(clients[0], b"again", rig.address)
                assert await asyncio.wait_for(loop.sock_recv(clients[0], 99), 5) == b"again"
        for client in clients:
            client.close()
    target.close()


async def test_a_rig_ends_with_who_started_it() -> None:
    code = (
        "from quality.lab.relay import RelayRig; import os, sys\n"
        "rig = RelayRig(('127.0.0.1', 9)).__enter__(); print(rig._process.pid, flush=True); os._exit(1)"
    )
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=subprocess.PIPE)
    pid = int((await child.communicate())[0])
    async with asyncio.timeout(5):
        while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


def test_a_rig_that_cannot_start_says_so() -> None:
    with pytest.raises(RuntimeError, match=r"quality\.lab\.relay did not start"):
        RelayRig(("127.0.0.1", 9), host="256.0.0.1").__enter__()
