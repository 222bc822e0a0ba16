"""Speech sent ahead to a player at the other end of a real connection: what it hears, and what is told of it."""

import asyncio
import json
import random
import time
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median

import pytest

from adaptive.control.profiles import PROFILES
from adaptive.delivery import Ack, Flush, PlayerState, SpeechMessage
from adaptive.delivery.wire import unpack
from transport_webrtc import carrying
from transport_webrtc.messages import SayMessage, VerbMessage

TICK_S = 0.01
START = 2880
PERIODS = {PlayerState.EMPTY: 1.0, PlayerState.FILLING: 0.1, PlayerState.PLAYING: 0.2, PlayerState.STARVED: 0.1}
LONG = "One two three four five six seven eight nine ten."
SHORT = "one two"


@dataclass
class Stretch:
    """What the server numbers as one utterance."""

    frames: dict[int, tuple[bytes, int]] = field(default_factory=dict)
    end: int | None = None
    not_before: int | None = None
    played: list[tuple[float, int]] = field(default_factory=list)
    """When it was where."""

    def contiguous(self, position: int) -> int:
        while position in self.frames:
            position += self.frames[position][1]
        return position


class Player:
    """Unpacks, plays on the clock and acknowledges, as legato.js does."""

    def __init__(self, ear):
        self.ear = ear
        self.channel = ear.pc.createDataChannel("speech", ordered=False, maxRetransmits=0)
        self.channel.on("message", self.take)
        self.stretches = {}
        self.epoch, self.flushed_at, self.stale = 0, [], []
        self.number, self.position = 1, 0
        self.state = PlayerState.EMPTY
        self.numbers, self.largest_at = [], 0.0
        self.news = self.gap = None
        self.told_at = 0.0
        self.task = asyncio.create_task(self._play())

    def ms(self):
        return round(time.monotonic() * 1000) % 2**32

    @property
    def kept(self):
        return self.stretches.setdefault(self.number, Stretch())

    def take(self, data):
        now, message = time.monotonic(), unpack(data)
        if (message.epoch - self.epoch) % 0x10000 not in (0, *range(1, 100)):
            self.stale.append(message)
            return
        self.news = self.news or now
        if self.numbers and message.number > max(self.numbers) + 1:
            self.gap = self.gap or now
        if not self.numbers or message.number > max(self.numbers):
            self.largest_at = now
        self.numbers.append(message.number)
        if message.epoch != self.epoch:
            self.epoch = message.epoch
            self.flushed_at.append(now)
            if any(stretch.frames for stretch in self.stretches.values()):
                self.number, self.position = max(self.stretches) + 1, 0
            self.state = PlayerState.EMPTY
        if isinstance(message, Flush):
            self._tell(now)
            return
        assert isinstance(message, SpeechMessage)
        if message.utterance < self.number:
            return
        stretch = self.stretches.setdefault(message.utterance, Stretch())
        stretch.not_before = message.not_before if message.not_before is not None else stretch.not_before
        position = message.position
        for frame in message.frames:
            stretch.frames[position] = (frame, message.ticks)
            position += message.ticks
        stretch.end = position if message.last else stretch.end

    async def _play(self):
        last = time.monotonic()
        while True:
            await asyncio.sleep(TICK_S)
            now = time.monotonic()
            before = self.state
            self._advance(now, round((now - last) * 48_000))
            last = now
            due = now - self.told_at >= PERIODS[self.state] or self.state is not before
            due = due or (self.news is not None and now - self.news >= 0.04)
            if self.numbers and (due or (self.gap is not None and now - self.gap >= 0.015)):
                self._tell(now)

    def _advance(self, now, ticks):
        while ticks > 0:
            stretch = self.kept
            ready = stretch.contiguous(self._frame())
            if self.state is not PlayerState.PLAYING:
                enough = ready - self.position >= START or (stretch.end is not None and ready >= stretch.end)
                held = stretch.not_before is not None and not self.position
                wait = held and (stretch.not_before - self.ms() + 2**31) % 2**32 - 2**31 > 0
                if not enough or wait:
                    self.state = PlayerState.FILLING if stretch.frames and not self.position else self.state
                    return
                self.state = PlayerState.PLAYING
            step = min(ticks, ready - self.position)
            self.position += step
            ticks -= step
            stretch.played.append((now, self.position))
            if self.position == stretch.end:
                self.number, self.position = self.number + 1, 0
                self.state = PlayerState.PLAYING if self.kept.frames else PlayerState.EMPTY
                if self.state is PlayerState.PLAYING:
                    self.state = PlayerState.FILLING
            elif self.position == ready:
                self.state = PlayerState.STARVED
                return

    def _frame(self):
        """Where the frame begins in which the position is."""
        at = 0
        while at in self.kept.frames and at + self.kept.frames[at][1] <= self.position:
            at += self.kept.frames[at][1]
        return at

    def _played(self):
        """As told: the stretch that sounded last, where nothing of a later one did."""
        if self.position:
            return self.number, self.position
        heard = [number for number, stretch in self.stretches.items() if stretch.played]
        return (max(heard), self.stretches[max(heard)].played[-1][1]) if heard else (0, 0)

    def _tell(self, now):
        self.told_at, self.news, self.gap = now, None, None
        largest = max(self.numbers)
        arrived = set(self.numbers)
        ready = self.kept.contiguous(self._frame())
        number, position = self._played()
        ack = Ack(
            epoch=self.epoch,
            largest=largest & 0xFFFF,
            bitmap=sum(1 << i for i in range(64) if largest - 1 - i in arrived),
            arrival=round(self.largest_at * 1000) % 2**32,
            delay=min(65_535, round((now - self.largest_at) * 10_000)),
            wanted_utterance=self.number,
            wanted=ready,
            played_utterance=number,
            played=position,
            buffered=(ready - self.position) // 48,
            state=self.state,
        )
        if self.ear.feedback.readyState == "open":
            self.ear.feedback.send(ack.pack())

    def heard(self, *numbers):
        """Ticks that were played, in all or of some stretches."""
        return sum(s.played[-1][1] for n, s in self.stretches.items() if s.played and (not numbers or n in numbers))

    def when(self, number, position):
        """When a position was reached."""
        return next(at for at, reached in self.stretches[number].played if reached >= position)

    async def close(self):
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


