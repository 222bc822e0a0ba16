"""What a peer connection leaves out on a narrow path."""

import asyncio

from aiortc.rtp import RtcpByePacket, RtcpSenderInfo, RtcpSrPacket

from transport_webrtc import aiortc_private


class Sender:
    """Keeps what would leave."""

    def __init__(self) -> None:
        self.left: list[object] = []

    async def _send_rtcp(self, packets: list[object]) -> None:
        self.left.append(packets[0])


async def test_sender_reports_are_rare_on_a_narrow_path_and_a_goodbye_is_not_left_out(monkeypatch) -> None:
    sender, now, gap_s = Sender(), 100.0, 0.0
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now)
    aiortc_private.space_reports(sender, lambda: gap_s)  # type: ignore[arg-type]
    info = RtcpSenderInfo(ntp_timestamp=0, rtp_timestamp=0, packet_count=0, octet_count=0)
    for gap_s, reports in ((0.0, 10), (5.0, 2)):  # noqa: B007
        before = len(sender.left)
        for _ in range(10):
            now += 1.0
            await sender._send_rtcp([RtcpSrPacket(ssrc=1, sender_info=info)])
        assert len(sender.left) - before == reports
    await sender._send_rtcp([RtcpByePacket(sources=[1])])
    assert isinstance(sender.left[-1], RtcpByePacket)
