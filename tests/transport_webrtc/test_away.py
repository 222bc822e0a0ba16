"""Speech that nobody hears for a while, on virtual time: each word is heard once as a whole, whenever the gap comes."""

import asyncio

import numpy as np
import pytest

from adaptive.control.profiles import PROFILES
from transport_webrtc.messages import SayMessage
from transport_webrtc.speaker import Speaker

TICKS = 960
FRAME_S = 0.02
ONE_WAY_S, HELD_S = 0.05, 0.06
WORDS = " ".join(f"w{i}" for i in range(24))
"""Half a second each, where the script is 12 s long."""


class Heard:
    """A speaker, a network that may be out, and a listener that keeps what arrived; who sent is told what did."""

    def __init__(self, loop, renderer, profile="navigation"):
        self.loop = loop
        self.told = []
        self.speaker = Speaker(
            renderer=renderer,
            profile=PROFILES[profile],
            voice="tone",
            emit=lambda name, id, data: self.told.append((loop.time(), name, id, data)),
            clock=loop.time,
        )
        self.speaker.heard(ONE_WAY_S + HELD_S)
        self.speaker.connected()
        self.began = loop.time()
        self.out = (float("inf"), float("inf"))
        self.arrived = []
        """(heard at, utterance, start, ticks, faded in)."""
        self.signs = []
        """(arrives at, what left by then arrived)."""
        self.sign = loop.time()
        self.away_at = None

    def say(self, text=WORDS, **fields):
        return self.speaker.say(SayMessage(say=text, **fields))

    def names(self, *names):
        return [(name, data) for _, name, _, data in self.told if name in names]

    async def run(self, seconds):
        """Frames every 20 ms; feedback of each that arrives; away after half a second without any."""
        end = self.loop.time() + seconds
        while self.loop.time() < end - 1e-9:
            now = self.loop.time()
            self._feedback(now)
            block = self.speaker.take(TICKS)
            if not self.out[0] <= now - self.began < self.out[1]:
                if block is not None and block.speech:
                    self.arrived.append((now + ONE_WAY_S + HELD_S, block))
                self.signs.append((now + 2 * ONE_WAY_S, now))
            await asyncio.sleep(FRAME_S)

    def _feedback(self, now):
        came = [until for at, until in self.signs if at <= now]
        self.signs = [sign for sign in self.signs if sign[0] > now]
        if came:
            self.sign = now
            until = came[-1] if self.away_at is None else None
            self.speaker.live.arrived(until, watched=True)
            if self.away_at is not None:
                self.away_at = None
                self.speaker.back("outage")
        elif self.away_at is None and now - self.sign >= 0.5:
            self.away_at = now
            self.speaker.away("outage", finish=True)

    def ticks(self, id="a"):
        """Every tick of the utterance that was heard, in order, by what the samples say of themselves."""
        whole = np.concatenate([block.samples for _, block in self.arrived if block.utterance == id])
        starts = np.concatenate([np.arange(b.start, b.start + TICKS) for _, b in self.arrived if b.utterance == id])
        said = np.round(whole * 32_768).astype(int) - 1
        return starts, said


@pytest.fixture
def play(virtually, scripted, step):
    """Runs `test(heard)` with twelve seconds to say."""

    def run(test, profile="navigation"):
        async def whole(loop):
            heard = Heard(loop, scripted(lambda text: [step(0.01, 0.5) for _ in text.split()]), profile)
            try:
                await test(heard)
            finally:
                heard.speaker.close()

        virtually(whole)

    return run


def whole_words(starts, words=24):
    """How often each word was heard from its first to its last tick without a break."""
    breaks = np.flatnonzero(np.diff(starts) != 1) + 1
    runs = [(run[0], run[-1] + 1) for run in np.split(starts, breaks)]
    return [sum(a <= w * 24_000 and (w + 1) * 24_000 <= b for a, b in runs) for w in range(words)]


@pytest.mark.parametrize("seconds", [3.0, 10.0])
@pytest.mark.parametrize("place", range(10))
def test_each_word_is_heard_once_wherever_the_outage_comes(play, place, seconds):
    async def test(heard):
        heard.say(id="a")
        begins = 0.4 + place * 1.27
        heard.out = (begins, begins + seconds)
        await heard.run(12.0 + seconds + 4.0)
        starts, said = heard.ticks()
        within = np.flatnonzero(np.abs(starts % 16_000 - said) > 0)
        assert len(within) <= 3 * 240  # what fades in or out
        assert whole_words(starts) == [1] * 24
        words = [data["text"] for name, data in heard.names("word")]
        assert words == WORDS.split()
        assert [name for name, _ in heard.names("paused", "resumed", "finished")] == ["paused", "resumed", "finished"]
        assert heard.names("paused")[0][1]["reason"] == "outage"
        back = next(at for at, name, _, _ in heard.told if name == "resumed")
        assert back - heard.began == pytest.approx(begins + seconds + 2 * ONE_WAY_S, abs=0.05)

    play(test)


