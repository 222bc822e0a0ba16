"""Receiver reports of RTCP as network reports: the only facts from a listener that has no feedback channel.

Round trips are raw (RFC 3550 section 6.4.1: LSR and DLSR), where aiortc's own statistics smooth them over many reports.
Loss is counted between two reports and not taken from `fraction lost`, which is wrong in reports that accompany NACKs.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aiortc import RTCRtpSender
from aiortc.rtp import RtcpReceiverInfo, RtcpRrPacket, RtcpSrPacket

from adaptive.control.reports import NetworkReport, Source

from .. import aiortc_private
from .exchange import BaseRoundTrip

RTP_RATE = 48_000
"""Ticks of the RTP clock of Opus in a second (RFC 7587 section 4.1)."""
SENDER_REPORT = 200
_RTCP = range(192, 224)
"""Second bytes that tell RTCP from RTP on one port (RFC 5761 section 4)."""
PACKETS_KEPT = 1024
"""Packets whose leaving is remembered: 20 s at 20 ms, twice the longest that receivers take between two reports."""
KEPT = 32
"""Sender reports whose time is remembered: half a minute of them."""


@dataclass(frozen=True, kw_only=True)
class _Counted:
    highest: int
    lost: int


class ReceiverReports:
    """Sums up the receiver reports of one stream. Pure: time is an argument."""

    def __init__(self) -> None:
        self.reached_at: float | None = None
        """When the newest packet left of which a report says that it arrived."""
        self._sent: dict[int, float] = {}
        self._left: dict[int, float] = {}
        self._base = BaseRoundTrip()
        self._before: _Counted | None = None

    def sender_report(self, now: float, ntp_middle: int) -> None:
        """A sender report left; `ntp_middle` are the middle 32 bits of its NTP time stamp."""
        self._sent.pop(ntp_middle, None)
        self._sent[ntp_middle] = now
        if len(self._sent) > KEPT:
            del self._sent[next(iter(self._sent))]

    def packet(self, now: float, sequence: int) -> None:
        """An RTP packet left; of one that leaves again the first time counts."""
        if sequence not in self._left:
            self._left[sequence] = now
            if len(self._left) > PACKETS_KEPT:
                del self._left[next(iter(self._left))]

    def receiver_report(self, now: float, block: RtcpReceiverInfo, *, sent_rate: float | None) -> NetworkReport:
        """What one report block shows. `sent_rate` in bit/s goes into the report."""
        sent_at = self._sent.get(block.lsr) if block.lsr else None
        rtt_s = None if sent_at is None else max(0.0, now - sent_at - block.dlsr / 65536)
        self.reached_at = self._left.get(block.highest_sequence & 0xFFFF, self.reached_at)
        counted = _Counted(highest=block.highest_sequence, lost=block.packets_lost)
        before, self._before = self._before, counted
        packets = counted.highest - before.highest if before else 0
        lost = counted.lost - before.lost if before else 0
        return NetworkReport(
            at=now,
            source=Source.RTCP,
            rtt_s=rtt_s,
            loss=min(1.0, max(0.0, lost / packets)) if packets > 0 else None,
            packets=packets if packets > 0 else None,
            jitter_s=block.jitter / RTP_RATE,
            queue_delay_s=None if rtt_s is None else self._base.above(now, rtt_s),
            sent_rate=sent_rate,
        )


def listen(
    sender: RTCRtpSender,
    *,
    clock: Callable[[], float],
    sent_rate: Callable[[], float | None],
    on_network: Callable[[NetworkReport], None],
) -> ReceiverReports:
    """Reports to `on_network` whenever the peer of `sender` sends a receiver report."""
    reports = ReceiverReports()
    ssrc = aiortc_private.ssrc_of(sender)

    def leaving(data: bytes) -> bytes:
        if data[1] == SENDER_REPORT:
            reports.sender_report(clock(), struct.unpack_from("!I", data, 10)[0])
        elif data[1] not in _RTCP:
            reports.packet(clock(), data[2] << 8 | data[3])
        return data

    def came(packet: Any) -> None:
        if isinstance(packet, RtcpRrPacket | RtcpSrPacket):
            for block in packet.reports:
                if block.ssrc == ssrc:
                    on_network(reports.receiver_report(clock(), block, sent_rate=sent_rate()))

    aiortc_private.rewrite_leaving(sender, leaving)
    aiortc_private.on_rtcp(sender, came)
    return reports
