"""A clause goes to a voice that speaks it; what comes out is one utterance."""

import asyncio
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from adaptive.speech.local import LocalRenderer
from adaptive.speech.renderer import Chunk, ClausePrepared, Rendered, RenderEvent, RenderJob
from adaptive.speech.routing import Router
from adaptive.speech.spoken import SpokenClause
from adaptive.speech.stream import SpeechStream
from adaptive.speech.voices import tone
from adaptive.ticks import TICK_RATE, to_ticks

MIXED = "Turn left at the gate. 前方右转，然后直走。 You are there."


def voice(name: str, *languages: str, rate: int = 24_000) -> tone.ToneVoice:
    return tone.ToneVoice(info=replace(tone.load(rate=rate).info, name=name, languages=languages))


EN, ZH, BOTH, ANY = voice("en", "en-US", rate=48_000), voice("zh", "zh-CN"), voice("both", "zh", "en"), voice("any")


def routed(router: Router, *texts: str) -> list[tuple[str, str]]:
    return [(own.info.name, part.text) for text in texts for own, part in router.parts(SpokenClause(text=text))]


@pytest.mark.parametrize(
    ("chosen", "others", "texts", "parts"),
    [
        (EN, [ZH], ["Hello.", "你好。", "Bye."], [("en", "Hello."), ("zh", "你好。"), ("en", "Bye.")]),
        (ZH, [EN], ["你好。", "Hello.", "再见。"], [("zh", "你好。"), ("en", "Hello."), ("zh", "再见。")]),
        (BOTH, [EN, ZH], ["你好。", "Hello."], [("both", "你好。"), ("both", "Hello.")]),
        (EN, [ZH, BOTH], ["Say 你好 to them."], [("both", "Say 你好 to them.")]),
        (EN, [ZH], ["Say 你好, (3) now."], [("en", "Say "), ("zh", "你好, (3) "), ("en", "now.")]),
        (EN, [ZH], ["12.", "你好。", "25%。"], [("en", "12."), ("zh", "你好。"), ("zh", "25%。")]),
        (EN, [ZH], ["<b>你好</b>。"], [("zh", "<b>你好</b>。")]),
        (EN, [ZH], ["Привет."], [("en", "Привет.")]),
        (EN, [ANY], ["你好。"], [("en", "你好。")]),
        (ANY, [EN, ZH], ["Hello.", "你好。"], [("any", "Hello."), ("any", "你好。")]),
        (EN, [], ["你好。"], [("en", "你好。")]),
    ],
)
def test_who_speaks_what(chosen, others, texts, parts) -> None:
    assert routed(Router(chosen, others), *texts) == parts


def test_a_pause_that_was_asked_for_is_behind_the_last_part() -> None:
    parts = Router(EN, [ZH]).parts(SpokenClause(text="Say 你好", rate=1.5, pause_s=2.0))
    assert [(part.rate, part.pause_s) for _, part in parts] == [(1.5, None), (1.5, 2.0)]


def rendered(
    stream: SpeechStream, text: str, *, size: int = 1000, chunk_frames: int | None = None
) -> list[RenderEvent]:
    for begin in range(0, len(text), size):
        stream.feed(text[begin : begin + size], final=begin + size >= len(text))
    events: list[RenderEvent] = []
    while not stream.done:
        events += stream.next(tier="light", chunk_frames=chunk_frames)
    return events


def chunks(events: list[RenderEvent]) -> list[Chunk]:
    return [event for event in events if isinstance(event, Chunk)]


def one_utterance(events: list[RenderEvent]) -> np.ndarray:
    """Its samples, where clauses, chunks and words follow one another and voices meet in silence."""
    made = chunks(events)
    assert made[0].start == 0
    assert all(before.start + len(before.samples) == after.start for before, after in pairwise(made))
    assert events[-1] == Rendered(ticks=made[-1].start + len(made[-1].samples))
    clauses = [event for event in events if isinstance(event, ClausePrepared)]
    assert [clause.index for clause in clauses] == list(range(len(clauses)))
    words = [word for clause in clauses for word in clause.words]
    assert all(before.start < after.start for before, after in pairwise(words))
    samples = np.concatenate([chunk.samples for chunk in made])
    for before, after in pairwise(made):
        if before.voice != after.voice:
            assert np.abs(samples[after.start - to_ticks(0.05) + 100 : after.start]).max() < 0.005
    return samples


