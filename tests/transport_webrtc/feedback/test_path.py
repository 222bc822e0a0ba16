"""Which source speaks for a path, and what is sent again: on given time, at the transport of a real connection."""

import itertools
import json
from typing import Any

import pytest
from aiortc import RTCConfiguration, RTCPeerConnection, RTCRtpSender
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adaptive.control.reports import HeardReport, NetworkReport, Source
from transport_webrtc.feedback.path import PathFacts
from transport_webrtc.feedback.retransmissions import MOST_PER_WINDOW, Retransmissions
from transport_webrtc.feedback.transport_wide import packets


def rtp(sequence: int) -> bytes:
    return bytes((0x80, 63)) + sequence.to_bytes(2, "big") + bytes(8) + b"payload"


def wide_feedback(first: int, count: int) -> bytes:
    """All of them arrived, 20 ms apart."""
    body = first.to_bytes(2, "big") + count.to_bytes(2, "big") + bytes(4) + (1 << 13 | count).to_bytes(2, "big")
    body += bytes((80,)) * count
    body += bytes(-len(body) % 4)
    return bytes((0x8F, 205)) + ((8 + len(body)) // 4).to_bytes(2, "big") + bytes(8) + body


def nack(*sequences: int) -> bytes:
    body = b"".join(n.to_bytes(2, "big") + bytes(2) for n in sequences)
    return bytes((0x81, 205)) + ((8 + len(body)) // 4).to_bytes(2, "big") + bytes(8) + body


class Channel:
    """A data channel that is open, on given time."""

    readyState = "open"
    bufferedAmount = 0

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def on(self, event: str, got: Any) -> None:
        self.answer = got

    def send(self, text: str) -> None:
        self.sent.append(json.loads(text))


class Scene:
    """Facts of a sender that is not connected: what would leave and what aiortc would see are kept."""

    def __init__(self, sender: RTCRtpSender, element: int | None = 3) -> None:
        self.now = 100.0
        self.left: list[bytes] = []
        self.seen: list[bytes] = []
        self.reports: list[NetworkReport] = []
        self.heard: list[HeardReport] = []
        self.rtts: list[float] = []
        self.signs: list[tuple[float, float | None]] = []
        self.repeats: list[int] = []
        self.transport = sender.transport

        async def leave(data: bytes) -> None:
            self.left.append(data)

        async def see(data: bytes) -> None:
            self.seen.append(data)

        self.transport._send_rtp = leave  # type: ignore[method-assign]
        self.transport._handle_rtcp_data = see  # type: ignore[method-assign]
        self.facts = PathFacts(
            sender,
            element=element,
            overhead=62,
            clock=lambda: self.now,
            sent_rate=lambda: 40_000.0,
            on_network=self.reports.append,
            on_heard=self.heard.append,
            on_rtt=self.rtts.append,
            on_repeat=self.repeats.append,
            on_sign=lambda now, reached: self.signs.append((now, reached)),
        )
        self.channel = Channel()

    async def send(self, *sequences: int) -> None:
        for sequence in sequences:
            await self.transport._send_rtp(rtp(sequence))

    async def came(self, data: bytes) -> None:
        await self.transport._handle_rtcp_data(data)

    def pong(self, lost: int = 0) -> None:
        """The newest ping is answered 80 ms after it was sent."""
        ping = self.channel.sent[-1]
        counters = [100 * len(self.rtts), lost, 1500, 0, 0, 0, 0, 9000 * len(self.rtts), 0]
        self.channel.answer(json.dumps({"p": ping["p"], "t": ping["t"], "h": 0, "s": counters}))


@pytest.fixture
async def sender():
    pc = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    yield pc.addTransceiver("audio", "sendonly").sender
    await pc.close()


async def test_wide_feedback_speaks_and_the_channel_adds_the_round_trip(sender) -> None:
    scene = Scene(sender)
    scene.facts.attach(scene.channel)
    scene.facts.tick(scene.now, narrow=False)
    scene.now += 0.08
    scene.pong()
    assert [report.source for report in scene.reports] == [Source.FEEDBACK], "until there is better"
    await scene.send(*range(500, 510))
    scene.now += 0.1
    await scene.came(wide_feedback(0, 5))
    scene.now += 0.03
    await scene.came(wide_feedback(5, 5))
    assert len(scene.reports) == 2, "50 ms apart at least"
    scene.now += 0.03
    scene.facts.tick(scene.now, narrow=False)
    first, second = scene.reports[1:]
    assert (first.source, second.source) == (Source.TWCC, Source.TWCC)
    assert (first.packets, second.packets) == (5, 5)
    assert first.rtt_s == second.rtt_s == pytest.approx(0.08)
    assert first.jitter_s == pytest.approx(0.0015)
    assert scene.seen == [], "aiortc would take it for a request"

    scene.now += 0.5
    scene.facts.tick(scene.now, narrow=False)
    scene.now += 0.08
    scene.pong(lost=50)
    assert len(scene.reports) == 3, "counters say less"
    assert scene.rtts == pytest.approx([0.08, 0.08])
    scene.now += 2.0
    scene.facts.tick(scene.now, narrow=False)
    scene.now += 0.08
    scene.pong(lost=60)
    assert scene.reports[-1].source is Source.FEEDBACK, "where nothing better comes any more"
    assert scene.reports[-1].loss is not None
    assert scene.facts.last_sign == scene.now
    scene.now += 4.0
    await scene.send(510)
    await scene.came(wide_feedback(10, 1))
    assert scene.reports[-1].source is Source.TWCC
    assert scene.reports[-1].rtt_s is None, "too long ago to be a fact"


async def test_pings_are_fewer_where_packets_tell(sender) -> None:
    scene = Scene(sender)
    scene.facts.attach(scene.channel)
    number = 0

    async def ten_seconds(*, wide: bool, narrow: bool, acknowledged: bool = False) -> int:
        nonlocal number
        before = len(scene.channel.sent)
        for _ in range(100):
            scene.now += 0.1
            if wide:
                await scene.send(number & 0xFFFF)
                await scene.came(wide_feedback(number, 1))
                number += 1
            scene.facts.tick(scene.now, narrow=narrow, acknowledged=acknowledged)
        return len(scene.channel.sent) - before

    assert await ten_seconds(wide=False, narrow=False) == pytest.approx(40, abs=1)
    assert await ten_seconds(wide=True, narrow=False) == pytest.approx(20, abs=1)
    assert await ten_seconds(wide=True, narrow=True) == pytest.approx(10, abs=1)
    assert await ten_seconds(wide=True, narrow=True, acknowledged=True) == pytest.approx(2.5, abs=1)
    assert await ten_seconds(wide=True, narrow=False, acknowledged=True) == pytest.approx(10, abs=1)
    assert await ten_seconds(wide=False, narrow=False, acknowledged=True) == pytest.approx(10, abs=1)


async def test_a_wish_waits_for_the_channel_and_is_told_once(sender) -> None:
    scene = Scene(sender)
    scene.facts.ask_playout_delay(0.25)
    scene.facts.attach(scene.channel)
    for _ in range(20):
        scene.facts.ask_playout_delay(0.25)
        scene.facts.tick(scene.now, narrow=False)
        scene.now += 0.08
        if len(scene.channel.sent) > len(scene.rtts):
            scene.pong()
        scene.now += 0.02
    assert [message["jbt"] for message in scene.channel.sent if "jbt" in message] == [250]


async def test_numbers_follow_the_stream_and_a_packet_sent_again_keeps_its_own(sender) -> None:
    scene = Scene(sender)
    await scene.send(65_534, 65_535, 0, 1, 65_535, 2)
    assert [data[2:4] + data[17:19] for data in scene.left] == [
        sequence.to_bytes(2, "big") + number.to_bytes(2, "big")
        for sequence, number in ((65_534, 0), (65_535, 1), (0, 2), (1, 3), (65_535, 1), (2, 4))
    ]
    assert scene.left[1] == scene.left[4]
    assert scene.repeats == [len(scene.left[4]) + 28 + 16]
    sender_report = bytes((0x80, 200)) + bytes(26)
    await scene.transport._send_rtp(sender_report)
    assert scene.left[-1] == sender_report


async def test_without_an_extension_packets_leave_as_they_are(sender) -> None:
    scene = Scene(sender, element=None)
    await scene.send(7, 8, 7)
    assert scene.left == [rtp(7), rtp(8), rtp(7)]
    assert len(scene.repeats) == 1
    await scene.came(nack(7))
    assert scene.seen == [nack(7)]


async def test_requests_beside_feedback_reach_aiortc(sender) -> None:
    scene = Scene(sender)
    await scene.send(*range(4))
    await scene.came(nack(2) + wide_feedback(0, 4) + nack(3))
    assert scene.seen == [nack(2) + nack(3)]
    assert scene.reports[0].packets == 4


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(min_size=1, max_size=60), max_size=4), st.booleans())
async def test_noise_is_passed_on_or_counted_never_worse(sender, noise: list[bytes], like_feedback: bool) -> None:
    scene = Scene(sender)
    await scene.send(*range(20))
    for data in noise:
        await scene.came(bytes((0x8F, 205)) + data if like_feedback else data)
    data = b"".join(noise)
    spans = list(packets(data))
    assert all(start + 4 <= len(data) and start < end <= len(data) for start, end in spans)
    assert all(a[1] == b[0] for a, b in itertools.pairwise(spans))


