"""aiortc's SCTP, tuned for speech sent ahead, between two real peers over a bad path."""

import asyncio
import time
from itertools import pairwise

import pytest
from aiortc import RTCConfiguration, RTCPeerConnection
from aiortc.rtcsctptransport import DataChunk, ForwardTsnChunk, SackChunk, parse_packet

from transport_webrtc import aiortc_private, aiortc_sctp
from transport_webrtc.aiortc_sctp import FORWARD_GAP_S, SACK_GAP_S, WINDOW_BYTES
from transport_webrtc.datagram_filter import LabNetwork


class Line:
    """A server that sends on `speech`, which the client offers; what arrives when."""

    def __init__(self):
        self.server, self.client = (RTCPeerConnection(RTCConfiguration(iceServers=[])) for _ in range(2))
        self.arrived = []
        self.chunks = []
        self.speech = self.feedback = None

    async def connect(self):
        self.client.createDataChannel("control")
        for label in ("speech", "feedback"):
            channel = self.client.createDataChannel(label, ordered=False, maxRetransmits=0)
            channel.on("message", lambda data, label=label: self.arrived.append((time.monotonic(), label, data)))
        self.server.on("datachannel", lambda channel: setattr(self, channel.label, channel))
        await self.client.setLocalDescription(await self.client.createOffer())
        await self.server.setRemoteDescription(self.client.localDescription)
        self.narrow = aiortc_sctp.keep_out_of_the_way(self.server.sctp)
        self._watch(self.server.sctp)
        await self.server.setLocalDescription(await self.server.createAnswer())
        self.network = LabNetwork(self.server)
        await self.client.setRemoteDescription(self.server.localDescription)
        async with asyncio.timeout(10):
            while self.speech is None or self.feedback is None:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    def _watch(self, sctp):
        send = sctp._send_chunk

        async def sent(chunk):
            self.chunks.append((time.monotonic(), type(chunk)))
            await send(chunk)

        sctp._send_chunk = sent

    async def talk(self, seconds, every_s=0.02, size=400):
        """Messages at an even pace, as the delivery of speech sends them; their number first."""
        for number in range(round(seconds / every_s)):
            self.speech.send(number.to_bytes(4, "big") + bytes(size))
            await asyncio.sleep(every_s)

    async def acknowledge(self, count, every_s):
        """What the client says on `feedback`."""
        client = self.client.sctp
        for _ in range(count):
            for stream, channel in client._data_channels.items():
                if channel.label == "feedback":
                    await client._send(stream, 53, b"ack", max_retransmits=0, ordered=False)
            await asyncio.sleep(every_s)

    def times(self, label="speech", since=0.0):
        return [at for at, which, _ in self.arrived if which == label and at >= since]

    def gaps(self, kind):
        times = [at for at, which in self.chunks if which is kind]
        return [b - a for a, b in pairwise(times)]

    def packets(self):
        """The kinds of chunks in each packet of the server from now on."""
        transport, packets = self.server.sctp.transport, []
        send = transport._send_data

        async def sent(data):
            packets.append([type(chunk) for chunk in parse_packet(data)[3]])
            await send(data)

        transport._send_data = sent
        return packets

    async def close(self):
        await self.server.close()
        await self.client.close()


@pytest.fixture
async def line():
    one = Line()
    await one.connect()
    yield one
    await one.close()


async def test_loss_neither_stops_nor_slows_what_is_sent(line) -> None:
    """Stock waits a second and more after every bad loss; here only what is lost is missing."""
    line.network.set(down={"loss": 0.25, "delay_ms": 40}, up={"loss": 0.25, "delay_ms": 40})
    await line.talk(4.0)
    await asyncio.sleep(0.3)
    times = line.times()
    assert len(times) > 200 * 0.6
    assert max(b - a for a, b in pairwise(times)) < 0.45
    assert line.server.sctp._cwnd >= WINDOW_BYTES
    assert line.server.sctp._rto <= 1.0
    forwards = line.gaps(ForwardTsnChunk)
    assert len(forwards) > 5, "what is given up is told"
    assert min(forwards) > FORWARD_GAP_S - 0.02


def outstanding(sctp, fates):
    """Chunks as a peer that answers with gaps leaves them: g(iven up), a(rrived) or w(aiting)."""
    for offset, fate in enumerate(fates, start=1):
        chunk = DataChunk()
        chunk.tsn, chunk.user_data, chunk.stream_id, chunk.stream_seq = sctp._last_sacked_tsn + offset, b"x", 1, offset
        chunk._book_size, chunk._misses, chunk._sent_count, chunk._sent_time = 1, 0, 1, time.time()
        chunk._abandoned, chunk._acked, chunk._retransmit = fate == "g", fate == "a", False
        chunk._max_retransmits = chunk._expiry = None
        chunk._in_flight = False
        sctp._sent_queue.append(chunk)