@pytest.fixture
async def listen(ear):
    """Connects a listener with a player."""
    players = []

    async def connect(server, query="carrier=data"):
        one = ear(server)
        player = Player(one)
        players.append(player)
        one.events = Stamped()
        await one.connect(f"/v1/listen?{query}")
        return one, player

    yield connect
    for player in players:
        await player.close()


class Stamped(list):
    """Events with the time at which they came."""

    def append(self, event):
        super().append({**event, "came": time.monotonic()})


async def played(player, ticks, seconds=15.0):
    """Waits until so much was heard."""
    async with asyncio.timeout(seconds):
        while player.heard() < ticks:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def whole(heard, ticks):
    """Whether all of it was heard, with the silence that fills the last frame or without it."""
    return ticks - 480 <= heard < ticks + 960


async def kept(listener):
    """All events; the control channel leaves some out where the network is narrow."""
    listener.events.close()
    async for numbered in listener.events.stream(after=0):
        yield numbered


def watch(listener):
    """The speech that the audio track takes from now on."""
    blocks = []
    source = listener.line.track._source

    def watched(ticks):
        block = source(ticks)
        blocks.extend([block] if block is not None and block.speech else [])
        return block

    listener.line.track._source = watched
    return blocks


async def test_speech_is_heard_whole_in_order_and_told_as_it_is_heard(server, listen):
    one, player = await listen(server)
    one.send({"say": LONG, "id": "a"})
    one.send({"say": "And another one.", "id": "b"})
    await one.told("started", id="a")
    await played(player, 48_000)
    snapshot = await one.snapshot()
    assert snapshot["carrier"] == "data"
    assert snapshot["lead_s"] > 1.0, "speech is there before its time"
    assert snapshot["speaking"]["id"] == "a"
    assert snapshot["speaking"]["position"] == pytest.approx(player.heard(), abs=4_800)
    assert snapshot["delivery"]["state"] == "playing"
    last = await one.told("finished", id="b", seconds=30)
    first = await one.told("finished", id="a")
    assert whole(player.heard(1), first["ticks"])
    assert whole(player.heard(2), last["ticks"])
    words = [event for event in one.events if event["event"] == "word" and event["id"] == "a"]
    assert " ".join(word["text"] for word in words) == LONG
    late = [word["came"] - player.when(1, word["start"] + 1) for word in words]
    assert median(map(abs, late)) < 0.05, late
    assert max(map(abs, late)) < 0.25, late
    assert first["came"] - player.when(1, first["ticks"]) == pytest.approx(0, abs=0.2)
    names = [event["event"] for event in one.events if event["event"] not in ("word", "progress", "marks")]
    assert names == ["queued", "queued", "started", "finished", "started", "finished"]
    sent = (await one.snapshot())["sent"]
    assert sent["frames"] == 0, "the audio track rests"


