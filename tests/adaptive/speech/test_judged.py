"""A chunk that is bad is rendered again one tier higher, once; and a desk that takes over makes the same samples."""

from collections.abc import Callable

import numpy as np
import pytest

from adaptive.speech.desk import Desk
from adaptive.speech.judge import Fault, PlainJudge
from adaptive.speech.local import LocalRenderer
from adaptive.speech.renderer import Chunk, RenderJob
from adaptive.speech.stream import SpeechStream
from adaptive.speech.voice import Samples, SwitchPoint, VoiceInfo, Word
from adaptive.speech.worker_messages import Made, Open, Step

RATE, FRAME = 48_000, 480
TEXT = "It hums for two seconds and more."


class Hum:
    """A clause of hum, whose light tiers are noisy between two frames; `asked` is what was decoded."""

    words: tuple[Word, ...] = ()

    def __init__(self, voice: "HumVoice", frames: int) -> None:
        self.frames = frames
        self._voice = voice

    def decode(self, start: int, count: int, *, tier: str, tail: int = 0) -> Samples:
        self._voice.asked.append((start, count, tier))
        if tier in self._voice.raising:
            raise ArithmeticError("a number grew too large")
        time = np.arange(start * FRAME, min(start + count + tail, self.frames) * FRAME) / RATE
        sound = 0.2 * np.sin(2 * np.pi * 131 * time) + 0.1 * np.sin(2 * np.pi * 317 * time)
        if tier in self._voice.bad and start < 120 and start + count > 60:
            sound += 0.2 * np.random.default_rng(start).standard_normal(len(time))
        return sound.astype(np.float32)


class HumVoice:
    def __init__(
        self,
        bad: tuple[str, ...],
        *,
        raising: tuple[str, ...] = (),
        tiers: tuple[str, ...] = ("full", "mixed", "light"),
        switch: SwitchPoint = SwitchPoint.CHUNK,
    ) -> None:
        self.bad = bad
        self.raising = raising
        self.asked: list[tuple[int, int, str]] = []
        self.info = VoiceInfo(
            name="hum",
            languages=(),
            licence="none",
            rate=RATE,
            frame_samples=FRAME,
            tiers=tiers,
            switch=switch,
        )

    def prepare(self, clause: str, *, speed: float = 1.0, seed: int = 0, tier: str | None = None) -> Hum:
        return Hum(self, 240)

    def warm(self) -> None: ...


def spoken(voice: HumVoice, *, tier: str = "light", steps: tuple[Step, ...] = ()) -> list[Made]:
    """Everything a desk makes of a text; `steps` were delivered by another desk before."""
    desk = Desk({"hum": voice}, SpeechStream, clock=lambda: 0.0, judge=PlainJudge())
    job = RenderJob(id="u", voice="hum", tier=tier)
    desk.handle(Open(number=1, job=job, pieces=((TEXT, True),), granted=1 << 40, tier=tier, steps=steps))
    made = []
    while (number := desk.pick()) is not None:
        if (one := desk.turn(number)) is not None:
            made.append(one)
    return made


def chunks(made: list[Made]) -> list[Chunk]:
    return [event for one in made for event in one.events if isinstance(event, Chunk)]


def sound(found: list[Chunk]) -> Samples:
    return np.concatenate([chunk.samples for chunk in found])


def test_a_bad_chunk_comes_one_tier_higher_and_the_next_as_asked() -> None:
    voice = HumVoice(bad=("light",))
    found = chunks(spoken(voice))
    again = [chunk for chunk in found if chunk.again]
    assert again
    assert {(chunk.tier, chunk.fault) for chunk in again} == {("mixed", Fault.NOISY)}
    rest = [chunk for chunk in found if not chunk.again]
    assert {(chunk.tier, chunk.fault) for chunk in rest} == {("light", None)}
    assert found[0].tier == found[-1].tier == "light"
    assert [ask for ask in voice.asked if ask[2] == "mixed"] == [
        (start, count, "mixed")
        for (start, count, tier), (*_, after) in zip(voice.asked, voice.asked[1:], strict=False)
        if (tier, after) == ("light", "mixed")
    ]
    assert np.abs(sound(found) - sound(chunks(spoken(HumVoice(bad=()))))).max() < 1e-4, "nothing of the noise is left"


def test_it_is_rendered_again_once() -> None:
    voice = HumVoice(bad=("light", "mixed"))
    found = chunks(spoken(voice))
    assert "full" not in {tier for *_, tier in voice.asked}
    assert {chunk.tier for chunk in found if chunk.again} == {"mixed"}
    assert len(voice.asked) == len({(start, count, tier) for start, count, tier in voice.asked})


@pytest.mark.parametrize(
    "make",
    [
        lambda: HumVoice(bad=("full",), tiers=("full",)),
        lambda: HumVoice(bad=("full", "light"), tiers=("full", "light"), switch=SwitchPoint.LOAD),
        lambda: HumVoice(bad=("full", "light"), tiers=("full", "light"), raising=("full",)),
    ],
    ids=["no other tier", "no change in mid-clause", "the better tier fails"],
)
def test_where_there_is_no_better_one_it_is_kept_and_counted(make: Callable[[], HumVoice]) -> None:
    voice = make()
    tier = voice.info.tiers[-1]
    found = chunks(spoken(voice, tier=tier))
    assert {chunk.tier for chunk in found} == {tier}
    assert Fault.NOISY in {chunk.fault for chunk in found}
    assert not any(chunk.again for chunk in found)


@pytest.mark.parametrize("delivered", [1, 3, 5])
def test_a_desk_that_takes_over_makes_the_same_samples(delivered: int) -> None:
    made = spoken(HumVoice(bad=("light",)))
    rest = spoken(HumVoice(bad=("light",)), steps=tuple(one.step for one in made[:delivered] if one.step))
    assert [(c.start, c.tier, c.fault) for c in chunks(rest)] == [
        (c.start, c.tier, c.fault) for c in chunks(made[delivered:])
    ]
    np.testing.assert_array_equal(sound(chunks(rest)), sound(chunks(made[delivered:])))


async def test_a_renderer_counts_them() -> None:
    renderer = LocalRenderer(("hum",), loader=lambda name: HumVoice(bad=("light",)))
    await renderer.start()
    try:
        stream = renderer.open(RenderJob(id="u", voice="hum", tier="light"))
        stream.grant(1 << 40)
        stream.feed(TEXT, final=True)
        found = [event async for event in stream.events() if isinstance(event, Chunk)]
        again = sum(chunk.again for chunk in found)
        status = renderer.status()
        assert again > 0
        assert (status.faults, status.rendered_again) == ({Fault.NOISY: again}, again)
    finally:
        await renderer.close()
