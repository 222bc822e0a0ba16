"""Receiver reports on virtual time, with aiortc's own report blocks."""

import pytest
from aiortc.rtp import RtcpReceiverInfo

from adaptive.control.reports import Source
from transport_webrtc.feedback.rtcp import ReceiverReports


def block(*, highest: int, lost: int, jitter: int = 0, lsr: int = 0, dlsr: int = 0, fraction: int = 0):
    return RtcpReceiverInfo(
        ssrc=1, fraction_lost=fraction, packets_lost=lost, highest_sequence=highest, jitter=jitter, lsr=lsr, dlsr=dlsr
    )


def test_round_trip_is_raw() -> None:
    reports = ReceiverReports()
    for second in range(100):
        reports.sender_report(float(second), second + 1)
    report = reports.receiver_report(
        99.75, block(highest=1, lost=0, lsr=100, dlsr=65536 // 2, jitter=480), sent_rate=1.0
    )
    assert report.source is Source.RTCP
    assert report.rtt_s == pytest.approx(0.25)
    assert report.jitter_s == pytest.approx(0.01)
    assert report.sent_rate == 1.0
    forgotten = reports.receiver_report(99.75, block(highest=1, lost=0, lsr=3), sent_rate=None)
    assert forgotten.rtt_s is None
    before_any = reports.receiver_report(99.75, block(highest=1, lost=0, lsr=0), sent_rate=None)
    assert before_any.rtt_s is None


def test_loss_is_counted_between_reports_and_not_believed_from_the_fraction() -> None:
    reports = ReceiverReports()
    first = reports.receiver_report(0.0, block(highest=1000, lost=100, fraction=255), sent_rate=None)
    assert first.loss is None
    second = reports.receiver_report(1.0, block(highest=1050, lost=105, fraction=255), sent_rate=None)
    assert second.loss == pytest.approx(0.1)
    assert second.packets == 50
    repeated = reports.receiver_report(1.1, block(highest=1050, lost=105, fraction=255), sent_rate=None)
    assert repeated.loss is None
    duplicates = reports.receiver_report(2.0, block(highest=1100, lost=90), sent_rate=None)
    assert duplicates.loss == 0
