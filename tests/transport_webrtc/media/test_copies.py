"""Copies on the audio track, on virtual time: which frame travels again with which, and which never."""

import numpy as np
import pytest

from adaptive.codec.redundancy import unpack
from adaptive.codec.toc import describe
from adaptive.control.plan import Bandwidth, Plan, Protection, Reason, Rung
from transport_webrtc.media.audio_track import OpusAudioTrack
from transport_webrtc.media.block import Block

OPUS = 111


def plan(*copies, frame_ms=20):
    rung = Rung(bitrate=24_000, bandwidth=Bandwidth.WB, frame_ms=frame_ms)
    return Plan(rung=rung, tier="full", reason=Reason.FORCED, protection=Protection(copies=copies))


class Voice:
    """A source: noise of `utterance`, silence that keeps a decoder awake, or nothing where it is None."""

    def __init__(self, utterance):
        self.utterance = utterance
        self.run_in = False
        self.random = np.random.default_rng(1)

    def __call__(self, ticks):
        if self.run_in:
            return Block(np.zeros(ticks, np.float32), "a", 0, speech=False)
        if self.utterance is None:
            return None
        return Block(self.random.normal(0, 0.1, ticks).astype(np.float32), self.utterance, 0)


async def sent(track, count):
    """The next packets: timestamp, own frame, copies by offset."""
    got = []
    for _ in range(count):
        packet = await track.recv()
        *copies, frame = unpack(bytes(packet))
        got.append((packet.pts, frame.data, {copy.offset: copy.data for copy in copies}))
    return got


def scene(virtually, utterance, test):
    async def run(loop):
        voice = Voice(utterance)
        track = OpusAudioTrack(voice, clock=loop.time)
        track.use_red(OPUS)
        await test(track, voice, loop)
        track.stop()

    virtually(run)


def test_depth_and_frame_length_change_between_any_two_frames(virtually):
    async def test(track, voice, loop):
        frames, expected = {}, 0
        for number, copies in enumerate([(), (1,), (6,), (3, 7), (), (2,)] * 20):
            frame_ms = (20, 60, 20, 40)[number // 5 % 4]
            track.apply(plan(*copies, frame_ms=frame_ms))
            for pts, frame, found in await sent(track, 1 + number % 4):
                assert pts == expected, "nothing is skipped or said twice"
                assert describe(frame).duration_ms == frame_ms
                frames[pts] = frame
                starts = sorted(frames)[::-1]
                wanted = {pts - starts[d] for d in copies if d < len(starts) and pts - starts[d] < 1 << 14}
                assert set(found) == wanted
                assert all(frames[pts - offset] == data for offset, data in found.items())
                expected += frame_ms * 48
        assert track.stats.copy_bytes > 0

    scene(virtually, "a", test)


def test_silence_after_speech_carries_its_last_copies_and_is_never_copied(virtually):
    async def test(track, voice, loop):
        track.apply(plan(3))
        speech = [frame for _, frame, _ in await sent(track, 20)]
        voice.utterance = None
        after = await sent(track, 30)
        assert [list(copies.values()) for *_, copies in after[:3]] == [[frame] for frame in speech[-3:]]
        assert all(not copies for *_, copies in after[3:])

    scene(virtually, "a", test)


def test_no_copy_points_across_a_rest(virtually):
    async def test(track, voice, loop):
        track.apply(plan(1, 2, 3))
        voice.utterance = None
        steps = [pts for pts, _, _ in await sent(track, 30)]
        assert steps[-1] - steps[-2] == 9_600, "at rest"
        voice.utterance = "a"
        track.wake()
        first, second, *_ = await sent(track, 5)
        assert first[2] == {}
        assert list(second[2]) == [960]
        voice.utterance = None
        await sent(track, 40)
        voice.utterance = "b"
        track.wake()
        assert (await sent(track, 1))[0][2] == {}

    scene(virtually, None, test)


def test_run_in_is_not_copied_but_counts_in_distances(virtually):
    async def test(track, voice, loop):
        track.apply(plan(1, 2))
        voice.run_in = True
        await sent(track, 3)
        voice.run_in = False
        found = [list(copies) for *_, copies in await sent(track, 3)]
        assert found == [[], [960], [1_920, 960]]

    scene(virtually, "a", test)


def test_what_was_cut_off_travels_no_more_not_even_its_fade(virtually):
    async def test(track, voice, loop):
        track.apply(plan(1, 3))
        before = {frame for _, frame, _ in await sent(track, 10)}
        assert track.forget("a")
        tail = await sent(track, 1)
        voice.utterance = "b"
        after = await sent(track, 10)
        assert tail[0][2] == {}
        copied = {data for *_, copies in after for data in copies.values()}
        assert copied
        assert not copied & (before | {tail[0][1]})
        assert copied <= {frame for _, frame, _ in after}

    scene(virtually, "a", test)


def test_dropping_what_waits_leaves_the_copies_of_what_sounds(virtually):
    async def test(track, voice, loop):
        track.apply(plan(1))
        await sent(track, 5)
        assert not track.forget("b")
        assert list((await sent(track, 1))[0][2]) == [960]

    scene(virtually, "a", test)


@pytest.mark.parametrize("copies", [(), (3,)])
def test_without_red_a_payload_is_the_frame(virtually, copies):
    async def test(loop):
        track = OpusAudioTrack(Voice("a"), clock=loop.time)
        track.apply(plan(*copies))
        for _ in range(5):
            assert describe(bytes(await track.recv())).duration_ms == 20
        assert track.stats.copy_bytes == 0
        track.stop()

    virtually(test)
