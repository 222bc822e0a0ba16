"""The audio track between two real peer connections: what arrives on the wire, and what is heard."""

import asyncio
import contextlib
import itertools
import time
from collections import defaultdict

import numpy as np
import pytest
from aiortc import RTCConfiguration, RTCPeerConnection
from aiortc.mediastreams import MediaStreamError

from adaptive.codec.opus import OpusDecoder
from adaptive.codec.toc import describe
from adaptive.control.plan import Bandwidth, Plan, Reason, Rung
from adaptive.control.profiles import PROFILES
from adaptive.speech.local import LocalRenderer
from transport_webrtc.aiortc_private import gather_on_loopback
from transport_webrtc.media.audio_track import OpusAudioTrack
from transport_webrtc.messages import SayMessage
from transport_webrtc.speaker import Speaker


def plan(bitrate, bandwidth, frame_ms):
    return Plan(rung=Rung(bitrate=bitrate, bandwidth=bandwidth, frame_ms=frame_ms), tier="full", reason=Reason.FORCED)


class Pair:
    """A speaker with the tone voice on one side; on the other whoever listens, with every packet that came."""

    def __init__(self, renderer):
        self.told = defaultdict(asyncio.Event)
        self.speaker = Speaker(
            renderer=renderer,
            profile=PROFILES["voice_chat"],
            voice="tone",
            emit=lambda name, id, data: self.told[name].set(),
        )
        self.track = OpusAudioTrack(self.speaker.take)
        self.speaker.wake = self.track.wake
        self.packets = []
        self.heard = []
        configuration = RTCConfiguration(iceServers=[])
        self.ends = [RTCPeerConnection(configuration), RTCPeerConnection(configuration)]

    async def connect(self):
        here, there = self.ends
        here.addTrack(self.track)
        connected = asyncio.Event()
        here.on("connectionstatechange", lambda: here.connectionState == "connected" and connected.set())
        there.on("track", self._listen)
        gather_on_loopback(here.getSenders()[0], always=False)
        await here.setLocalDescription(await here.createOffer())
        await there.setRemoteDescription(here.localDescription)
        gather_on_loopback(there.getTransceivers()[0].sender, always=False)
        await there.setLocalDescription(await there.createAnswer())
        await here.setRemoteDescription(there.localDescription)
        async with asyncio.timeout(10):
            await connected.wait()
        self.speaker.connected()

    def _listen(self, track):
        receiver = self.ends[1].getReceivers()[0]
        inner = receiver._handle_rtp_packet

        async def seen(packet, arrival_time_ms):
            self.packets.append((time.monotonic(), packet.sequence_number, packet.timestamp, packet.payload))
            await inner(packet, arrival_time_ms)

        receiver._handle_rtp_packet = seen
        self.task = asyncio.create_task(self._record(track))

    async def _record(self, track):
        with contextlib.suppress(MediaStreamError):
            while True:
                frame = await track.recv()
                self.heard.append(frame.to_ndarray()[0, ::2].astype(np.float32) / 32_768)

    async def close(self):
        self.speaker.close()
        await asyncio.gather(*(end.close() for end in self.ends))
        await self.task


@pytest.fixture
async def pair():
    """A pair that is connected."""
    renderer = LocalRenderer(("tone",))
    await renderer.start()
    made = Pair(renderer)
    await made.connect()
    yield made
    await made.close()
    await renderer.close()


async def test_a_tone_arrives_whole_with_exact_steps_under_changing_plans(pair):
    pair.track.apply(plan(32_000, Bandwidth.FB, 20))
    pair.speaker.say(SayMessage(say="a" * 40, id="a"))
    for bitrate, bandwidth, frame_ms in (
        (32_000, Bandwidth.FB, 40),
        (16_000, Bandwidth.WB, 60),
        (24_000, Bandwidth.SWB, 20),
        (12_000, Bandwidth.WB, 40),
        (32_000, Bandwidth.FB, 20),
    ):
        await asyncio.sleep(0.35)
        pair.track.apply(plan(bitrate, bandwidth, frame_ms))
    await asyncio.wait_for(pair.told["finished"].wait(), 10)
    await asyncio.sleep(0.3)

    assert all(b[1] - a[1] == 1 for a, b in itertools.pairwise(pair.packets))
    steps = [((b[2] - a[2]) % 2**32, a[3]) for a, b in itertools.pairwise(pair.packets)]
    for step, payload in steps:
        assert step == (9_600 if len(payload) <= 2 else round(describe(payload).duration_ms * 48))
    assert {describe(payload).duration_ms for _, payload in steps} == {20, 40, 60}

    decoder = OpusDecoder()
    sound = np.concatenate([decoder.decode(payload, 2_880) for _, _, _, payload in pair.packets])
    level = np.sqrt(np.convolve(sound**2, np.ones(240) / 240, mode="same"))
    sounding = np.flatnonzero(level > 0.1)
    first, last = sounding[0], sounding[-1]
    expected = 40 * 0.06
    assert (last - first) / 48_000 == pytest.approx(expected, rel=0.01)
    assert level[first:last].min() > 0.1
    middle = sound[first + 2_400 : last - 2_400] * np.hanning(last - first - 4_800)
    spectrum = np.abs(np.fft.rfft(middle, 2**20))
    assert spectrum.argmax() * 48_000 / 2**20 == pytest.approx(440, abs=2)
    heard = np.concatenate(pair.heard)
    assert np.count_nonzero(np.abs(heard) > 0.05) / 48_000 > 0.8 * expected


async def test_interrupting_lets_at_most_one_frame_more_onto_the_wire(pair):
    pair.speaker.say(SayMessage(say="a" * 170, id="a"))
    await asyncio.wait_for(pair.told["progress"].wait(), 10)
    await asyncio.sleep(0.5)
    sent, frames = len(pair.packets), pair.track.stats.frames
    pair.speaker.stop()
    await asyncio.sleep(0.4)
    assert pair.track.stats.frames - frames <= 1
    decoder = OpusDecoder()
    levels = [float(np.abs(decoder.decode(payload, 2_880)).max()) for _, _, _, payload in pair.packets]
    assert min(levels[sent - 5 : sent - 1]) > 0.2
    assert max(levels[sent + 3 :]) < 0.01
    assert pair.speaker.snapshot()["speaking"] is None


async def test_a_loop_that_is_held_up_keeps_the_cadence_on_the_wire(pair):
    pair.speaker.say(SayMessage(say="a" * 30, id="a"))
    await asyncio.wait_for(pair.told["started"].wait(), 10)
    for number in range(40):
        time.sleep((0.010, 0.015, 0.025)[number % 3])  # noqa: ASYNC251 - this is what is tested
        await asyncio.sleep(0.008)
    speech = [row for row in pair.packets if len(row[3]) > 2][12:]
    assert {(b[2] - a[2]) % 2**32 for a, b in itertools.pairwise(speech)} == {960}
    drift = [at - speech[0][0] - number * 0.02 for number, (at, *_) in enumerate(speech)]
    assert max(drift) - min(drift) < 0.1
    assert abs(np.polyfit(np.arange(len(drift)), drift, 1)[0]) * len(drift) < 0.03
