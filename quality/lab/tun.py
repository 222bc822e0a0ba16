"""The link as a real network: two namespaces joined by a TUN device each, every packet between them through the model.

Everything crosses it, browsers included. Root and /dev/net/tun are needed, or a user namespace in which one is root:
`python -m quality.lab.own_network COMMAND…` makes one.
"""

import argparse
import asyncio
import fcntl
import os
import secrets
import struct
import subprocess
from collections.abc import Sequence
from functools import partial
from typing import Any

from .link import seeds
from .rig import Direction, Rig, serve

SERVER_ADDRESS = "10.88.0.1"
CLIENT_ADDRESS = "10.88.0.2"
DEVICE = "/dev/net/tun"
MTU = 1400
PACKETS_AT_ONCE = 64
"""Read from a device before others get their turn."""
_TUNSETIFF = 0x400454CA
_IFF_TUN, _IFF_NO_PI = 0x0001, 0x1000


def available() -> str | None:
    """None where the rig can run, else a sentence saying what is missing."""
    if os.geteuid() != 0:
        return "the TUN rig needs root (or: python -m quality.lab.own_network COMMAND)"
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        return f"the TUN rig needs {DEVICE}"
    try:
        listed = subprocess.run(["ip", "netns", "list"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        listed = False
    return None if listed else "the TUN rig needs iproute2 (apt-get install iproute2)"


class TunRig(Rig):
    """Two namespaces and the link between them, for as long as the `with` block lasts.

    `server` and `client` name the namespaces; commands run there as `ip netns exec NAME …`.
    """

    module = "quality.lab.tun"

    def __init__(self, *, down: dict[str, Any] | None = None, up: dict[str, Any] | None = None, seed: int = 1) -> None:
        super().__init__(down=down, up=up, seed=seed)
        name = f"legato-{secrets.token_hex(3)}"
        self.server, self.client = f"{name}-srv", f"{name}-cli"

    def arguments(self) -> Sequence[str]:
        return "--server", self.server, "--client", self.client

    def missing(self) -> str:
        return available() or super().missing()


class _Way:
    """From one device to the other."""

    def __init__(self, seed: int, source: int, sink: int) -> None:
        self.direction = Direction(seed)
        self._source, self._sink = source, sink
        asyncio.get_running_loop().add_reader(source, self._read)

    def _read(self) -> None:
        for _ in range(PACKETS_AT_ONCE):
            try:
                packet = os.read(self._source, 2048)
            except BlockingIOError:
                return
            if packet[0] >> 4 == 4:
                payload = packet[(packet[0] & 15) * 4 + 8 :] if packet[9] == 17 else None
                self.direction.offer(len(packet), payload, partial(os.write, self._sink, packet))

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._source)


def _device(name: str) -> int:
    fd = os.open(DEVICE, os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, _TUNSETIFF, struct.pack("16sH", name.encode(), _IFF_TUN | _IFF_NO_PI))
    return fd


def _ip(*arguments: str, check: bool = True) -> None:
    subprocess.run(["ip", *arguments], check=check, stdout=subprocess.DEVNULL)


def _namespace(name: str, device: str, address: str, peer: str) -> int:
    _ip("netns", "add", name)
    fd = _device(device)
    _ip("link", "set", device, "netns", name)
    _ip("-n", name, "addr", "add", address, "peer", peer, "dev", device)
    _ip("-n", name, "link", "set", device, "up", "mtu", str(MTU), "txqueuelen", "1000")
    _ip("-n", name, "link", "set", "lo", "up")
    _ip("-n", name, "route", "add", "default", "dev", device)
    return fd


async def _run(control: str, server: str, client: str, seed: int) -> None:
    try:
        to_server = _namespace(server, f"lgs{os.getpid()}", SERVER_ADDRESS, CLIENT_ADDRESS)
        to_client = _namespace(client, f"lgc{os.getpid()}", CLIENT_ADDRESS, SERVER_ADDRESS)
        ends: dict[str, tuple[Any, Any]] = {"down": (to_server, to_client), "up": (to_client, to_server)}
        ways = {name: _Way(own, *ends[name]) for name, own in seeds(seed).items()}
        await serve(control, {name: way.direction for name, way in ways.items()})
        for way in ways.values():
            way.close()
    finally:
        for name in (server, client):
            _ip("netns", "del", name, check=False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("control", "server", "client"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    asyncio.run(_run(a.control, a.server, a.client, a.seed))
