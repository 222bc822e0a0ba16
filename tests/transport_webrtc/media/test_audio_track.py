"""The audio track on virtual time: exact steps, no drift, no burst, nothing lost, no exception ends it."""

import asyncio
import itertools

import numpy as np
import pytest
from aiortc.mediastreams import MediaStreamError

from adaptive.codec.opus import OpusDecoder
from adaptive.codec.toc import describe
from adaptive.control.plan import Bandwidth, Plan, Protection, Reason, Rung
from transport_webrtc.media.audio_track import OpusAudioTrack
from transport_webrtc.media.block import Block


def plan(bitrate=24_000, bandwidth=Bandwidth.WB, frame_ms=20, **protection):
    rung = Rung(bitrate=bitrate, bandwidth=bandwidth, frame_ms=frame_ms)
    return Plan(rung=rung, tier="full", reason=Reason.STEADY, protection=Protection(**protection))


class Tone:
    """A source: 440 Hz, as long as it speaks."""

    def __init__(self, speaking=True):
        self.speaking = speaking
        self.taken = 0

    def __call__(self, ticks):
        if not self.speaking:
            return None
        start, self.taken = self.taken, self.taken + ticks
        samples = 0.3 * np.sin(2 * np.pi * 440 * np.arange(start, start + ticks) / 48_000)
        return Block(samples.astype(np.float32), "a", start)


async def packets(track, count, loop):
    """The next packets: when each came, its timestamp, its payload."""
    got = []
    for _ in range(count):
        packet = await track.recv()
        got.append((loop.time(), packet.pts, bytes(packet)))
    return got


