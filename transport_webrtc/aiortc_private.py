"""Every private name of aiortc and aioice that this package touches, in one file, checked at start.

aiortc has no public way to see receiver reports one by one, nor to choose the addresses that candidates are gathered
on. What follows reaches into single instances and never patches a class, so that other users of aiortc in the process
notice nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from aiortc import RTCPeerConnection, RTCRtpReceiver, RTCRtpSender

LOOPBACK = "127.0.0.1"
_JITTER_BUFFER = "_RTCRtpReceiver__jitter_buffer"


class UnsupportedAiortc(ImportError):
    """The installed aiortc or aioice lacks a private name that is needed here; the message says which."""


def check() -> None:
    """Raises `UnsupportedAiortc` with a sentence where an installed version does not fit."""
    import aioice
    from aiortc.rtcdtlstransport import RTCDtlsTransport
    from aiortc.rtcicetransport import RTCIceGatherer

    wanted: list[tuple[object, str, tuple[str, ...], str]] = [
        (RTCRtpSender, "_handle_rtcp_packet", ("packet",), "receiver reports are read there"),
        (RTCDtlsTransport, "_send_rtp", ("data",), "the time of a sender report is noted there"),
        (
            aioice.Connection,
            "get_component_candidates",
            ("component", "addresses", "timeout"),
            "the addresses of candidates are chosen there",
        ),
        (aioice.ice, "get_host_addresses", ("use_ipv4", "use_ipv6"), "the addresses of this machine come from there"),
    ]
    for owner, name, parameters, why in wanted:
        function = getattr(owner, name, None)
        found = tuple(p for p in inspect.signature(function).parameters if p != "self") if callable(function) else None
        if found != parameters:
            owner_name = getattr(owner, "__name__", type(owner).__name__)
            _refuse(f"{owner_name}.{name}({', '.join(parameters)})", why)
    gatherer = RTCIceGatherer(iceServers=[])
    if not isinstance(getattr(gatherer, "_connection", None), aioice.Connection):
        _refuse("RTCIceGatherer._connection", "it leads from aiortc to aioice")
    if "_protocols" not in aioice.Connection.__init__.__code__.co_names:
        _refuse("Connection._protocols", "the lab's network is put around the sockets there")
    if "_ssrc" not in RTCRtpSender.__init__.__code__.co_names:
        _refuse("RTCRtpSender._ssrc", "receiver reports are told apart by it")
    if _JITTER_BUFFER not in RTCRtpReceiver.__init__.__code__.co_names:
        _refuse(f"RTCRtpReceiver.{_JITTER_BUFFER}", "a native listener takes its packets there")


def _refuse(name: str, why: str) -> None:
    import aioice
    import aiortc

    raise UnsupportedAiortc(
        f"aiortc {aiortc.__version__} with aioice {aioice.__version__} has no {name} ({why}); "
        "install the versions that this project names: pip install 'aiortc>=1.16,<1.17'."
    )


def on_rtcp(sender: RTCRtpSender, handle: Callable[[Any], None]) -> None:
    """Shows `handle` every RTCP packet that the peer sends about `sender`, before aiortc treats it as ever."""
    inner: Callable[[Any], Awaitable[None]] = sender._handle_rtcp_packet

    async def shown(packet: Any) -> None:
        handle(packet)
        await inner(packet)

    sender._handle_rtcp_packet = shown  # type: ignore[method-assign]


def before_rtp(sender: RTCRtpSender, see: Callable[[bytes], None]) -> None:
    """Shows `see` every RTP and RTCP packet, not yet encrypted, that leaves through the transport of `sender`."""
    transport = sender.transport
    inner: Callable[[bytes], Awaitable[None]] = transport._send_rtp

    async def seen(data: bytes) -> None:
        see(data)
        await inner(data)

    transport._send_rtp = seen  # type: ignore[method-assign]


def ssrc_of(sender: RTCRtpSender) -> int:
    """The synchronisation source under which `sender` sends."""
    return sender._ssrc


def gather_on_loopback(sender: RTCRtpSender, *, always: bool) -> None:
    """Adds 127.0.0.1 to the addresses on which the transport of `sender` will gather; aioice leaves it out.

    Without `always` it is added only where the machine has no other address. Call it before the local description
    is set.
    """
    connection = sender.transport.transport.iceGatherer._connection
    inner = connection.get_component_candidates

    async def with_loopback(component: int, addresses: list[str], **options: Any) -> list[Any]:
        wanted = [*addresses, LOOPBACK] if always or not addresses else addresses
        return await inner(component=component, addresses=wanted, **options)

    connection.get_component_candidates = with_loopback  # type: ignore[method-assign, assignment]


def datagram_protocols(pc: RTCPeerConnection) -> list[Any]:
    """The aioice protocols of a connection whose local description is set: one for each socket, with its `transport`
    and what asyncio calls on it."""
    transports = {transceiver.sender.transport.transport for transceiver in pc.getTransceivers()}
    if pc.sctp is not None:
        transports.add(pc.sctp.transport.transport)
    return [protocol for transport in transports for protocol in transport.iceGatherer._connection._protocols]


def take_packets(receiver: RTCRtpReceiver, see: Callable[[int, int, bytes], None]) -> None:
    """Gives the packets of `receiver` to `see(sequence number, timestamp, payload)`; aiortc goes on with RTCP.

    Its own jitter buffer would pass a lost packet over in silence, and only when the sixteenth after it has come.
    """
    setattr(receiver, _JITTER_BUFFER, _Tap(see))


class _Tap:
    """Stands where aiortc keeps its jitter buffer: shows each packet, and gives nothing on to be decoded there."""

    def __init__(self, see: Callable[[int, int, bytes], None]) -> None:
        self._see = see

    def add(self, packet: Any) -> tuple[bool, None]:
        """Called by aiortc for each packet; a keyframe is never to be asked for, and no frame is complete."""
        self._see(packet.sequence_number, packet.timestamp, packet.payload)
        return False, None
