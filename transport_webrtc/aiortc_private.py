"""Every private name of aiortc and aioice that this package touches, in one file, checked at start.

aiortc has no public way to see receiver reports one by one, nor to choose the addresses that candidates are gathered
on. What follows reaches into single instances and never patches a class, so that other users of aiortc in the process
notice nothing.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from aiortc import RTCPeerConnection, RTCRtpReceiver, RTCRtpSender, RTCRtpTransceiver, RTCSctpTransport
from aiortc.rtp import RtcpSrPacket

from . import aiortc_sctp, aiortc_sctp_inbound

log = logging.getLogger(__name__)

LOOPBACK = ("127.0.0.1", "::1")
GATHERING_S = 2
"""The longest that a STUN or TURN server is waited for: the answer to an offer waits as long."""
_OPEN_CHANNEL = (50, b"\x03")
"""Payload protocol and message type with which a data channel is opened (RFC 8832 sections 8.1 and 5.1)."""
_JITTER_BUFFER = "_RTCRtpReceiver__jitter_buffer"
_HISTORY = "_RTCRtpSender__rtp_history"
_TAG_BYTES = {b"SRTP_AES128_CM_SHA1_80": 10}
_LONGEST_TAG_BYTES = 16
"""Of the AES-GCM profiles (RFC 7714); the other one adds ten (RFC 3711)."""


class UnsupportedAiortc(ImportError):
    """The installed aiortc or aioice lacks a private name that is needed here; the message says which."""


def check() -> None:
    """Raises `UnsupportedAiortc` with a sentence where an installed version does not fit."""
    import aioice
    from aiortc.rtcdtlstransport import RTCDtlsTransport
    from aiortc.rtcicetransport import RTCIceGatherer

    wanted: list[tuple[object, str, tuple[str, ...], str]] = [
        (RTCRtpSender, "_handle_rtcp_packet", ("packet",), "receiver reports are read there"),
        (RTCRtpSender, "_send_rtcp", ("packets",), "sender reports are spaced there"),
        (RTCRtpSender, "_retransmit", ("sequence_number",), "what is asked for again is told there"),
        (RTCDtlsTransport, "_send_rtp", ("data",), "packets are numbered there"),
        (RTCDtlsTransport, "_handle_rtcp_data", ("data",), "transport-wide feedback is read there"),
        (RTCDtlsTransport, "_handle_rtp_data", ("data", "arrival_time_ms"), "a bench's listeners see packets there"),
        (
            RTCSctpTransport,
            "_receive",
            ("stream_id", "pp_id", "data"),
            "unreadable messages are dropped there",
        ),
        (
            aioice.Connection,
            "get_component_candidates",
            ("component", "addresses", "timeout"),
            "the addresses of candidates are chosen there",
        ),
        (aioice.ice, "get_host_addresses", ("use_ipv4", "use_ipv6"), "the addresses of this machine come from there"),
        *((RTCSctpTransport, *needed) for needed in (*aiortc_sctp.NEEDED, *aiortc_sctp_inbound.NEEDED)),
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
    held: list[tuple[Any, str, str]] = [
        (RTCRtpSender, "_ssrc", "receiver reports are told apart by it"),
        (RTCRtpSender, _HISTORY, "an interruption empties it"),
        (RTCRtpReceiver, _JITTER_BUFFER, "a native listener takes its packets there"),
        (RTCRtpTransceiver, "_codecs", "the payload type of RED is set there"),
        (RTCDtlsTransport, "_ssl", "it knows the length of the tag that protects a packet"),
        *((RTCSctpTransport, name, "data channels are tuned by it") for name in aiortc_sctp.NEEDED_ATTRIBUTES),
        *((RTCSctpTransport, name, "what comes is judged by it") for name in aiortc_sctp_inbound.NEEDED_ATTRIBUTES),
    ]
    for holder, attribute, why in held:
        if attribute not in holder.__init__.__code__.co_names:
            _refuse(f"{holder.__name__}.{attribute}", why)


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


def rewrite_leaving(sender: RTCRtpSender, change: Callable[[bytes], bytes]) -> None:
    """Puts `change` in the way of every RTP and RTCP packet, not yet encrypted, that leaves through the transport of
    `sender`; what it returns is sent."""
    transport = sender.transport
    inner: Callable[[bytes], Awaitable[None]] = transport._send_rtp

    async def changed(data: bytes) -> None:
        await inner(change(data))

    transport._send_rtp = changed  # type: ignore[method-assign]


def rewrite_rtcp(sender: RTCRtpSender, change: Callable[[bytes], bytes]) -> None:
    """Puts `change` in the way of all RTCP that comes in on the transport of `sender`, decrypted and not yet parsed;
    aiortc sees what it returns, unless that is empty."""
    transport = sender.transport
    inner: Callable[[bytes], Awaitable[None]] = transport._handle_rtcp_data

    async def changed(data: bytes) -> None:
        rest = change(data)
        if rest:
            await inner(rest)

    transport._handle_rtcp_data = changed  # type: ignore[method-assign]


def outlive_messages(sctp: RTCSctpTransport, *, most_channels: int, on_more: Callable[[], None]) -> None:
    """Drops what comes over `sctp` and cannot be understood; in aiortc 1.16 text that is no UTF-8, a channel opened
    twice or a label longer than its message end the connection. Told in the log once. What would open more than
    `most_channels` at a time is dropped, too, and `on_more` called.

    What a channel's handlers raise ends here, too.
    """
    receive: Callable[[int, int, bytes], Awaitable[None]] = sctp._receive
    handle: Callable[[bytes], Awaitable[None]] = sctp._handle_data
    told = False

    def dropped(what: str, error: Exception) -> None:
        nonlocal told
        log.log(logging.DEBUG if told else logging.WARNING, "%s was dropped: %s.", what, type(error).__name__)
        told = True

    async def message(stream_id: int, pp_id: int, data: bytes) -> None:
        if (pp_id, data[:1]) == _OPEN_CHANNEL and len(sctp._data_channels) >= most_channels:
            return on_more()
        try:
            await receive(stream_id, pp_id, data)
        except ConnectionError:
            raise
        except Exception as error:
            dropped("A message on a data channel", error)

    async def packet(data: bytes) -> None:
        try:
            await handle(data)
        except ConnectionError:
            raise
        except Exception as error:
            dropped("A packet of the data channels", error)

    sctp._receive = message  # type: ignore[method-assign]
    sctp._handle_data = packet  # type: ignore[method-assign]


def ask_before_retransmission(sender: RTCRtpSender, allow: Callable[[int], bool]) -> None:
    """aiortc sends a packet again, where it still has it, only if `allow(sequence number)`."""
    inner: Callable[[int], Awaitable[None]] = sender._retransmit

    async def asked(sequence_number: int) -> None:
        # aiortc 1.16 counts on from the first number that a request names without wrapping around.
        if allow(sequence_number & 0xFFFF):
            await inner(sequence_number & 0xFFFF)

    sender._retransmit = asked  # type: ignore[method-assign]


def space_reports(sender: RTCRtpSender, gap_s: Callable[[], float]) -> None:
    """Leaves out sender reports of RTCP (RFC 3550, section 6.4.1) that come sooner than `gap_s()` seconds after the one
    before. aiortc sends one a second, of 114 bytes on the wire."""
    inner: Callable[[Any], Awaitable[None]] = sender._send_rtcp
    last_at = float("-inf")

    async def spaced(packets: Any) -> None:
        nonlocal last_at
        now = asyncio.get_running_loop().time()
        if isinstance(packets[0], RtcpSrPacket):
            if now - last_at < gap_s():
                return
            last_at = now
        await inner(packets)

    sender._send_rtcp = spaced  # type: ignore[method-assign]


def forget_sent(sender: RTCRtpSender) -> None:
    """Nothing that `sender` sent until now can be sent again."""
    getattr(sender, _HISTORY).clear()


def send_as(transceiver: RTCRtpTransceiver, payload_type: int) -> None:
    """What `transceiver` sends has that payload type. Call it between the remote description and the local one: the
    codec is then a copy that belongs to this connection alone."""
    transceiver._codecs[0].payloadType = payload_type


def srtp_tag_bytes(sender: RTCRtpSender) -> int:
    """Bytes that encryption adds to a packet; the most that it may be before the handshake."""
    ssl = sender.transport._ssl
    profile = ssl.get_selected_srtp_profile() if ssl is not None else b""
    return _TAG_BYTES.get(profile, _LONGEST_TAG_BYTES)


def ssrc_of(sender: RTCRtpSender) -> int:
    """The synchronisation source under which `sender` sends."""
    return sender._ssrc


def gather_on_loopback(sender: RTCRtpSender, *, always: bool) -> None:
    """Adds 127.0.0.1 and ::1 to the addresses on which the transport of `sender` will gather; aioice leaves them out.

    Without `always` it is added only where the machine has no other address. Call it before the local description
    is set.
    """
    connection = sender.transport.transport.iceGatherer._connection
    inner = connection.get_component_candidates

    async def with_loopback(component: int, addresses: list[str], **options: Any) -> list[Any]:
        wanted = [*addresses, *LOOPBACK] if always or not addresses else addresses
        return await inner(component=component, addresses=wanted, **{**options, "timeout": GATHERING_S})

    connection.get_component_candidates = with_loopback  # type: ignore[method-assign, assignment]


def datagram_protocols(pc: RTCPeerConnection) -> list[Any]:
    """The aioice protocols of a connection whose local description is set: one for each socket, with its `transport`
    and what asyncio calls on it."""
    transports = {transceiver.sender.transport.transport for transceiver in pc.getTransceivers()}
    if pc.sctp is not None:
        transports.add(pc.sctp.transport.transport)
    return [protocol for transport in transports for protocol in transport.iceGatherer._connection._protocols]


def take_rtp(receiver: RTCRtpReceiver, see: Callable[[bytes], None]) -> Callable[[bytes], Awaitable[None]]:
    """Gives the RTP packets that come on the transport of `receiver`, decrypted, to `see` alone. Returns what sends
    RTCP back there."""
    transport = receiver.transport

    async def seen(data: bytes, arrival_time_ms: int) -> None:
        see(data)

    transport._handle_rtp_data = seen  # type: ignore[method-assign]
    return transport._send_rtp


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