def test_voices_of_two_rates_make_one_utterance() -> None:
    events = rendered(SpeechStream(EN, others=[ZH]), MIXED)
    samples = one_utterance(events)
    spoken = dict.fromkeys((chunk.clause, chunk.voice) for chunk in chunks(events))
    assert list(spoken) == [(0, None), (1, "zh"), (2, None)]
    again = one_utterance(rendered(SpeechStream(EN, others=[ZH]), MIXED, size=3))
    assert np.array_equal(samples, again)
    pause = next(chunk.pause_after for chunk in chunks(events) if chunk.pause_after)
    assert pause == pytest.approx(to_ticks(0.25), abs=20)
    for clause in (0, 1):  # of either rate, at the right pitch
        own = np.concatenate([chunk.samples for chunk in chunks(events) if chunk.clause == clause])[:24_000]
        assert np.argmax(np.abs(np.fft.rfft(own))) * TICK_RATE / len(own) == pytest.approx(tone.HERTZ, abs=3)


def test_chunks_last_as_long_whoever_speaks() -> None:
    long_frames = tone.ToneVoice(info=replace(ZH.info, frame_samples=2 * ZH.info.frame_samples))
    text = "One two three four five six seven eight. " + "前方右转然后直走" * 4 + "。"
    made = chunks(rendered(SpeechStream(EN, others=[long_frames]), text, chunk_frames=12))
    assert max(chunk.frames for chunk in made if chunk.voice is None) <= 12 + 2
    assert max(chunk.frames for chunk in made if chunk.voice) <= 6 + 1


async def test_a_renderer_hands_clauses_among_its_voices_and_counts_what_each_costs() -> None:
    voices = {"en": EN, "zh": ZH}
    renderer = LocalRenderer(("en", "zh"), loader=lambda name: voices[name])
    await renderer.start()
    stream = renderer.open(RenderJob(id="a", voice="en"))
    stream.grant(to_ticks(60))
    stream.feed(MIXED, final=True)
    async with asyncio.timeout(20):
        events = [event async for event in stream.events()]
    one_utterance(events)
    assert {chunk.voice for chunk in chunks(events)} == {None, "zh"}
    assert set(renderer.status().cost) == {"en", "zh"}
    await renderer.close()


@pytest.mark.voices
def test_joe_and_kumo_speak_one_text() -> None:
    """Both ways: kumo speaks English itself, so that it is taken as one that does not."""
    from adaptive.speech.registry import load_voice

    joe, kumo = load_voice("joe"), load_voice("kumo")
    text = "Turn left. 前方右转。 You are there."
    events = rendered(SpeechStream(joe, others=[kumo]), text)
    assert list(dict.fromkeys((chunk.clause, chunk.voice) for chunk in chunks(events))) == [
        (0, None),
        (1, "kumo"),
        (2, None),
    ]
    samples = one_utterance(events)
    words = [word for event in events if isinstance(event, ClausePrepared) for word in event.words]
    assert [word.text for word in words] == ["Turn", "left.", "前方", "右转。", "You", "are", "there."]
    levels = [float(np.sqrt(np.mean(samples[word.start : word.end] ** 2))) for word in words]
    assert min(levels) > 0.01
    kumo.info = replace(kumo.info, languages=("zh-CN",))
    other_way = rendered(SpeechStream(kumo, others=[joe]), "右转。 Turn left.")
    one_utterance(other_way)
    assert list(dict.fromkeys(chunk.voice for chunk in chunks(other_way))) == [None, "joe"]