async def test_interrupting_is_silence_and_nothing_older_follows(server, listen):
    one, player = await listen(server)
    one.send({"say": LONG, "id": "a"})
    await played(player, 48_000)
    flushed, sent_at = len(player.flushed_at), time.monotonic()
    one.send({"say": "Stop.", "id": "b", "interrupt": True})
    interrupted = await one.told("interrupted", id="a")
    heard = player.heard(1)
    assert player.flushed_at[flushed] - sent_at < 0.1
    assert interrupted["position"] == pytest.approx(heard, abs=1_920)
    words = interrupted["heard"].split()
    assert words == LONG.split()[: len(words)]
    assert words
    done = await one.told("finished", id="b")
    assert player.heard(1) == heard
    assert not player.stale
    assert whole(player.heard(2), done["ticks"])
    assert (await one.snapshot())["delivery"]["epoch"] == player.epoch


async def test_the_position_is_that_of_now_and_not_of_the_last_answer(server, listen):
    one, player = await listen(server)
    listener = server.listeners.get(one.location.rsplit("/", 1)[1])
    one.send({"say": LONG, "id": "a"})
    await played(player, 12_000)
    late = []
    for _ in range(30):
        await asyncio.sleep(0.03)
        late.append(player.heard(1) - listener.snapshot()["speaking"]["position"])
    assert median(map(abs, late)) < 0.015 * 48_000, late


async def interrupt(server, listen, seed):
    """Ten interrupts at random places; the player, when each was asked for, and what was sent behind each."""
    one, player = await listen(server)
    listener = server.listeners.get(one.location.rsplit("/", 1)[1])
    await server.until(lambda: listener.carrying.track is not None)
    channel, sent, dice = listener.carrying.track._channel, [], random.Random(seed)
    send = channel.send

    def seen(message):
        sent.append(unpack(message).epoch)
        send(message)

    channel.send = seen
    listener.say(SayMessage(say=LONG, id="0"))
    cuts = []
    for number in range(1, 11):
        heard = player.heard()
        await server.until(lambda heard=heard: player.heard() > heard)
        await asyncio.sleep(dice.uniform(0.03, 0.45))
        cuts.append((time.monotonic(), player.epoch, len(sent)))
        if dice.random() < 0.5:
            listener.do(VerbMessage(verb="stop"))
        listener.say(SayMessage(say=LONG, id=str(number), interrupt=True))
    await server.until(lambda: player.flushed_at[-1] > cuts[-1][0] and player.state is PlayerState.PLAYING)
    return player, cuts, sent


