"""A bad network for one listener: the lab's links around the datagrams of one peer connection, inside this process.

Everything that connection sends and receives goes through: STUN, so that ICE sees the round trip, DTLS, media, RTCP
and data channels. Other connections notice nothing, no class is patched, and no rights are needed.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any, Self

from aiortc import RTCPeerConnection

from quality.lab import PRESETS, Fate, LinkSettings, Path
from quality.lab.link import seeds
from quality.lab.live import Live

from .aiortc_private import datagram_protocols

HEADERS = 28
"""Bytes of an IPv4 and a UDP header, which a datagram's payload does not show (RFC 791, RFC 768)."""

NETWORKS: Mapping[str, Path] = {
    name: (down.changed({"overhead_bytes": HEADERS}), up.changed({"overhead_bytes": HEADERS}))
    for name, (down, up) in PRESETS.items()
}
"""The lab's presets as (down, up), counting the headers that datagrams have on the wire."""

Changes = Mapping[str, Any]
Deliver = Callable[[], None]


class LabNetwork:
    """The network between us and one listener: `down` leads to the listener, `up` comes back.

    Make it after `setLocalDescription`, when the sockets exist and no packet has yet passed. It goes away with the
    connection; what is then still on its way is lost.
    """

    def __init__(self, pc: RTCPeerConnection, *, seed: int = 0) -> None:
        """`seed` fixes the losses. Raises RuntimeError where the connection has gathered no candidates."""
        protocols = datagram_protocols(pc)
        if not protocols:
            raise RuntimeError("The connection has no sockets yet: set its local description first.")
        self._stand_around(protocols, seed)

    @classmethod
    def around(cls, protocols: Iterable[Any], *, seed: int = 0) -> Self:
        """The network between any sockets of this process and those they talk to: connected datagram protocols of the
        running loop that keep their transport in `transport`."""
        network = cls.__new__(cls)
        network._stand_around(protocols, seed)
        return network

    def _stand_around(self, protocols: Iterable[Any], seed: int) -> None:
        loop = asyncio.get_running_loop()
        self._see: Callable[[bytes, Fate], None] | None = None
        settings = LinkSettings(overhead_bytes=HEADERS)
        ways = {name: Live[Deliver](loop, _arrive, settings=settings, seed=own) for name, own in seeds(seed).items()}
        self._down, self._up = ways["down"], ways["up"]
        self._endpoints = [_Endpoint(loop, p, self._sent, self._up, self._closed) for p in protocols]

    def _sent(self, datagram: bytes, deliver: Deliver) -> None:
        fate = self._down.offer(len(datagram), deliver)
        if self._see is not None:
            self._see(datagram, fate)

    def set(self, *, down: Changes | None = None, up: Changes | None = None) -> None:
        """Changes some settings of either way, both or neither. Raises ValueError with a sentence."""
        self._become((self._down.link.settings, self._up.link.settings), down, up)

    def preset(self, name: str, *, down: Changes | None = None, up: Changes | None = None) -> None:
        """Makes the network the one of that name, with changes to it. Raises ValueError naming those there are."""
        if name not in NETWORKS:
            raise ValueError(f"There is no preset {name!r}; there are {', '.join(NETWORKS)}.")
        self._become(NETWORKS[name], down, up)

    def snapshot(self) -> dict[str, Any]:
        """Settings both ways, the preset they are (None for none) and the account of both ways."""
        settings = self._down.link.settings, self._up.link.settings
        return {
            "preset": next((name for name, path in NETWORKS.items() if path == settings), None),
            "down": asdict(settings[0]),
            "up": asdict(settings[1]),
            "flow": {"down": asdict(self._down.flow()), "up": asdict(self._up.flow())},
        }

    def be_like(self, other: "LabNetwork") -> None:
        """Has the settings of another one from now on."""
        self._become((other._down.link.settings, other._up.link.settings), None, None)

    def watch(self, see: Callable[[bytes, Fate], None]) -> None:
        """Shows `see` every datagram that we send, encrypted as it is, and what becomes of it."""
        self._see = see

    def close(self) -> None:
        """Takes itself out of the connection; what is on its way is lost."""
        for endpoint in list(self._endpoints):
            endpoint.close()

    def _become(self, base: Path, down: Changes | None, up: Changes | None) -> None:
        """Refuses all or takes all."""
        wanted = base[0].changed(down or {}), base[1].changed(up or {})
        self._down.become(wanted[0])
        self._up.become(wanted[1])

    def _closed(self, endpoint: "_Endpoint") -> None:
        self._endpoints.remove(endpoint)
        if not self._endpoints:
            self._down.close()
            self._up.close()


def _arrive(deliver: Deliver) -> None:
    deliver()


class _Endpoint:
    """One socket of the connection, its two ways put through the pipes."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        protocol: Any,
        send: Callable[[bytes, Deliver], None],
        up: Live[Deliver],
        closed: Callable[["_Endpoint"], None],
    ) -> None:
        self._loop = loop
        self._protocol = protocol
        self._transport = protocol.transport
        self._receive = protocol.datagram_received
        self._lost = protocol.connection_lost
        self._send = send
        self._up = up
        self._closed = closed
        self._open = True
        protocol.transport = _Transport(self._transport, self._sendto, self.close)
        protocol.datagram_received = self._received
        protocol.connection_lost = self._connection_lost

    def close(self) -> None:
        """Gives the socket back as it was."""
        if not self._open:
            return
        self._open = False
        self._protocol.transport = self._transport
        del self._protocol.datagram_received, self._protocol.connection_lost
        self._closed(self)

    def _sendto(self, data: bytes, addr: Any = None) -> None:
        datagram = bytes(data)
        self._send(datagram, lambda: self._deliver(self._transport.sendto, datagram, addr))

    def _received(self, data: bytes, addr: Any) -> None:
        self._up.offer(len(data), lambda: self._deliver(self._receive, data, addr))

    def _deliver(self, out: Callable[[bytes, Any], None], data: bytes, addr: Any) -> None:
        """A datagram that cannot be taken must not hold up those after it: the loop hears of it, as from any socket."""
        if not self._open:
            return
        try:
            out(data, addr)
        except Exception as error:
            context = {"message": "A datagram could not be delivered.", "exception": error, "protocol": self._protocol}
            self._loop.call_exception_handler(context)

    def _connection_lost(self, error: Exception | None) -> None:
        self.close()
        self._lost(error)


class _Transport:
    """Stands where aioice keeps its datagram transport; all but sending and closing is the real one's."""

    def __init__(self, inner: Any, sendto: Callable[..., None], closing: Callable[[], None]) -> None:
        self._inner = inner
        self._closing = closing
        self.sendto = sendto

    def close(self) -> None:
        self._closing()
        self._inner.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