@pytest.mark.parametrize(
    ("fates", "passed", "left"),
    [("aagaagaaw", 6, "aaw"), ("gag", 3, ""), ("aaa", 0, "aaa"), ("wgg", 0, "wgg"), ("gwg", 1, "wg")],
)
async def test_the_peer_is_moved_over_all_that_was_given_up_at_once(line, fates, passed, left) -> None:
    """Also where something in between arrived, but never over what is still waited for."""
    sctp = line.server.sctp
    before = sctp._last_sacked_tsn
    sctp._advanced_peer_ack_tsn = before
    outstanding(sctp, fates)
    sctp._update_advanced_peer_ack_point()
    assert sctp._advanced_peer_ack_tsn - before == passed
    assert "".join("g" if c._abandoned else "a" if c._acked else "w" for c in sctp._sent_queue) == left
    sctp._sent_queue.clear()


async def test_what_arrived_does_not_go_again_when_the_timer_expires(line) -> None:
    sctp = line.server.sctp
    outstanding(sctp, "waaw")
    sctp._t3_expired()
    assert [chunk._retransmit for chunk in sctp._sent_queue] == [True, False, False, True]
    sctp._sent_queue.clear()


async def test_after_an_outage_fresh_speech_arrives_at_once(line) -> None:
    await line.talk(0.5)
    line.network.set(down={"loss": 1.0}, up={"loss": 1.0})
    await line.talk(1.5)
    line.network.set(down={"loss": 0.0}, up={"loss": 0.0})
    back = time.monotonic()
    await line.talk(0.5)
    assert line.times(since=back)[0] - back < 0.15


async def test_feedback_is_never_far_behind_speech(line) -> None:
    """A ping that is sent while speech is, over a path that speech fills by half, arrives with it."""
    line.network.set(down={"loss": 0.1, "delay_ms": 20}, up={"loss": 0.1, "delay_ms": 20})
    sent = []

    async def ping():
        for _ in range(20):
            sent.append(time.monotonic())
            line.feedback.send(str(len(sent)))
            await asyncio.sleep(0.1)

    await asyncio.gather(line.talk(2.0), ping())
    await asyncio.sleep(0.2)
    delays = [at - sent[int(data) - 1] for at, label, data in line.arrived if label == "feedback"]
    assert len(delays) >= 12
    assert max(delays) < 0.12


async def test_acknowledgements_are_rare(line) -> None:
    """Whatever comes is acknowledged, though not packet by packet."""
    await line.acknowledge(100, every_s=0.01)
    await asyncio.sleep(0.3)
    gaps = line.gaps(SackChunk)
    assert 4 <= len(gaps) <= 12
    assert min(gaps[-4:]) > SACK_GAP_S - 0.02
    assert not line.client.sctp._sent_queue, "all of it was acknowledged in the end"


@pytest.mark.parametrize(("size", "alone"), [(800, 2), (1140, 12)])
async def test_they_ride_along_with_speech_where_they_fit_in(line, size, alone) -> None:
    """In front of it, as a packet of their own costs as much to make as one of speech."""
    packets = line.packets()
    await asyncio.gather(line.talk(1.5, every_s=0.06, size=size), line.acknowledge(50, every_s=0.03))
    await asyncio.sleep(0.3)
    riding, walking = packets.count([SackChunk, DataChunk]), packets.count([SackChunk])
    assert riding + walking >= 6
    assert walking <= alone
    assert (riding > 0) == (size == 800)
    assert len(line.times()) == 25
    assert not line.client.sctp._sent_queue, "all of it was acknowledged in the end"


async def test_closing_with_something_to_tell_is_quiet(line, caplog) -> None:
    line.network.set(down={"loss": 0.5}, up={"loss": 0.5})
    await line.talk(0.6)
    await line.close()
    await asyncio.sleep(0.2)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_a_missing_name_is_told(monkeypatch) -> None:
    monkeypatch.setattr(aiortc_sctp, "NEEDED_ATTRIBUTES", ("_window_of_the_moon",))
    with pytest.raises(aiortc_private.UnsupportedAiortc, match="_window_of_the_moon"):
        aiortc_private.check()


async def test_on_a_narrow_path_they_are_rarer_still(line) -> None:
    line.narrow(True)
    await line.acknowledge(60, every_s=0.02)
    assert 1 <= len([kind for _, kind in line.chunks if kind is SackChunk]) <= 4


async def test_on_a_narrow_path_nothing_goes_again_before_it_can_have_arrived(line) -> None:
    line.narrow(True)
    line.server.sctp._update_rto(5.0)
    assert line.server.sctp._rto == aiortc_sctp.NARROW_TIMEOUT_S
    line.narrow(False)
    assert line.server.sctp._rto == aiortc_sctp.LONGEST_TIMEOUT_S
    line.server.sctp._update_rto(5.0)
    assert line.server.sctp._rto == aiortc_sctp.LONGEST_TIMEOUT_S
