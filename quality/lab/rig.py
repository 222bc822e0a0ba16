"""What a rig that is a process of its own has on both sides: starting it, asking it, and the account of its packets.

A rig's process reads one JSON object a connection from a Unix socket and answers with one. It ends when its standard
input does, so that nothing stays behind where whoever started it was killed.
"""

import asyncio
import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Self

from .link import seeds
from .live import Live
from .settings import LinkSettings

READY = "ready"
MOST_REQUEST_BYTES = 1 << 24
"""Of one request: a minute of an LTE trace is half a megabyte."""
Item = tuple[Callable[[], object], list[Any] | None]
"""How a packet goes out, and its line in the log."""


class Rig:
    """A rig in a process of its own, for as long as the `with` block lasts."""

    module: ClassVar[str]
    """Run as `python -m`."""

    def __init__(self, *, down: dict[str, Any] | None = None, up: dict[str, Any] | None = None, seed: int = 1) -> None:
        self._first = {"down": down or {}, "up": up or {}}
        self._seed = seed
        self._socket = Path(tempfile.gettempdir()) / f"legato-rig-{secrets.token_hex(6)}"

    def arguments(self) -> Sequence[str]:
        """Of the process, beside socket and seed."""
        return ()

    def started(self, told: list[str]) -> None:
        """Takes what the process said after `ready`."""

    def missing(self) -> str:
        """Why it did not start."""
        return "see the message above"

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", self.module, "--control", str(self._socket), "--seed", str(self._seed)),
                *self.arguments(),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert self._process.stdout is not None
            told = self._process.stdout.readline().split()
            if told[:1] != [READY]:
                raise RuntimeError(f"The rig {self.module} did not start: {self.missing()}.")
            self.started(told[1:])
            for direction, settings in self._first.items():
                self.set(direction, **settings)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._socket.unlink(missing_ok=True)

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
            with s.makefile() as file:
                answer: dict[str, Any] = json.loads(file.readline())
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer


class Direction:
    """One way through a rig's process: the link, a line for every packet, and more for every RTP packet."""

    def __init__(self, seed: int, *, settings: LinkSettings | None = None) -> None:
        self._settings = settings
        self.live: Live[Item] = Live(asyncio.get_running_loop(), self._deliver, settings=settings, seed=seed)
        self.log: list[list[Any]] = []
        self.wire: list[list[float | None]] = []

    def restart(self, seed: int) -> None:
        """A new link, and nothing logged."""
        self.live.restart(self._settings, seed=seed)
        self.log, self.wire = [], []

    def offer(self, size: int, payload: bytes | None, out: Callable[[], object]) -> None:
        """A packet of `size` bytes; `payload` is its UDP payload, where it has one; `out` sends it on."""
        now = asyncio.get_running_loop().time()
        self.wire.append([now, size, self.live.flow().queue_delay_ms])
        entry = None if payload is None else _rtp(now, size, payload)
        if entry is not None:
            self.log.append(entry)
        self.live.offer(size, (out, entry))

    def _deliver(self, item: Item) -> None:
        out, entry = item
        if entry is not None:
            entry[-1] = True
        with contextlib.suppress(OSError):  # a full or absent receiver loses it, as on any network
            out()


def _rtp(now: float, size: int, payload: bytes) -> list[Any] | None:
    """The log's entry where a datagram is RTP (RFC 7983 section 7, RFC 5761 section 4)."""
    if len(payload) < 12 or not 128 <= payload[0] <= 191 or 192 <= payload[1] <= 223:
        return None
    return [now, int.from_bytes(payload[8:12], "big"), int.from_bytes(payload[2:4], "big"), size, False]


async def serve(control: str, directions: Mapping[str, Direction], *told: str) -> None:
    """Answers requests until standard input ends or the process is asked to; `told` follows `ready`."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for sig in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(sig, stop.set)

    def said() -> None:
        if not os.read(sys.stdin.fileno(), 64):
            loop.remove_reader(sys.stdin.fileno())
            stop.set()

    loop.add_reader(sys.stdin.fileno(), said)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            said = _answer(directions, json.loads(await reader.readline()))
        except (ValueError, TypeError, KeyError) as error:
            said = {"error": str(error)}
        writer.write(json.dumps(said).encode() + b"\n")
        with contextlib.suppress(ConnectionError):
            await writer.drain()
        writer.close()

    async with await asyncio.start_unix_server(answer, control, limit=MOST_REQUEST_BYTES):
        print(READY, *told, flush=True)
        await stop.wait()
    for direction in directions.values():
        direction.live.close()


def _answer(directions: Mapping[str, Direction], request: dict[str, Any]) -> dict[str, Any]:
    which = request.get("direction", "both")
    if which not in (*directions, "both"):
        raise ValueError(f"A direction is down, up or both, not {which!r}.")
    if "restart" in request:
        for name, seed in seeds(request["restart"]).items():
            directions[name].restart(seed)
    for name, direction in directions.items():
        if request.get("set") and which in ("both", name):
            direction.live.set(**request["set"])
    answer: dict[str, Any] = {name: asdict(d.live.flow()) for name, d in directions.items()}
    if request.get("packets"):
        answer["packets"] = {name: d.log for name, d in directions.items()}
    if request.get("wire"):
        answer["wire"] = {name: d.wire for name, d in directions.items()}
    return answer