@pytest.mark.parametrize("seeds", [[0], pytest.param(range(1, 6), marks=pytest.mark.long)], ids=["10", "50"])
async def test_interrupts_are_silence_at_once_and_nothing_older_leaves_or_is_played(server, listen, seeds):
    delays = []
    for seed in seeds:
        player, cuts, sent = await interrupt(server, listen, seed)
        for at, epoch, index in cuts:
            assert sent[index:]
            assert all((this - epoch) % 0x10000 >= 1 for this in sent[index:]), "an older epoch left"
            delays.append(min(moment - at for moment in player.flushed_at if moment > at))
        assert not player.stale, "an older epoch arrived after a newer one"
    assert len(delays) == 10 * len(seeds)
    assert median(delays) < 0.03
    assert sorted(delays)[-max(1, len(delays) // 10)] < 0.1, "on a machine that may be busy"


async def test_stopping_drops_what_was_sent_and_what_waits(server, listen):
    one, player = await listen(server)
    for name in "abc":
        one.send({"say": "A few words.", "id": name})
    await played(player, 9_600)
    one.send({"stop": True})
    for name in "abc":
        await one.told("interrupted", id=name)
    heard = player.heard()
    await asyncio.sleep(0.5)
    assert player.heard() == heard
    assert (await one.snapshot())["speaking"] is None
    one.send({"say": "Again.", "id": "d"})
    await one.told("finished", id="d")


async def test_pausing_is_silence_at_once_and_nothing_is_lost(server, listen):
    one, player = await listen(server)
    one.send({"say": LONG, "id": "a"})
    await played(player, 48_000)
    one.send({"pause": True})
    paused = await one.told("paused", id="a")
    await asyncio.sleep(0.3)
    heard = player.heard()
    assert heard == pytest.approx(paused["position"], abs=1_920)
    await asyncio.sleep(0.3)
    assert player.heard() == heard
    one.send({"resume": True})
    finished = await one.told("finished", id="a", seconds=30)
    assert player.heard() == pytest.approx(finished["ticks"], abs=1_920)
    assert [event["text"] for event in one.events if event["event"] == "word"] == LONG.split()


async def test_the_carrier_changes_amid_an_utterance_and_back(server, listen):
    one, player = await listen(server)
    listener = next(iter(server.listeners))
    blocks = watch(listener)
    one.send({"say": LONG, "id": "a"})
    await played(player, 48_000)
    one.send({"carrier": "audio"})
    switched = await one.told("switched", kind="carrier")
    assert (switched["from"], switched["to"]) == ("data", "audio")
    await asyncio.sleep(0.6)
    heard = player.heard()
    assert blocks[0].start == pytest.approx(heard, abs=500), "the audio track goes on where the player stopped"
    starts = [block.start for block in blocks]
    assert [b - a for a, b in pairwise(starts)] == [960] * (len(starts) - 1)
    one.send({"carrier": "data"})
    await one.told("switched", kind="carrier", to="data")
    count, taken = len(blocks), blocks[-1].start + 960
    finished = await one.told("finished", id="a", seconds=30)
    assert len(blocks) == count
    assert whole(player.heard() - heard, finished["ticks"] - taken)
    told = [numbered.event async for numbered in kept(listener)]
    assert [event["text"] for event in told if event["event"] == "word"] == LONG.split()


async def test_a_player_that_goes_away_leaves_the_audio_track(server, listen):
    one, player = await listen(server)
    blocks = watch(next(iter(server.listeners)))
    one.send({"say": LONG, "id": "a"})
    await played(player, 24_000)
    await player.close()
    player.channel.close()
    switched = await one.told("switched", kind="carrier")
    assert switched["to"] == "audio"
    finished = await one.told("finished", id="a", seconds=30)
    assert blocks[0].start == pytest.approx(player.heard(), abs=2_400)
    assert blocks[-1].start + 960 >= finished["ticks"]


async def test_what_is_said_for_later_is_there_before_its_time(serve, listen):
    server = await serve(lab=True)
    one, player = await listen(server, "carrier=data&profile=navigation")
    said = time.monotonic()
    one.send({"say": "Turn left at the church.", "id": "a", "at": 2.0})
    await asyncio.sleep(1.0)
    assert not player.heard()
    assert player.stretches[1].end is not None, "it is there whole"
    await server.client.put(f"{one.location}/network", json={"down": {"loss": 1}, "up": {"loss": 1}})
    await played(player, player.stretches[1].end)
    assert player.when(1, 1) - said == pytest.approx(2.0, abs=0.06)


async def test_what_may_sound_now_is_not_held_up_by_what_waits_for_its_time(server, listen):
    one, _ = await listen(server, "carrier=data&profile=navigation")
    one.send({"say": "Turn left at the church.", "id": "later", "at": 2.5})
    await asyncio.sleep(0.5)
    one.send({"say": "Now.", "id": "now"})
    await one.told("finished", id="now", seconds=2)
    await one.told("finished", id="later")
    ended = [event["id"] for event in one.events if event["event"] == "finished"]
    assert ended == ["now", "later"]


async def test_what_is_urgent_cuts_in_and_the_story_goes_on_at_a_word(server, listen):
    one, player = await listen(server, "carrier=data&profile=narration")
    one.send({"say": LONG, "id": "story"})
    await played(player, 48_000)
    one.send({"say": "Turn left.", "id": "urgent", "profile": "navigation"})
    cut = await one.told("paused", id="story")
    over, resumed = await one.told("finished", id="urgent"), await one.told("resumed", id="story")
    assert resumed["number"] > over["number"], "it was told when it was sent"
    finished = await one.told("finished", id="story", seconds=30)
    marks = next(event for event in one.events if event["event"] == "marks" and event["id"] == "story")
    again = player.heard(1) + player.heard(3) - finished["ticks"]
    assert any(abs(player.heard(1) - again - word["start"]) < 1_920 for word in marks["words"])
    assert 0 <= cut["position"] - (player.heard(1) - again) < 48_000


async def test_loss_is_repaired_before_it_is_heard(serve, listen):
    server = await serve(lab=True)
    one, player = await listen(server)
    loss = {"loss": 0.15, "delay_ms": 20}
    await server.client.put(f"{one.location}/network", json={"down": loss, "up": loss})
    one.send({"say": LONG, "id": "a"})
    finished = await one.told("finished", id="a", seconds=30)
    assert whole(player.heard(1), finished["ticks"])
    snapshot = await one.snapshot()
    assert snapshot["delivery"]["loss"] > 0
    assert snapshot["reports"]["network"]["rtt_ms"] >= 40


async def test_an_outage_shorter_than_the_lead_is_not_heard(serve, listen):
    server = await serve(lab=True)
    one, player = await listen(server)
    await server.client.put(f"{one.location}/network", json={"down": {"delay_ms": 30}, "up": {"delay_ms": 30}})
    one.send({"say": LONG, "id": "a"})
    await played(player, 36_000)
    await server.client.put(f"{one.location}/network", json={"down": {"loss": 1}, "up": {"loss": 1}})
    await asyncio.sleep(1.5)
    await server.client.put(f"{one.location}/network", json={"down": {"loss": 0}, "up": {"loss": 0}})
    finished = await one.told("finished", id="a")
    assert whole(player.heard(1), finished["ticks"])
    begun, ended = player.stretches[1].played[0][0], player.stretches[1].played[-1][0]
    assert ended - begun == pytest.approx(finished["ticks"] / 48_000, abs=0.1), "without a gap"
    words = [event["text"] for event in one.events if event["event"] == "word"]
    assert words == LONG.split()


async def test_a_say_that_is_repeated_on_feedback_is_said_once(server, listen):
    one, player = await listen(server)
    for _ in range(3):
        one.feedback.send(json.dumps({"say": {"id": "a", "say": "Once."}}))
    one.feedback.send(json.dumps({"say": {"say": "Without an id it might be said twice."}}))
    finished = await one.told("finished", id="a")
    await asyncio.sleep(0.3)
    assert [event["id"] for event in one.events if event["event"] == "queued"] == ["a"]
    assert whole(player.heard(), finished["ticks"])


async def test_a_listener_without_a_player_stays_on_the_audio_track(server, ear, monkeypatch):
    monkeypatch.setitem(carrying.OPENS_S, "data", 0.3)
    for query in ("", "?carrier=data", "?carrier=audio"):
        one = ear(server)
        await one.connect(f"/v1/listen{query}")
        one.send({"say": "Still here.", "id": "a"})
        await one.told("finished", id="a")
        snapshot = await one.snapshot()
        assert snapshot["carrier"] == "audio"
        assert snapshot["lead_s"] is None
        assert snapshot["sent"]["frames"] > 0
        one.send({"carrier": "data"})
        assert "speech" in (await one.told("error"))["message"]


async def test_a_data_track_that_opens_after_the_client_gave_it_up_is_left_alone(server, ear):
    one = ear(server)
    await one.connect("/v1/listen?carrier=data")
    one.send({"carrier": "audio"})
    one.send({"say": "Still here.", "id": "a"})
    player = Player(one)
    await one.told("finished", id="a")
    await player.close()
    assert player.channel.readyState == "open"
    assert not player.heard()
    assert (await one.snapshot())["carrier"] == "audio"


async def test_auto_takes_the_data_track_where_there_is_one(server, listen):
    one, player = await listen(server, "")
    one.send({"say": "Which way?", "id": "a"})
    finished = await one.told("finished", id="a")
    assert (await one.snapshot())["carrier"] == "data"
    assert whole(player.heard(), finished["ticks"])
    assert 'legato_carrier{carrier="data"} 1.0' in (await server.client.get("/metrics")).text


async def test_a_client_without_opus_gets_what_it_plays(server, listen):
    one, player = await listen(server, "carrier=data&formats=pcm16,ulaw")
    one.send({"say": "Plain samples.", "id": "a"})
    finished = await one.told("finished", id="a")
    assert {len(frame) for frame, _ in player.stretches[1].frames.values()} == {480}, "10 ms at 24 kHz"
    assert whole(player.heard(), finished["ticks"])


async def test_an_outage_longer_than_the_lead_is_taken_up_at_the_word(serve, listen, monkeypatch):
    short = {**PROFILES, "navigation": replace(PROFILES["navigation"], lead_s=0.8)}
    monkeypatch.setattr("transport_webrtc.speaking.admission.PROFILES", short)
    server = await serve(lab=True)
    one, player = await listen(server)
    await server.client.put(f"{one.location}/network", json={"down": {"delay_ms": 30}, "up": {"delay_ms": 30}})
    one.send({"say": LONG, "id": "a", "profile": "navigation"})
    await played(player, 24_000)
    await server.client.put(f"{one.location}/network", json={"down": {"loss": 1}, "up": {"loss": 1}})
    await asyncio.sleep(1.7)
    stopped = player.heard(1)
    await server.client.put(f"{one.location}/network", json={"down": {"loss": 0}, "up": {"loss": 0}})
    back = time.monotonic()
    finished = await one.told("finished", id="a")
    assert player.heard(1) == stopped, "nothing that was sent before"
    words = [word for event in one.events if event["event"] == "marks" for word in event["words"]]
    start = next((word["start"] for word in words if word["start"] <= stopped < word["end"]), stopped)
    assert whole(player.heard() - stopped, finished["ticks"] - start)
    again = max(number for number, stretch in player.stretches.items() if stretch.played)
    assert player.when(again, 1) - back < 1.0, "the flush arrives, its answer, the first frames"
    names = [(e["event"], e.get("reason")) for e in one.events if e["event"] in ("paused", "resumed")]
    assert names == [("paused", "outage"), ("resumed", "outage")]
    listener = server.listeners.get(one.location.rsplit("/", 1)[1])
    told = [numbered.event async for numbered in kept(listener)]
    assert [event["text"] for event in told if event["event"] == "word"] == LONG.split()


async def test_a_text_has_the_carrier_it_was_asked_for_on_at_its_turn_and_in_order(server, listen):
    one, player = await listen(server)
    listener = next(iter(server.listeners))
    blocks = watch(listener)
    for name, carrier in (("a", "auto"), ("b", "audio"), ("c", "data"), ("d", "auto")):
        one.send({"say": SHORT, "id": name, "carrier": carrier})
    await played(player, 4_800)
    assert listener.carrying.carrier == "data", "what sounds goes on where it is"
    await one.told("finished", id="d", seconds=30)
    told = [numbered.event async for numbered in kept(listener)]
    told = [event for event in told if event["event"] != "switched" or event["kind"] == "carrier"]
    order = [
        (event["event"], event.get("to") or event["id"])
        for event in told
        if event["event"] in ("started", "finished", "switched")
    ]
    assert order == [
        *(("started", "a"), ("finished", "a"), ("switched", "audio")),
        *(("started", "b"), ("finished", "b"), ("switched", "data")),
        *(("started", "c"), ("finished", "c"), ("started", "d"), ("finished", "d")),
    ]
    ticks = {event["id"]: event["ticks"] for event in told if event["event"] == "finished"}
    assert {block.utterance for block in blocks} == {"b"}
    assert blocks[-1].start + 960 >= ticks["b"]
    assert whole(player.heard(), ticks["a"] + ticks["c"] + ticks["d"])


@pytest.mark.long
async def test_asking_for_a_carrier_holds_for_what_sounds_and_all_after_it(server, listen):
    one, _ = await listen(server)
    listener = next(iter(server.listeners))
    blocks = watch(listener)
    one.send({"say": SHORT, "id": "a", "carrier": "data"})
    one.send({"say": SHORT, "id": "b"})
    await one.told("started", id="a")
    one.send({"carrier": "audio"})
    await one.told("finished", id="b", seconds=30)
    assert {block.utterance for block in blocks} == {"a", "b"}
    one.send({"say": SHORT, "id": "c", "carrier": "data", "at": 0.3})
    one.send({"say": SHORT, "id": "d"})
    assert (await one.told("switched", kind="carrier", to="data"))["reason"] == "The text was asked for on it."
    await one.told("finished", id="c", seconds=30)
    await one.told("finished", id="d", seconds=30)
