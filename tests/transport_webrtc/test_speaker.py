"""The speaker of a listener on virtual time: who sounds when, what is told, and that no sample is lost."""

import asyncio

import numpy as np
import pytest

from adaptive.control.plan import Bandwidth, Plan, Protection, Reason, Rung
from adaptive.control.profiles import PROFILES
from transport_webrtc.messages import Limits, Refused, SayMessage
from transport_webrtc.speaker import Speaker

FADE = 240


class Scene:
    """A speaker, somebody who takes a frame every 20 ms, and what was told when."""

    def __init__(self, loop, renderer, *, profile="voice_chat", connected=True, limits=None):
        self.loop, self.renderer = loop, renderer
        self.told = []
        self.blocks = []
        """What was taken, run-in left out."""
        self.run_in = []
        """When silence was sent that keeps the decoder awake."""
        self.woken = 0
        self.speaker = Speaker(
            renderer=renderer,
            profile=PROFILES[profile],
            voice="tone",
            emit=lambda name, id, data: self.told.append((loop.time(), name, id, data)),
            clock=loop.time,
            limits=limits,
            wake=self._wake,
        )
        self.began = loop.time()
        if connected:
            self.speaker.connected()

    def _wake(self):
        self.woken += 1

    def say(self, text="one two three four", **fields):
        return self.speaker.say(SayMessage(say=text, **fields))

    async def run(self, seconds, ticks=960):
        end = self.loop.time() + seconds
        while self.loop.time() < end - 1e-9:
            block = self.speaker.take(ticks)
            self.run_in += [self.loop.time()] if block is not None and not block.speech else []
            self.blocks.append((self.loop.time(), block if block is not None and block.speech else None))
            await asyncio.sleep(ticks / 48_000)

    def names(self, id=None, without=("word", "progress", "marks")):
        return [name for _, name, who, _ in self.told if name not in without and (id is None or who == id)]

    def events(self, name, id=None):
        return [(at, data) for at, which, who, data in self.told if which == name and (id is None or who == id)]

    def samples(self, id):
        return np.concatenate([b.samples for _, b in self.blocks if b is not None and b.utterance == id])


@pytest.fixture
def play(virtually, scripted):
    """Runs `test(scene)`; the renderer is scripted, the speaker closed at the end."""

    def run(test, script=None, **options):
        async def whole(loop):
            scene = Scene(loop, scripted(script) if script else scripted(), **options)
            try:
                await test(scene)
            finally:
                scene.speaker.close()
            assert all(stream.cancelled for stream in scene.renderer.streams)

        virtually(whole)

    return run