def test_restart_goes_on_at_the_beginning_of_the_clause(play):
    async def test(heard):
        heard.say(id="a", keep="restart")
        heard.out = (4.1, 7.1)
        await heard.run(24.0)
        starts, _ = heard.ticks()
        again = np.flatnonzero(np.diff(starts) != 1) + 1
        assert starts[again].tolist() == [0]
        assert whole_words(starts)[:7] == [2] * 7
        assert whole_words(starts)[8:] == [1] * 16

    play(test)


def test_skip_goes_on_where_it_would_be_by_now_and_the_next_one_is_whole(play):
    async def test(heard):
        heard.say(id="a", keep="skip")
        heard.out = (4.1, 7.1)
        await heard.run(4.5)
        heard.say("one two", id="b")
        await heard.run(12.0)
        starts, _ = heard.ticks()
        again = int(np.flatnonzero(np.diff(starts) != 1)[0]) + 1
        assert starts[again] / 48_000 == pytest.approx(7.1 + 2 * ONE_WAY_S, abs=0.1)
        assert heard.ticks("b")[0].tolist() == list(range(48_000))
        assert "w9" not in [data["text"] for _, data in heard.names("word")]

    play(test)


def test_what_was_skipped_to_its_end_is_over(play):
    async def test(heard):
        heard.say(id="a", keep="skip")
        heard.out = (11.0, 15.0)
        await heard.run(17.0)
        assert [name for name, _ in heard.names("paused", "resumed", "finished")] == ["paused", "finished"]

    play(test)


def test_an_utterance_said_and_one_cut_off_while_nobody_hears(play):
    async def test(heard):
        heard.say(id="a")
        heard.out = (3.0, 6.0)
        await heard.run(4.0)
        heard.say("one two", id="b", interrupt=True)
        await heard.run(6.0)
        interrupted = heard.names("interrupted")[0][1]
        assert interrupted["position"] == pytest.approx(3.0 * 48_000, abs=2 * TICKS)
        assert interrupted["heard"] == " ".join(WORDS.split()[: int(interrupted["position"] / 24_000)])
        assert heard.ticks()[0][-1] < 3.0 * 48_000
        assert heard.ticks("b")[0].tolist() == list(range(48_000))

    play(test)


def test_the_renderer_rests_and_a_second_outage_within_the_same_word_is_one_word(play):
    async def test(heard):
        heard.say(id="a")
        heard.out = (3.0, 9.0)
        await heard.run(3.7)
        written = heard.speaker.ahead.sounding.pipeline.written
        await heard.run(5.0)
        assert heard.speaker.ahead.sounding.pipeline.written <= written + 24_000
        heard.out = (9.3, 11.0)
        await heard.run(16.0)
        assert whole_words(heard.ticks()[0]) == [1] * 24

    play(test)


def test_what_is_paused_stays_so(play):
    async def test(heard):
        heard.say(id="a")
        heard.out = (3.0, 6.0)
        await heard.run(4.0)
        heard.speaker.pause()
        await heard.run(6.0)
        assert heard.ticks()[0][-1] < 3.0 * 48_000
        heard.speaker.resume()
        await heard.run(12.0)
        assert whole_words(heard.ticks()[0]) == [1] * 24

    play(test)


def test_without_any_news_of_arrival_what_should_have_been_heard_counts(play):
    async def test(heard):
        heard.say(id="a")
        for _ in range(100):
            block = heard.speaker.take(TICKS)
            await asyncio.sleep(FRAME_S)
        heard.speaker.away("reconnecting")
        await asyncio.sleep(5.0)
        position = heard.speaker.position()
        assert position == pytest.approx((2.0 - 0.04 - ONE_WAY_S - HELD_S) * 48_000, abs=2 * TICKS)
        assert heard.speaker.take(TICKS) is not None  # the fade
        assert heard.speaker.take(TICKS) is None
        heard.speaker.back("reconnecting")
        blocks = [heard.speaker.take(TICKS) for _ in range(3)]
        block = next(b for b in blocks if b is not None and b.speech)
        assert block.start == position // 24_000 * 24_000

    play(test)


def test_what_is_urgent_cuts_into_a_story_which_goes_on_at_a_word(play):
    async def test(heard):
        heard.say(id="a")
        await heard.run(4.2)
        assert heard.say("one two", id="b", priority=9).place == 0
        await heard.run(13.0)
        starts, _ = heard.ticks()
        assert whole_words(starts) == [1] * 24
        order = [block.utterance for _, block in heard.arrived]
        assert "".join(dict.fromkeys(order)) == "ab"
        assert order[order.index("b") - 1] == order[len(order) - 1] == "a"
        assert [(name, data.get("reason")) for name, data in heard.names("paused", "resumed")] == [
            ("paused", "urgent"),
            ("resumed", "urgent"),
        ]
        assert [data["text"] for name, data in heard.names("word")][:8] == WORDS.split()[:8]

    play(test, profile="narration")