async def test_feedback_on_more_packets_than_are_remembered_is_not_even_read(sender) -> None:
    scene = Scene(sender)
    await scene.send(0)
    huge = bytearray(wide_feedback(0, 1))
    huge[14:16] = (60_000).to_bytes(2, "big")
    await scene.came(bytes(huge))
    assert scene.facts.wide.broken == 1
    assert not scene.reports


async def test_requests_are_answered_within_bounds(sender) -> None:
    now, rtt = [10.0], [0.1]
    let_through: list[int] = []

    async def send_again(sequence_number: int) -> None:
        let_through.append(sequence_number)

    sender._retransmit = send_again
    again = Retransmissions(sender, clock=lambda: now[0], rtt_s=lambda: rtt[0], newest=lambda: 7)

    async def ask(*sequences: int) -> list[int]:
        let_through.clear()
        for sequence in sequences:
            await sender._retransmit(sequence)
        return list(let_through)

    assert await ask(1, 2) == []
    again.wanted = True
    assert await ask(1, 2, 65_537) == [1, 2], "a number that runs over is the small one"
    now[0] += 0.05
    assert await ask(1, 3) == [3], "the first is still on its way"
    now[0] += 0.05
    assert await ask(1) == [1]
    now[0] += 1.0
    assert len(await ask(*range(100, 200))) == MOST_PER_WINDOW
    now[0] += 0.6
    assert await ask(300) == [300]
    assert again.asked == 109
    again.forget()
    assert await ask(8, 9) == [9], "in 8 what was cut off fades out"


async def test_what_arrived_is_told_with_every_sign(sender: RTCRtpSender) -> None:
    scene = Scene(sender)
    await scene.send(1, 2, 3)
    scene.now = 100.1
    await scene.send(4, 5)
    await scene.came(wide_feedback(0, 4))
    assert scene.signs == [(100.1, 100.1)]
    assert scene.facts.arrived_until(100.05) == 100.0
    assert scene.facts.arrived_until(99.0) is None
    scene.facts.attach(scene.channel)
    scene.now = 101.0
    scene.facts.tick(scene.now, narrow=False)
    scene.now = 101.2
    scene.pong()
    assert scene.signs[-1] == (101.2, 101.0)