def test_an_utterance_delivers_every_sample_and_tells_its_life(play, step, tell_tick):
    async def test(scene):
        assert scene.say(id="a").place == 0
        await scene.run(2.0)
        heard = scene.samples("a")
        total = 48_000 + 100
        np.testing.assert_array_equal(heard[:total], tell_tick(0, total))
        assert not heard[total:].any()
        assert len(heard) == -(-total // 960) * 960
        assert scene.names() == ["queued", "started", "finished"]
        assert scene.events("finished")[0][1] == {"position": total, "ticks": total}
        assert scene.speaker.snapshot()["speaking"] is None

    play(test, lambda text: [step(0.01, 0.5), step(0.01, 0.5 + 100 / 48_000)])


def test_what_in_the_text_is_not_followed_is_told_once(play, step):
    async def test(scene):
        scene.say(id="a")
        await scene.run(1.0)
        assert [data["message"] for _, data in scene.events("noticed", "a")] == ["There is more."]
        assert scene.names("a")[-1] == "finished"

    play(test, lambda text: [step(0.01, 0.2, notices="There is more."), step(0.01, 0.2)])


def test_words_and_progress_are_told_when_they_are_heard(play, step):
    async def test(scene):
        scene.speaker.heard(0.3)
        scene.say("one two three four", id="a")
        await scene.run(2.5)
        start = next(at for at, block in scene.blocks if block is not None)
        words = scene.events("word")
        assert [data["text"] for _, data in words] == ["one", "two", "three", "four"]
        for at, data in words:
            assert at == pytest.approx(start + 0.3 + data["start"] / 48_000, abs=0.002)
            assert data["position"] == data["start"]
        progress = scene.events("progress")
        assert [data["position"] for _, data in progress] == [12_000, 24_000, 36_000, 48_000]
        assert progress[0][0] == pytest.approx(start + 0.55, abs=0.002)
        assert scene.events("finished")[0][0] == pytest.approx(start + 1.3, abs=0.002)
        marks = scene.events("marks")
        assert marks[0][0] < start + 0.02
        assert [w["text"] for w in marks[0][1]["words"]] == ["one", "two", "three", "four"]
        assert scene.names(without=("progress",))[-2:] == ["word", "finished"]

    play(test)


def test_speech_said_before_anybody_listens_waits_and_none_of_it_is_lost(play, tell_tick):
    async def test(scene):
        scene.say(id="a")
        await scene.run(5.0)
        assert scene.renderer.streams[0].position > 0
        assert all(block is None for _, block in scene.blocks)
        before = scene.woken
        scene.speaker.connected()
        assert scene.woken > before
        await scene.run(2.0)
        np.testing.assert_array_equal(scene.samples("a")[:48_000], tell_tick(0, 48_000))

    play(test, connected=False)


def test_the_next_one_renders_before_the_present_one_ends_and_no_frame_is_missing(play, step):
    async def test(scene):
        for id in "abc":
            scene.say(id=id)
        await scene.run(16.0)
        spoken = [(at, block.utterance) for at, block in scene.blocks if block is not None]
        gaps = np.diff([at for at, _ in spoken])
        assert gaps.max() == pytest.approx(0.02, abs=1e-6)
        assert [who for _, who in spoken] == sorted(who for _, who in spoken)
        assert len(spoken) == 3 * 200
        assert scene.renderer.most_working <= 2

    play(test, lambda text: [step(0.15, 0.4) for _ in range(10)])


def test_what_is_ready_for_a_listener_stays_below_the_limit_over_all_its_utterances(play, step):
    async def test(scene):
        for id in "abcd":
            scene.say(id=id)
        for _ in range(600):
            await scene.run(0.02)
            made = sum(stream.position for stream in scene.renderer.streams)
            taken = sum(960 for _, block in scene.blocks if block is not None)
            assert made - taken <= 2.0 * 48_000
        assert scene.names().count("finished") == 4

    play(test, lambda text: [step(0.001, 0.3) for _ in range(9)])


def test_a_second_of_two_chunks_at_once_then_nothing_is_an_underrun_that_is_counted(play, step, tell_tick):
    async def test(scene):
        scene.say(id="a")
        await scene.run(6.0)
        underruns = scene.speaker.snapshot()["underruns"]
        assert underruns["count"] == 1
        assert underruns["largest_s"] == pytest.approx(1.0, abs=0.05)
        blocks = [b for _, b in scene.blocks if b is not None]
        starts = [b.start for b in blocks]
        assert starts == sorted(starts)
        again = next(b for b, c in zip(blocks[1:], blocks, strict=False) if b.start == c.start)
        np.testing.assert_array_equal(again.samples[FADE:], tell_tick(again.start + FADE, 960 - FADE))
        assert scene.events("finished")[0][1]["ticks"] == 96_000

    play(test, lambda text: [step(0.01, 0.5), step(0.01, 0.5), step(2.0, 0.5), step(0.01, 0.5)])


def test_interrupting_stops_within_a_frame_and_says_what_was_heard(play, step):
    async def test(scene):
        scene.speaker.heard(0.1)
        scene.say("one two three four five six seven eight nine ten", id="a")
        scene.say(id="b")
        await scene.run(1.0)
        count = len(scene.blocks)
        scene.say("stop", id="c", interrupt=True)
        at, data = scene.events("interrupted", "a")[0]
        assert at == scene.loop.time()
        assert data["position"] == pytest.approx(48_000 * 0.88, abs=1_000)
        assert data["heard"] == ""
        await scene.run(30.0)
        later = [b for _, b in scene.blocks[count:] if b is not None]
        assert [b.utterance for b in later].count("a") == 1
        assert later[0].utterance == "a"
        assert later[0].samples[: FADE // 2].any()
        assert not later[0].samples[FADE:].any()
        order = [b.utterance for b in later]
        assert order.index("c") == 1
        assert order.index("b") > order.index("c")
        ends = [(name, who) for _, name, who, _ in scene.told if name in ("interrupted", "finished")]
        assert ends == [("interrupted", "a"), ("finished", "c"), ("finished", "b")]
        assert scene.renderer.streams[0].cancelled

    play(test, lambda text: [step(0.02, 0.5) for _ in range(20)])


def test_what_was_heard_is_in_whole_words(play, step):
    async def test(scene):
        scene.say("one two three four five six seven eight nine ten", id="a")
        await scene.run(3.5)
        scene.speaker.stop()
        assert scene.events("interrupted")[0][1]["heard"] == "one two three"
        told = len(scene.told)
        await scene.run(1.0)
        assert len(scene.told) == told

    play(test, lambda text: [step(0.02, 0.5) for _ in range(20)])


def test_cut_before_the_first_chunk_nothing_sounds_and_the_next_one_is_free(play, step):
    async def test(scene):
        scene.say("late", id="a")
        await scene.run(0.1)
        scene.speaker.stop("a")
        scene.say("quick", id="b")
        await scene.run(3.0)
        assert not any(b.utterance == "a" for _, b in scene.blocks if b is not None)
        assert scene.names("a") == ["queued", "interrupted"]
        assert scene.names("b") == ["queued", "started", "finished"]

    play(test, lambda text: [step(5.0 if text == "late" else 0.01, 0.2)])


def test_pause_holds_and_resume_goes_on_with_the_next_sample(play, tell_tick):
    async def test(scene):
        scene.say(id="a")
        scene.say(id="b")
        await scene.run(0.5)
        scene.speaker.pause()
        scene.speaker.pause()
        await scene.run(3.0)
        assert scene.speaker.snapshot()["speaking"]["sounding"] == "paused"
        woken = scene.woken
        scene.speaker.resume()
        assert scene.woken > woken
        await scene.run(3.0)
        paused, resumed = scene.events("paused"), scene.events("resumed")
        assert len(paused) == len(resumed) == 1
        silent = [at for at, b in scene.blocks if b is None and paused[0][0] < at < resumed[0][0]]
        assert len(silent) >= 148
        whole = {b.start: b.samples for _, b in scene.blocks if b is not None and b.utterance == "a"}
        heard = np.concatenate([whole[start] for start in sorted(whole)])
        expected = tell_tick(0, 48_000)
        first = round(0.48 * 48_000)
        np.testing.assert_array_equal(heard[: first - 960], expected[: first - 960])
        assert np.count_nonzero(heard[:48_000] != expected) <= FADE
        assert scene.names("a") == ["queued", "started", "paused", "resumed", "finished"]

    play(test)


def test_a_waiting_utterance_can_be_held_until_resumed(play):
    async def test(scene):
        scene.say(id="a")
        scene.say(id="b")
        scene.speaker.pause("b")
        await scene.run(4.0)
        assert scene.names("b") == ["queued", "paused"]
        scene.speaker.resume("b")
        await scene.run(2.0)
        assert scene.names("b") == ["queued", "paused", "resumed", "started", "finished"]

    play(test)


def test_stop_silences_all_and_clear_only_what_waits(play):
    async def test(scene):
        for id in "abc":
            scene.say(id=id)
        await scene.run(0.2)
        scene.speaker.clear()
        await scene.run(2.0)
        assert scene.names("a")[-1] == "finished"
        assert scene.names("b") == scene.names("c") == ["queued", "interrupted"]
        for id in "def":
            scene.say(id=id)
        await scene.run(0.2)
        scene.speaker.stop()
        assert (scene.speaker.snapshot()["speaking"], scene.speaker.snapshot()["queue"]) == (None, [])
        await scene.run(1.0)
        assert [scene.names(id)[-1] for id in "def"] == ["interrupted"] * 3

    play(test)


def test_verbs_with_an_id_mean_that_utterance(play):
    async def test(scene):
        for id in "abc":
            scene.say(id=id)
        scene.speaker.stop("b")
        scene.speaker.clear("c")
        with pytest.raises(Refused) as caught:
            scene.speaker.clear("a")
        assert caught.value.status == 409
        for verb in (scene.speaker.stop, scene.speaker.pause, scene.speaker.resume, scene.speaker.clear):
            with pytest.raises(Refused) as caught:
                verb("nobody")
            assert caught.value.status == 404
            verb("b")
        await scene.run(2.0)
        assert scene.names("a") == ["queued", "started", "finished"]
        for verb in (scene.speaker.stop, scene.speaker.pause, scene.speaker.resume, scene.speaker.clear):
            verb()

    play(test)


def test_eight_may_wait_and_the_ninth_is_refused(play):
    async def test(scene):
        for number in range(9):
            assert scene.say(id=str(number)).place == number
        with pytest.raises(Refused) as caught:
            scene.say(id="9")
        assert caught.value.status == 429
        assert scene.say(id="3").place == 3
        assert scene.say(id="urgent", interrupt=True).place == 0
        await scene.run(12.0)
        assert scene.names().count("finished") == 9

    play(test)


def test_the_same_id_again_is_harmless_also_after_the_end(play):
    async def test(scene):
        first = scene.say(id="a")
        assert scene.say("something else", id="a") == first
        await scene.run(2.0)
        assert scene.say(id="a") == first
        await scene.run(2.0)
        assert scene.names() == ["queued", "started", "finished"]
        assert len(scene.renderer.streams) == 1
        assert scene.say().id != scene.say().id

    play(test)


def test_pieces_under_one_id_are_one_text(play):
    async def test(scene):
        scene.say("one ", id="a", more=True)
        scene.say("two ", id="a", more=True)
        await scene.run(0.1)
        scene.say("three", id="a", more=True)
        assert scene.speaker.content_report(scene.loop.time()).remaining_s is None
        scene.say("", id="a")
        assert scene.renderer.streams[0].text == "one two three"
        scene.say("too late", id="a", more=True)
        await scene.run(2.0)
        assert scene.renderer.streams[0].text == "one two three"
        assert scene.names() == ["queued", "started", "finished"]

    play(test)


def test_pieces_of_nothing_leave_nothing_behind(play):
    async def test(scene):
        scene.say("one two", id="a", more=True)
        fed = len(scene.renderer.streams[0].text)
        for _ in range(1000):
            scene.say("", id="a", more=True)
        utterance = scene.speaker.turns.current
        assert len(scene.renderer.streams[0].text) == fed
        assert utterance.characters == len("one two")
        scene.say("", id="a")
        await scene.run(2)
        assert scene.names("a")[-1] == "finished"

    play(test)


def test_pieces_are_limited_together(play):
    async def test(scene):
        scene.say("12345", id="a", more=True)
        with pytest.raises(Refused) as caught:
            scene.say("678901", id="a")
        assert caught.value.status == 413
        scene.say("67890", id="a")
        with pytest.raises(Refused) as caught:
            scene.say("12345678901")
        assert caught.value.status == 413

    play(test, limits=Limits(max_text_chars=10))


@pytest.mark.parametrize("text", ["", "   \n\t", "\u200b\x00"])
def test_a_text_without_anything_to_say_is_refused(play, text):
    async def test(scene):
        with pytest.raises(Refused) as caught:
            scene.say(text)
        assert caught.value.status == 422
        assert scene.told == []

    play(test)


def test_an_open_text_that_ends_empty_finishes(play, step):
    async def test(scene):
        scene.say("", id="a", more=True)
        scene.say("b", id="b")
        await scene.run(0.2)
        scene.say(" ", id="a")
        await scene.run(2.0)
        assert scene.events("finished", "a")[0][1]["ticks"] == 0
        assert scene.names("b")[-1] == "finished"

    play(test, lambda text: [step(0.01, 0.2)] * 5 if text.strip() else [])


def test_a_text_of_which_the_voice_can_read_nothing_is_refused(play):
    async def test(scene):
        with pytest.raises(Refused) as caught:
            scene.say("Привет, как дела?")
        assert caught.value.status == 422
        assert "voice tone speaks en-US" in caught.value.sentence
        assert "Cyrillic" in caught.value.sentence
        assert scene.names() == []
        scene.say("Привет, Bob!", id="mixed")
        scene.say("Привет", id="pieces", more=True)
        scene.say(", Bob!", id="pieces")
        await scene.run(6.0)
        assert scene.names().count("finished") == 2

    play(test)


def test_unknown_voices_and_profiles_are_refused_with_what_there_is(play):
    async def test(scene):
        for fields, known in (({"voice": "nobody"}, "tone"), ({"profile": "opera"}, "narration")):
            with pytest.raises(Refused) as caught:
                scene.say(**fields)
            assert caught.value.status == 422
            assert known in caught.value.sentence
        scene.say(voice="hidden", id="a")
        await scene.run(2.0)
        assert scene.events("started", "a")[0][1]["voice"] == "hidden"

    play(test)


def test_a_renderer_that_fails_ends_its_utterance_only_and_what_was_ready_is_heard(play, step, tell_tick):
    async def test(scene):
        scene.say("bad", id="a")
        scene.say("good", id="b")
        await scene.run(3.0)
        np.testing.assert_array_equal(scene.samples("a")[:9_600], tell_tick(0, 9_600))
        assert scene.names("a") == ["queued", "started", "failed"]
        assert scene.events("failed", "a")[0][1]["message"] == "It broke."
        assert scene.names("b") == ["queued", "started", "finished"]
        assert scene.speaker.snapshot()["ended"] == {"finished": 1, "interrupted": 0, "failed": 1}

    play(test, lambda text: [step(0.01, 0.2), step(0.01, 0.2, fails="It broke." if text == "bad" else None)])


def test_a_renderer_that_raises_does_not_end_the_speaker(play, step):
    def script(text):
        if text == "bad":
            raise OSError("the disk is gone")
        return [step(0.01, 0.2)]

    async def test(scene):
        scene.say("bad", id="a")
        scene.say("good", id="b")
        await scene.run(1.0)
        assert "the disk is gone" in scene.events("failed", "a")[0][1]["message"]
        assert scene.names("b")[-1] == "finished"

    play(test, script)


def test_at_holds_an_utterance_until_its_time_and_lets_others_go_before(play):
    async def test(scene):
        scene.say(id="later", at=5.0)
        scene.say(id="now")
        await scene.run(8.0)
        starts = {who: at - scene.began for at, name, who, _ in scene.told if name == "started"}
        assert starts["now"] < 0.05
        assert 5.0 <= starts["later"] < 5.05, "a frame of silence first"

    play(test)


def test_what_waits_for_long_leaves_room_for_what_is_said_meanwhile(play):
    async def test(scene):
        scene.say(id="now")
        for id in "abcd":
            scene.say(id=id, at=86_400)
        for interrupt in (False, True):
            with pytest.raises(Refused, match="more than 60 seconds ahead") as refused:
                scene.say(id="e", at=61, interrupt=interrupt)
            assert refused.value.status == 429
        assert scene.speaker.snapshot()["speaking"]["id"] == "now", "what is refused interrupts nothing"
        for id in "fghi":
            scene.say(id=id, at=60)
        with pytest.raises(Refused, match="are waiting already"):
            scene.say(id="j")

    play(test)


def test_priority_orders_the_queue(play):
    async def test(scene):
        scene.say(id="first", priority=9)
        scene.say(id="low", priority=1)
        assert scene.say(id="high", priority=9).place == 1
        assert scene.say(id="navigation", profile="navigation").place == 2
        await scene.run(6.0)
        assert [who for _, name, who, _ in scene.told if name == "started"] == ["first", "high", "navigation", "low"]

    play(test)


def plan(**changes):
    defaults = {"rung": Rung(bitrate=32_000, bandwidth=Bandwidth.FB, frame_ms=20), "tier": "full"}
    return Plan(**{**defaults, "reason": Reason.STEADY, **changes})


def test_switches_are_told_the_rung_at_once_the_tier_when_it_sounds(play, step):
    async def test(scene):
        scene.speaker.steer(plan())
        scene.say(id="a")
        await scene.run(1.0)
        changed_at = scene.loop.time()
        narrow = Rung(bitrate=16_000, bandwidth=Bandwidth.WB, frame_ms=40)
        scene.speaker.steer(
            plan(rung=narrow, tier="light", reason=Reason.CONGESTED, protection=Protection(fec=True, loss_hint=10))
        )
        await scene.run(6.0)
        told = [(at - changed_at, data) for at, data in scene.events("switched")]
        assert [(data["kind"], data["from"], data["to"], data["reason"]) for _, data in told] == [
            ("rung", "32k FB 20ms", "16k WB 40ms", "congested"),
            ("bandwidth", "FB", "WB", "congested"),
            ("protection", "none", "fec", "congested"),
            ("tier", "full", "light", "congested"),
        ]
        assert all(at == 0 for at, _ in told[:3])
        light = next(b for b in scene.blocks if b[1] is not None and b[1].start + 960 > told[3][1]["position"])
        assert told[3][0] + changed_at == pytest.approx(light[0], abs=0.021)
        assert told[3][0] > 0.5
        scene.speaker.steer(plan())
        assert scene.told[-1][1:3] == ("switched", None)

    play(test, lambda text: [step(0.01, 0.2) for _ in range(20)])


def test_another_voice_is_told_when_it_sounds_and_its_tier_is_no_change_of_tier(play, step):
    async def test(scene):
        scene.say(id="a")
        await scene.run(3.0)
        told = [data for _, data in scene.events("switched")]
        assert [(data["kind"], data["from"], data["to"], data["position"]) for data in told] == [
            ("voice", "tone", "kumo", 19_200),
            ("voice", "kumo", "tone", 28_800),
            ("tier", "full", "light", 38_400),
        ]
        assert {data["reason"] for data in told[:2]} == {"language"}

    script = [(None, "full"), (None, "full"), ("kumo", "only"), (None, "full"), (None, "light")]
    play(test, lambda text: [step(0.01, 0.2, voice=voice, tier=tier) for voice, tier in script])


def test_reports_say_what_is_ready_what_it_costs_and_where_the_pauses_are(play, step):
    async def test(scene):
        idle = scene.speaker.compute_report(1.0)
        assert (idle.ready_s, idle.rendering, idle.tiers) == (None, False, ("full", "light"))
        assert not scene.speaker.content_report(1.0).sounding
        scene.say(id="a")
        await scene.run(0.5)
        compute = scene.speaker.compute_report(2.0)
        assert compute.at == 2.0
        assert compute.rendering
        assert compute.target_s == 1.2
        assert 1.0 <= compute.ready_s <= 2.0
        assert compute.cost == {"full": 0.1}
        content = scene.speaker.content_report(2.0)
        assert content.sounding
        taken = sum(960 for _, b in scene.blocks if b is not None) / 48_000
        assert content.pauses[0] == pytest.approx((0.9 - taken, 1.0 - taken))
        assert content.remaining_s == pytest.approx(5 - taken, abs=0.01)

    play(test, lambda text: [step(0.01, 0.5, pause_s=0.1 if i % 2 else 0.0) for i in range(10)])


def test_the_frame_length_may_change_at_any_time(play, tell_tick):
    async def test(scene):
        scene.say(id="a")
        for ticks in (960, 2_880, 1_920, 960, 2_880) * 6:
            await scene.run(ticks / 48_000, ticks)
        np.testing.assert_array_equal(scene.samples("a")[:48_000], tell_tick(0, 48_000))

    play(test)


def test_closing_in_the_middle_leaves_nothing_behind(play):
    async def test(scene):
        for id in "abc":
            scene.say(id=id, at=0.5 if id == "c" else 0)
        await scene.run(0.3)
        scene.speaker.close()
        told = len(scene.told)
        await scene.run(1.0)
        assert len(scene.told) == told
        assert all(block is None for _, block in scene.blocks[-10:])

    play(test)


def test_after_a_rest_one_frame_of_silence_wakes_the_decoder_while_the_speech_is_rendered(play, step):
    async def test(scene):
        await scene.run(1.0)
        assert scene.run_in == []
        asked = scene.loop.time()
        scene.say(id="a")
        await scene.run(1.0)
        first = next(at for at, block in scene.blocks if block is not None)
        assert scene.run_in[0] == asked
        assert scene.run_in[-1] < first
        assert first - asked == pytest.approx(0.06, abs=0.021), "rendering took 50 ms: the run-in cost nothing"

    play(test, lambda text: [step(0.05, 0.5)])


def test_a_pause_rests_and_speech_taken_up_again_has_its_run_in(play, step):
    async def test(scene):
        scene.say(id="a")
        await scene.run(0.5)
        scene.speaker.pause()
        await scene.run(3.0)
        before = len(scene.run_in)
        assert before == 1
        scene.speaker.resume()
        await scene.run(0.5)
        assert len(scene.run_in) == 2

    play(test, lambda text: [step(0.01, 2.0)])