def test_steps_are_exact_and_nothing_is_late_across_every_change(virtually):
    async def test(loop):
        source = Tone()
        track = OpusAudioTrack(source, clock=loop.time)
        began, expected = None, 0
        for number in range(300):
            frame_ms = (20, 40, 60, 20, 60, 40)[number // 7 % 6]
            bandwidth = (Bandwidth.FB, Bandwidth.WB, Bandwidth.SWB)[number // 5 % 3]
            track.apply(
                plan(12_000 + 4_000 * (number % 6), bandwidth, frame_ms, fec=number % 2 == 0, loss_hint=number % 30)
            )
            packet = await track.recv()
            began = loop.time() if began is None else began
            assert packet.pts == expected
            assert loop.time() == pytest.approx(began + packet.pts / 48_000, abs=1e-6)
            assert describe(bytes(packet)).duration_ms == frame_ms
            assert source.taken == expected + frame_ms * 48
            expected += frame_ms * 48
        assert track.stats.frames == 300
        assert track.stats.lateness.highest_s < 1e-6
        track.stop()

    virtually(test)


def test_a_plan_holds_from_the_next_frame_on(virtually):
    async def test(loop):
        track = OpusAudioTrack(Tone(), clock=loop.time)
        track.apply(plan(32_000, Bandwidth.FB))
        assert describe(bytes(await track.recv())).bandwidth is Bandwidth.FB
        track.apply(plan(16_000, Bandwidth.WB, 60))
        info = describe(bytes(await track.recv()))
        assert (info.bandwidth, info.duration_ms) == (Bandwidth.WB, 60)
        track.stop()

    virtually(test)


def test_a_track_that_rests_encodes_nothing_and_speaks_as_ever_after(virtually):
    """A frame of silence costs as much as one of speech, once a second for everybody who hears the data track."""

    async def test(loop):
        source = Tone(speaking=False)
        track = OpusAudioTrack(source, clock=loop.time)
        encode, encoded = track._encoder.encode, []
        track._encoder.encode = lambda samples: encoded.append(loop.time()) or encode(samples)
        resting = [payload for _, _, payload in await packets(track, 60, loop)][30:]
        before = len(encoded)
        assert max(map(len, resting)) <= 2
        await packets(track, 30, loop)
        assert len(encoded) == before
        source.speaking = True
        track.wake()
        spoken = await packets(track, 50, loop)
        decoder = OpusDecoder()
        heard = np.concatenate([decoder.decode(payload, 960) for _, _, payload in spoken])
        assert np.sqrt((heard[24_000:] ** 2).mean()) == pytest.approx(0.3 / np.sqrt(2), rel=0.1)
        track.stop()

    virtually(test)


@pytest.mark.parametrize("blocked", [0.010, 0.015, 0.025])
def test_a_loop_that_is_held_up_every_frame_keeps_the_cadence(virtually, blocked):
    async def test(loop):
        track = OpusAudioTrack(Tone(), clock=loop.time)
        first = (await track.recv()).pts
        began = loop.time()
        for number in range(1, 500):
            if number % 3:
                loop.block(blocked)
            packet = await track.recv()
            assert packet.pts == first + number * 960
            assert -1e-6 <= loop.time() - began - number * 0.02 <= 2 * blocked
        assert track.stats.stalls == 0
        track.stop()

    virtually(test)


def test_after_a_stall_rtp_time_is_the_wall_clock_and_there_is_no_burst(virtually):
    async def test(loop):
        source = Tone()
        track = OpusAudioTrack(source, clock=loop.time)
        for _ in range(10):
            await track.recv()
        began = loop.time() - 9 * 0.02
        loop.block(3.0)
        after = [((await track.recv()).pts, loop.time() - began) for _ in range(5)]
        assert [pts for pts, _ in after] == [after[0][0] + i * 960 for i in range(5)]
        assert all(-1e-6 <= at - pts / 48_000 < 0.0201 for pts, at in after)
        assert source.taken == 15 * 960
        assert track.stats.stalls == 1
        assert track.stats.lateness.highest_s == pytest.approx(2.98, abs=0.01)
        track.stop()

    virtually(test)


def test_silence_goes_out_every_200_ms_once_the_encoder_rests(virtually):
    async def test(loop):
        track = OpusAudioTrack(Tone(speaking=False), clock=loop.time)
        sent = await packets(track, 200, loop)
        began = sent[0][0]
        assert all(at == pytest.approx(began + pts / 48_000, abs=1e-6) for at, pts, _ in sent)
        steps = [(b[1] - a[1], len(a[2])) for a, b in itertools.pairwise(sent)]
        assert set(steps[:10]) == {(960, size) for _, size in steps[:10]}
        assert all(step == (9_600 if size <= 2 else 960) for step, size in steps)
        assert [step for step, _ in steps[10:]].count(9_600) >= 0.95 * len(steps[10:])
        track.stop()

    virtually(test)


def test_an_idle_minute_then_speech_at_once_whole_and_without_a_burst(virtually):
    async def test(loop):
        source = Tone(speaking=False)
        track = OpusAudioTrack(source, clock=loop.time)
        sent = []

        async def sender():
            while True:
                try:
                    packet = await track.recv()
                except MediaStreamError:
                    return
                sent.append((loop.time(), packet.pts, bytes(packet), source.speaking))

        task = asyncio.create_task(sender())
        await asyncio.sleep(60.0737)
        source.speaking = True
        track.wake()
        spoke = loop.time()
        await asyncio.sleep(1.0)
        track.stop()
        await task
        began = sent[0][0]
        assert all(at == pytest.approx(began + pts / 48_000, abs=1e-6) for at, pts, *_ in sent)
        speech = [row for row in sent if row[0] >= spoke]
        assert speech[0][0] - spoke <= 0.0201
        assert [b[1] - a[1] for a, b in itertools.pairwise(speech)] == [960] * (len(speech) - 1)
        assert 49 <= len(speech) <= 51
        decoder = OpusDecoder()
        heard = np.concatenate([decoder.decode(payload, 960) for _, _, payload, _ in speech])
        assert np.sqrt(np.mean(heard[:1_920] ** 2)) > 0.1
        assert source.taken == len(speech) * 960

    virtually(test)


def test_waking_without_speech_sends_one_packet_of_silence_and_rests_again(virtually):
    async def test(loop):
        track = OpusAudioTrack(Tone(speaking=False), clock=loop.time)
        await packets(track, 15, loop)
        before = loop.time()
        track.wake()
        await track.recv()
        assert loop.time() - before <= 0.0201
        before = loop.time()
        await track.recv()
        assert loop.time() - before == pytest.approx(0.2, abs=1e-6)
        track.stop()

    virtually(test)


def test_a_source_that_raises_or_gives_too_little_is_silence_counted_and_logged_once(virtually, caplog):
    async def test(loop):
        broken = {"left": 3}
        tone = Tone()

        def source(ticks):
            if broken["left"]:
                broken["left"] -= 1
                if broken["left"] == 2:
                    return Block(np.zeros(5, np.float32), "a", 0)
                raise KeyError("gone")
            return tone(ticks)

        track = OpusAudioTrack(source, clock=loop.time)
        sent = await packets(track, 5, loop)
        assert [pts for _, pts, _ in sent] == [0, 960, 1_920, 2_880, 3_840]
        assert (track.stats.source_errors, track.stats.frames) == (3, 2)
        assert len([r for r in caplog.records if "source of speech" in r.message]) == 1
        track.stop()

    virtually(test)


def test_what_the_encoder_refuses_does_not_end_the_stream(virtually):
    async def test(loop):
        track = OpusAudioTrack(Tone(), clock=loop.time)
        track.apply(plan(loss_hint=400))
        first = await track.recv()
        track.apply(plan())
        second = await track.recv()
        assert (first.pts, second.pts) == (0, 960)
        assert track.stats.encoder_errors == 1
        assert len(bytes(second)) > 10
        track.stop()

    virtually(test)


@pytest.mark.parametrize("speaking", [True, False])
def test_stopping_ends_a_recv_that_waits(virtually, speaking):
    async def test(loop):
        track = OpusAudioTrack(Tone(speaking=speaking), clock=loop.time)
        await packets(track, 20, loop)
        waiting = asyncio.create_task(track.recv())
        await asyncio.sleep(0.001)
        track.stop()
        with pytest.raises(MediaStreamError):
            await waiting
        with pytest.raises(MediaStreamError):
            await track.recv()

    virtually(test)
