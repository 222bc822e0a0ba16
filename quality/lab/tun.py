"""The link as a real network: two namespaces joined by a TUN device each, every packet between them through the model.

Root (or root of a user namespace) and /dev/net/tun are needed. It runs as a process of its own, so that the shaping
does not share a processor's turn with what is measured; `TunRig` starts it and talks to it over a Unix socket.
"""

import argparse
import asyncio
import contextlib
import fcntl
import json
import os
import secrets
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from .link import Link

SERVER_ADDRESS = "10.88.0.1"
CLIENT_ADDRESS = "10.88.0.2"
DEVICE = "/dev/net/tun"
MTU = 1400
MOST_REQUEST_BYTES = 1 << 24
"""Of one request: a minute of an LTE trace is half a megabyte."""
_TUNSETIFF = 0x400454CA
_IFF_TUN, _IFF_NO_PI = 0x0001, 0x1000


def available() -> str | None:
    """None where the rig can run, else a sentence saying what is missing."""
    if os.geteuid() != 0:
        return "the TUN rig needs root (or: unshare -Urnm)"
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        return f"the TUN rig needs {DEVICE}"
    if subprocess.run(["ip", "netns", "list"], capture_output=True, check=False).returncode:
        return "the TUN rig needs iproute2 (apt-get install iproute2)"
    return None


class TunRig:
    """Two namespaces and the link between them, for as long as the `with` block lasts.

    `server` and `client` name the namespaces; commands run there as `ip netns exec NAME …`.
    """

    def __init__(self, *, down: dict[str, Any] | None = None, up: dict[str, Any] | None = None, seed: int = 1) -> None:
        name = f"legato-{secrets.token_hex(3)}"
        self.server, self.client = f"{name}-srv", f"{name}-cli"
        self._first = {"down": down or {}, "up": up or {}}
        self._seed = seed
        self._socket = Path(tempfile.mkdtemp(prefix="legato-tun-")) / "control"

    def __enter__(self) -> Self:
        arguments = ["--control", str(self._socket), "--server", self.server, "--client", self.client]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "quality.lab.tun", *arguments, "--seed", str(self._seed)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        if self._process.stdout.readline().strip() != "ready":
            raise RuntimeError("the TUN rig did not start: " + (available() or "see the message above"))
        for direction, settings in self._first.items():
            self.set(direction, **settings)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(timeout=10)
        self._socket.unlink(missing_ok=True)
        self._socket.parent.rmdir()

    def set(self, direction: str = "both", **changes: Any) -> None:
        """Changes the link's settings at once; `direction` is `down` (to the client), `up` or `both`."""
        self._ask({"direction": direction, "set": changes})

    def stats(self) -> dict[str, Any]:
        """Counters of both directions."""
        return self._ask({})

    def packets(self) -> dict[str, list[list[Any]]]:
        """Every RTP packet so far, per direction: [time (monotonic), SSRC, sequence number, bytes, delivered]."""
        return self._ask({"packets": True})["packets"]

    def wire(self) -> dict[str, list[list[float | None]]]:
        """Every packet of any kind so far, per direction: [time (monotonic), bytes, ms of queue before it; None is
        for ever]."""
        return self._ask({"wire": True})["wire"]

    def restart(self, seed: int) -> None:
        """New links that do nothing to a packet, with nothing counted or logged; what was on its way is lost."""
        self._ask({"restart": seed})

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(str(self._socket))
            s.sendall(json.dumps(request).encode() + b"\n")
            answer: dict[str, Any] = json.loads(s.makefile().readline())
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer


class _Direction:
    """One direction in real time: reads from one device, writes to the other when the model says so."""

    def __init__(self, seed: int, source: int, sink: int) -> None:
        self._source, self._sink = source, sink
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self.restart(seed)
        self._loop.add_reader(source, self._read)

    def restart(self, seed: int) -> None:
        """A new link, and nothing logged."""
        self.model: Link[Any] = Link(seed=seed)
        self.log: list[list[Any]] = []
        self.wire: list[list[float | None]] = []

    def change(self, settings: dict[str, Any]) -> None:
        self.model.set(now=time.monotonic(), **settings)
        self._deliver()

    def _read(self) -> None:
        now = time.monotonic()
        for packet in _packets(self._source):
            self.wire.append([now, len(packet), self.model.flow(now).queue_delay_ms])
            entry = _rtp(now, packet)
            if entry is not None:
                self.log.append(entry)
            self.model.offer(now, len(packet), (packet, entry))
        self._deliver()

    def close(self) -> None:
        self._loop.remove_reader(self._source)
        if self._timer is not None:
            self._timer.cancel()

    def _deliver(self) -> None:
        now = time.monotonic()
        for packet, entry in self.model.due(now):
            if entry is not None:
                entry[-1] = True
            with contextlib.suppress(BlockingIOError):
                os.write(self._sink, packet)
        if self._timer is not None:
            self._timer.cancel()
        following = self.model.next_time()
        self._timer = None if following is None else self._loop.call_later(max(0.0, following - now), self._deliver)


def _packets(device: int) -> Iterator[bytes]:
    for _ in range(64):
        try:
            packet = os.read(device, 2048)
        except BlockingIOError:
            return
        if packet[0] >> 4 == 4:
            yield packet


def _rtp(now: float, packet: bytes) -> list[Any] | None:
    """The log's entry where an IPv4 packet holds RTP (RFC 7983 section 7, RFC 5761 section 4)."""
    header = (packet[0] & 15) * 4
    payload = packet[header + 8 :]
    if packet[9] != 17 or len(payload) < 12 or not 128 <= payload[0] <= 191 or 192 <= payload[1] <= 223:
        return None
    ssrc, number = int.from_bytes(payload[8:12], "big"), int.from_bytes(payload[2:4], "big")
    return [now, ssrc, number, len(packet), False]


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


def _answer(directions: dict[str, _Direction], request: dict[str, Any]) -> dict[str, Any]:
    which = request.get("direction", "both")
    if "restart" in request:
        for number, direction in enumerate(directions.values()):
            direction.restart(request["restart"] + number)
    for name, direction in directions.items():
        if request.get("set") and which in ("both", name):
            direction.change(request["set"])
    answer: dict[str, Any] = {name: asdict(d.model.flow(time.monotonic())) for name, d in directions.items()}
    if request.get("packets"):
        answer["packets"] = {name: d.log for name, d in directions.items()}
    if request.get("wire"):
        answer["wire"] = {name: d.wire for name, d in directions.items()}
    return answer


def _served(
    directions: dict[str, _Direction],
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Any]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            answer = _answer(directions, json.loads(await reader.readline()))
        except (ValueError, TypeError, KeyError) as error:
            answer = {"error": str(error)}
        writer.write(json.dumps(answer).encode() + b"\n")
        await writer.drain()
        writer.close()

    return serve


async def _run(control: str, server: str, client: str, seed: int) -> None:
    stop = asyncio.Event()
    for sig in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(sig, stop.set)
    try:
        to_server = _namespace(server, f"lgs{os.getpid()}", SERVER_ADDRESS, CLIENT_ADDRESS)
        to_client = _namespace(client, f"lgc{os.getpid()}", CLIENT_ADDRESS, SERVER_ADDRESS)
        directions = {
            "down": _Direction(seed, to_server, to_client),
            "up": _Direction(seed + 1, to_client, to_server),
        }
        listening = await asyncio.start_unix_server(_served(directions), control, limit=MOST_REQUEST_BYTES)
        print("ready", flush=True)
        async with listening:
            await stop.wait()
        for direction in directions.values():
            direction.close()
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
