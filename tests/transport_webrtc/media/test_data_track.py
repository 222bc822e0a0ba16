"""The data track between speech and a channel that only counts."""

import asyncio

import numpy as np
import pytest

from adaptive.delivery import Ack, PlayerState
from adaptive.delivery.bundling import FIRST_TICKS
from adaptive.delivery.wire import SpeechMessage, unpack
from transport_webrtc.media.data_track import DataTrack
from transport_webrtc.speaking.ahead import NOTHING, Taken


class Channel:
    """Takes everything and delivers nothing; counts how often it is looked at."""

    readyState = "open"

    def __init__(self):
        self.sent = []
        self.looks = 0
        self.overdue = []

    @property
    def bufferedAmount(self):
        self.looks += 1
        return 0

    def send(self, data):
        self.sent.append(unpack(data))

    def remove_all_listeners(self):
        pass

    @property
    def speech(self):
        return [message for message in self.sent if isinstance(message, SpeechMessage)]


class Speech:
    """One utterance, of which so many ticks are ready."""

    def __init__(self, ready):
        self.ready, self.taken = ready, 0

    def __call__(self, ticks, *, timed):
        ticks = min(ticks, self.ready - self.taken)
        if ticks <= 0:
            return None
        start, self.taken = self.taken, self.taken + ticks
        samples = np.zeros(ticks, np.float32)
        return Taken(samples=samples, number=1, position=start, before=NOTHING, last=False, not_before=None, lead_s=6.0)


class Utterances:
    """One utterance after another, each of so many ticks."""

    def __init__(self, ticks):
        self.ticks, self.number, self.taken = ticks, 1, 0

    def begin(self):
        self.number, self.taken = self.number + 1, 0

    def __call__(self, ticks, *, timed):
        count = min(ticks, self.ticks - self.taken)
        if count <= 0:
            return None
        samples = np.random.default_rng(self.taken).normal(0, 0.1, count).astype(np.float32)
        position, self.taken = self.taken, self.taken + count
        last = self.taken == self.ticks
        return Taken(
            samples=samples,
            number=self.number,
            position=position,
            before=samples[:0],
            last=last,
            not_before=None,
            lead_s=6.0,
        )


@pytest.fixture
async def make():
    tracks = []

    async def made(ready):
        channel, speech = Channel(), Speech(ready)
        track = DataTrack(
            channel,
            speech,
            clock=asyncio.get_running_loop().time,
            plan=None,
            on_ack=lambda: None,
            on_standing=lambda: channel.overdue.append(track.delivery.standing_s(asyncio.get_running_loop().time())),
        )
        tracks.append(track)
        async with asyncio.timeout(5):
            while not channel.speech and ready:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
        return track, channel, speech

    yield made
    for track in tracks:
        track.close()


async def test_more_speech_wakes_nobody_while_there_is_no_room_for_it(make) -> None:
    """A renderer says so several times a second, and each look costs as much as an acknowledgement."""
    track, channel, _ = await make(48_000 * 60)
    looks = channel.looks
    for _ in range(20):
        track.wake()
        await asyncio.sleep(0.002)
    assert channel.looks - looks < 20


async def test_where_speech_was_lacking_it_leaves_as_soon_as_there_is_some(make) -> None:
    track, channel, speech = await make(0)
    await asyncio.sleep(0.05)
    assert not channel.speech
    speech.ready = 48_000
    track.wake()
    async with asyncio.timeout(0.5):  # without being woken it looks once a second
        while not channel.speech:  # noqa: ASYNC110
            await asyncio.sleep(0.001)


async def test_an_answer_that_is_overdue_is_told_once(make) -> None:
    _, channel, _ = await make(48_000 * 60)
    assert not channel.overdue
    async with asyncio.timeout(5):
        while not channel.overdue:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    await asyncio.sleep(0.2)
    (overdue_s,) = channel.overdue
    assert overdue_s == pytest.approx(0.1, abs=0.05)


def heard_out(channel, ticks):
    """The player has played the newest utterance to its end."""
    newest = channel.sent[-1]
    return Ack(
        epoch=newest.epoch,
        largest=newest.number,
        bitmap=2**64 - 1,
        arrival=0,
        delay=0,
        wanted_utterance=newest.utterance,
        wanted=ticks,
        played_utterance=newest.utterance,
        played=ticks,
        buffered=0,
        state=PlayerState.EMPTY,
    ).pack()


async def pumped(track):
    track.wake()
    for _ in range(5):
        await asyncio.sleep(0)


async def test_the_first_message_of_each_utterance_holds_all_that_a_player_begins_with():
    channel, source = Channel(), Utterances(ticks=4_800)
    nothing = dict.fromkeys(("on_ack", "on_standing"), lambda: None)
    track = DataTrack(channel, source, clock=lambda: 1.0, plan=None, **nothing)
    await pumped(track)
    track.acked(heard_out(channel, 4_800))
    source.begin()
    await pumped(track)
    track.close()
    first = [message for message in channel.speech if message.position == 0]
    assert [(one.utterance, len(one.frames) * one.ticks) for one in first] == [(1, FIRST_TICKS), (2, FIRST_TICKS)]
