"""The link between two peers on one machine, without root: a UDP relay in a process of its own.

Whoever sends to `address` is a client; its datagrams go to the target and the target's answers come back, each way
through the model. WebRTC peers are made to meet there by their session descriptions: the offer loses its candidates
(`without_candidates`), the answer names the relay instead of its own (`through`), and the listener's address is then
learnt from its first packet, as a peer-reflexive candidate (RFC 8445 section 7.3.1.3).
"""

import argparse
import asyncio
import contextlib
from collections import OrderedDict
from typing import Any

from .link import seeds
from .rig import Direction, Rig, serve
from .settings import LinkSettings

HEADERS = 28
"""Bytes of an IPv4 and a UDP header (RFC 791, RFC 768), which the relay does not see."""
MOST_CLIENTS = 64
"""Each has a socket; the one that was silent longest makes room."""

Address = tuple[str, int]


class RelayRig(Rig):
    """A relay in front of `target`, for as long as the `with` block lasts; clients send to `address`.

    `down` leads from the target to the clients, `up` comes back; all clients share them.
    """

    module = "quality.lab.relay"

    def __init__(
        self,
        target: Address,
        *,
        host: str = "127.0.0.1",
        down: dict[str, Any] | None = None,
        up: dict[str, Any] | None = None,
        seed: int = 1,
    ) -> None:
        """`host` is the address that the relay binds, on a free port."""
        super().__init__(down=down, up=up, seed=seed)
        self._target, self._host = target, host
        self.address: Address = (host, 0)

    def arguments(self) -> list[str]:
        return ["--host", self._host, "--target-host", self._target[0], "--target-port", str(self._target[1])]

    def started(self, told: list[str]) -> None:
        self.address = (self._host, int(told[0]))


def without_candidates(sdp: str) -> str:
    """A session description that names no address and promises that some may follow: the other side waits."""
    named = ("a=candidate", "a=end-of-candidates")
    return "".join(line for line in sdp.splitlines(keepends=True) if not line.startswith(named))


def host_candidate(sdp: str) -> Address:
    """The first IPv4 host candidate over UDP (RFC 8839 section 5.1). Raises ValueError where there is none."""
    for line in sdp.splitlines():
        fields = line.split()
        if line.startswith("a=candidate") and fields[2].lower() == "udp" and "host" in fields and "." in fields[4]:
            return fields[4], int(fields[5])
    raise ValueError("The session description names no IPv4 host candidate that a relay could stand before.")


def through(sdp: str, address: Address) -> str:
    """A session description that names `address` as the one place to reach the peer, in every section that had any."""
    lines, named = [], False
    for line in sdp.splitlines(keepends=True):
        if line.startswith("m="):
            named = False
        if line.startswith("a=candidate"):
            if not named:
                lines.append(f"a=candidate:1 1 udp 2130706431 {address[0]} {address[1]} typ host\r\n")
            named = True
            continue
        lines.append(line)
    return "".join(lines)


class _Socket(asyncio.DatagramProtocol):
    def __init__(self, take: Any) -> None:
        self._take = take

    def datagram_received(self, data: bytes, address: Address) -> None:
        self._take(data, address)

    def error_received(self, error: Exception) -> None:
        """A port that nobody listens on: what is sent there is lost, as on any network."""


class _Relay:
    """One front socket, and one socket a client towards the target."""

    def __init__(self, target: Address, down: Direction, up: Direction) -> None:
        self._target, self._down, self._up = target, down, up
        self._clients: OrderedDict[Address, asyncio.Future[asyncio.DatagramTransport]] = OrderedDict()
        self._opening: set[asyncio.Task[None]] = set()

    async def open(self, host: str) -> int:
        """The port it listens on."""
        loop = asyncio.get_running_loop()
        self._front, _ = await loop.create_datagram_endpoint(lambda: _Socket(self._from_client), (host, 0))
        return int(self._front.get_extra_info("sockname")[1])

    def close(self) -> None:
        self._front.close()
        for client in list(self._clients):
            self._forget(client)

    def _from_client(self, data: bytes, client: Address) -> None:
        if client not in self._clients:
            if len(self._clients) >= MOST_CLIENTS:
                self._forget(next(iter(self._clients)))
            self._clients[client] = asyncio.get_running_loop().create_future()
            task = asyncio.create_task(self._meet(client))
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)
        self._clients.move_to_end(client)
        behind = self._clients[client]
        self._up.offer(len(data), data, lambda: self._to_target(behind, data))

    async def _meet(self, client: Address) -> None:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_datagram_endpoint(
            lambda: _Socket(lambda data, _: self._from_target(data, client)), remote_addr=self._target
        )
        if client in self._clients and not self._clients[client].done():
            self._clients[client].set_result(transport)
        else:
            transport.close()

    def _to_target(self, behind: "asyncio.Future[asyncio.DatagramTransport]", data: bytes) -> None:
        """At once, or as soon as the client's socket is there."""
        if behind.done():
            if not behind.cancelled():
                behind.result().sendto(data)
        else:
            behind.add_done_callback(lambda _: self._to_target(behind, data))

    def _from_target(self, data: bytes, client: Address) -> None:
        self._down.offer(len(data), data, lambda: self._front.sendto(data, client))

    def _forget(self, client: Address) -> None:
        behind = self._clients.pop(client)
        if behind.done():
            behind.result().close()
        else:
            behind.cancel()


async def _run(control: str, host: str, target: Address, seed: int) -> None:
    settings = LinkSettings(overhead_bytes=HEADERS)
    directions = {name: Direction(own, settings=settings) for name, own in seeds(seed).items()}
    relay = _Relay(target, **directions)
    with contextlib.closing(relay):
        await serve(control, directions, str(await relay.open(host)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("control", "host", "target-host"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--target-port", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    asyncio.run(_run(a.control, a.host, (a.target_host, a.target_port), a.seed))
