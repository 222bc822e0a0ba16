"""The stream on a scripted voice whose every sample is known beforehand."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from adaptive.audio.resampling import resample
from adaptive.speech.clause import KEPT_S
from adaptive.speech.renderer import Chunk, ClausePrepared, Noticed, Rendered, RenderEvent
from adaptive.speech.stream import RAMP, SpeechStream, nearest_tier
from adaptive.speech.voice import Samples, SwitchPoint, VoiceInfo, Word
from adaptive.ticks import TICK_RATE

RATE, FRAME = 22_050, 256
LEAD = 1500
"""Samples of silence before each clause of the scripted voice."""
FIRST, SILENT = 9, 6
"""Frames of about 104 ms, and of the silence before a clause."""


def info(switch: SwitchPoint = SwitchPoint.CHUNK, tiers: tuple[str, ...] = ("full", "mixed", "light")) -> VoiceInfo:
    return VoiceInfo(
        name="script",
        languages=("en-US",),
        licence="none",
        rate=RATE,
        frame_samples=FRAME,
        tiers=tiers,
        switch=switch,
    )


class ScriptedClause:
    """Ten frames a character: silence, then a hum; a lower tier adds noise 20 dB below it."""

    def __init__(self, text: str, seed: int, own: VoiceInfo, lead: int = LEAD) -> None:
        self.frames = 10 * len(text)
        self.words: tuple[Word, ...] = (
            Word(text=text, start=lead * TICK_RATE // RATE, end=self.frames * FRAME * TICK_RATE // RATE),
        )
        self.asked: list[tuple[int, int, str]] = []
        self._info = own
        time = np.arange(self.frames * FRAME) / RATE
        hum = sum(np.sin(2 * np.pi * 120 * k * time + seed) / k for k in (1, 2, 3, 5, 8)) * 0.1
        noise = np.random.default_rng(seed).standard_normal(len(time)) * 0.01
        self.sound = {
            tier: np.where(np.arange(len(time)) < lead, 0, hum + place * noise).astype(np.float32)
            for place, tier in enumerate(own.tiers)
        }

    def decode(self, start: int, count: int, *, tier: str, tail: int = 0) -> Samples:
        assert count > 0
        assert start + count <= self.frames
        self.asked.append((start, count, tier))
        return self.sound[tier][start * FRAME : min(start + count + tail, self.frames) * FRAME].copy()


class ScriptedVoice:
    def __init__(self, own: VoiceInfo | None = None) -> None:
        self.info = own or info()
        self.clauses: list[ScriptedClause] = []
        self.texts: list[str] = []
        self.speeds: list[float] = []

    def prepare(self, clause: str, *, speed: float = 1.0, seed: int = 0, tier: str | None = None) -> ScriptedClause:
        assert tier in self.info.tiers
        self.texts.append(clause)
        self.speeds.append(speed)
        self.clauses.append(ScriptedClause(clause, seed, self.info))
        return self.clauses[-1]

    def warm(self) -> None:
        pass


def drain(stream: SpeechStream, tiers: Sequence[str] = ("full",), chunk_frames: int | None = None) -> list[RenderEvent]:
    events: list[RenderEvent] = []
    turn = 0
    while not stream.done:
        events += stream.next(tier=tiers[turn % len(tiers)], chunk_frames=chunk_frames)
        turn += 1
    return events


def chunks(events: list[RenderEvent]) -> list[Chunk]:
    return [event for event in events if isinstance(event, Chunk)]


def sound(events: list[RenderEvent]) -> Samples:
    return np.concatenate([chunk.samples for chunk in chunks(events)])


def spoken(text: str, voice: ScriptedVoice, *tiers: str, chunk_frames: int | None = None) -> list[RenderEvent]:
    stream = SpeechStream(voice)
    stream.feed(text, final=True)
    return drain(stream, tiers or ("full",), chunk_frames)


def test_chunks_follow_each_other_to_the_tick_and_end_where_rendered_says() -> None:
    events = spoken("One two three, four five six. Seven eight.", ScriptedVoice())
    position = 0
    for chunk in chunks(events):
        assert chunk.start == position
        position += len(chunk.samples)
    assert events[-1] == Rendered(ticks=position)


def test_what_comes_out_is_the_whole_clause_without_its_leading_silence() -> None:
    voice = ScriptedVoice()
    out = sound(spoken("A word", voice))
    kept = round(KEPT_S * RATE)
    whole = resample(voice.clauses[0].sound["full"][LEAD - kept :], RATE, TICK_RATE)
    assert len(out) == len(whole)
    inner = slice(round(0.02 * TICK_RATE), -round(0.02 * TICK_RATE))
    error = out[inner] - whole[inner]
    assert 10 * np.log10(np.mean(error**2) / np.mean(whole[inner] ** 2)) < -100


class LateVoice(ScriptedVoice):
    """Half a second of silence before each clause, with the noise of a low tier in it."""

    LEAD = RATE // 2

    def __init__(self, noise: float = 0.002, *, estimated: bool = False) -> None:
        super().__init__()
        self._noise, self._estimated = noise, estimated

    def prepare(self, clause: str, *, speed: float = 1.0, seed: int = 0, tier: str | None = None) -> ScriptedClause:
        prepared = ScriptedClause(clause, seed, self.info, lead=self.LEAD)
        prepared.words = tuple(replace(word, estimated=self._estimated) for word in prepared.words)
        noise = np.random.default_rng(seed).standard_normal(prepared.frames * FRAME).astype(np.float32)
        prepared.sound["full"] += self._noise * noise
        self.clauses.append(prepared)
        return prepared


def test_silence_that_the_model_foretells_is_not_decoded_and_speech_begins_in_the_first_chunk() -> None:
    knows, guesses = LateVoice(0.0), LateVoice(0.0, estimated=True)
    events, other = spoken("abcdefghijkl", knows), spoken("abcdefghijkl", guesses)
    start, count, _ = knows.clauses[0].asked[0]
    assert 0 < start * FRAME < LateVoice.LEAD - 0.05 * RATE
    assert (start + count) * FRAME > LateVoice.LEAD + 0.1 * RATE
    assert guesses.clauses[0].asked[0][0] == 0
    assert len(chunks(events)[0].samples) > 0.085 * TICK_RATE
    np.testing.assert_allclose(sound(events), sound(other), atol=1e-5)


def test_at_half_the_speed_speech_may_begin_four_times_as_early() -> None:
    skipped = []
    for speed in (2.0, 1.0, 0.5):
        voice = LateVoice(0.0)
        stream = SpeechStream(voice, speed=speed)
        stream.feed("abcdefghijkl", final=True)
        drain(stream)
        skipped.append(voice.clauses[0].asked[0][0] * FRAME / RATE)
    assert skipped == pytest.approx([0.42, 0.42, 0.18], abs=FRAME / RATE)


def test_the_noise_of_a_low_tier_is_no_speech() -> None:
    silent, noisy = (sound(spoken("abcdefghijkl", LateVoice(noise))) for noise in (0.0, 0.002))
    assert len(noisy) == pytest.approx(len(silent), abs=0.005 * TICK_RATE)


def test_clauses_begin_where_they_say_and_words_lie_inside() -> None:
    events = spoken("One two three, four five six. Seven eight.", ScriptedVoice())
    clauses = [event for event in events if isinstance(event, ClausePrepared)]
    assert [clause.index for clause in clauses] == [0, 1, 2]
    for clause in clauses:
        own = [chunk for chunk in chunks(events) if chunk.clause == clause.index]
        assert own[0].start == clause.start
        end = own[-1].start + len(own[-1].samples)
        assert clause.start + clause.ticks <= end
        assert clause.start <= clause.words[0].start < clause.words[0].end <= clause.start + clause.ticks
    first_word = clauses[0].words[0]
    assert first_word.start == pytest.approx(round(KEPT_S * TICK_RATE), abs=5)


def test_pauses_are_set_by_punctuation_and_lie_at_the_end_of_a_chunk() -> None:
    events = spoken("One two three, four five six. Seven eight.", ScriptedVoice())
    pauses = [chunk.pause_after for chunk in chunks(events) if chunk.pause_after > 100]
    assert pauses == [round(0.12 * TICK_RATE), round(0.25 * TICK_RATE)]
    for chunk in chunks(events):
        if chunk.pause_after:
            assert np.abs(chunk.samples[-chunk.pause_after :]).max() < 0.005


def test_silence_a_voice_ends_with_is_part_of_the_pause() -> None:
    class Lingering(ScriptedVoice):
        silence_s = 0.0

        def prepare(self, clause: str, *, speed: float = 1.0, seed: int = 0, tier: str | None = None) -> ScriptedClause:
            prepared = super().prepare(clause, speed=speed, seed=seed, tier=tier)
            for whole in prepared.sound.values():
                whole[len(whole) - round(self.silence_s * RATE) :] = 0
            return prepared

    for silence_s in (0.05, 0.2, 0.35):
        voice = Lingering()
        voice.silence_s = silence_s
        events = spoken("One two three. Four five.", voice, chunk_frames=1_000)
        out = sound(events)
        border = next(chunk.start for chunk in chunks(events) if chunk.clause == 1)
        assert silence_before(out, border) == pytest.approx(0.25 * TICK_RATE, abs=20)
        assert silence_before(out, len(out)) == pytest.approx(min(silence_s, 0.25) * TICK_RATE, abs=300)


def silence_before(samples: Samples, end: int) -> int:
    return end - 1 - int(np.flatnonzero(np.abs(samples[:end]) > 0.004)[-1])


def test_chunks_grow_from_a_small_first_one() -> None:
    voice = ScriptedVoice()
    spoken("abcdefghijklmnopqrstuvw", voice)
    sizes = [count for _, count, _ in voice.clauses[0].asked]
    assert sizes[:4] == [SILENT + FIRST, *(FIRST * step for step in RAMP[1:])]
    assert sizes[4] == FIRST * RAMP[-1]


def test_asked_for_length_caps_the_ramp_and_replaces_its_last_step() -> None:
    small, large = ScriptedVoice(), ScriptedVoice()
    spoken("abcdefghijklmnopqrstuvw", small, chunk_frames=12)
    spoken("abcdefghijklmnopqrstuvw", large, chunk_frames=100)
    assert [count for _, count, _ in small.clauses[0].asked][:5] == [SILENT + 9, 12, 12, 12, 12]
    assert [count for _, count, _ in large.clauses[0].asked][:5] == [SILENT + 9, 18, 36, 54, 100]


def test_tier_changes_at_the_next_chunk_and_fades_over_ten_milliseconds() -> None:
    voice = ScriptedVoice()
    events = spoken("abcdefgh", voice, "full", "light")
    assert [chunk.tier for chunk in chunks(events)][:4] == ["full", "light", "full", "light"]
    clause = voice.clauses[0]
    lead = LEAD - round(KEPT_S * RATE)
    branch = {tier: resample(clause.sound[tier][lead:], RATE, TICK_RATE) for tier in ("full", "light")}
    out = sound(events)
    border = round(((SILENT + FIRST) * FRAME - lead) * TICK_RATE / RATE)
    fade = round(FRAME * TICK_RATE / RATE)
    assert fade >= 0.010 * TICK_RATE
    margin = 200
    np.testing.assert_allclose(out[1000 : border - margin], branch["full"][1000 : border - margin], atol=1e-4)
    after = slice(border + fade + margin, border + fade + 3000)
    np.testing.assert_allclose(out[after], branch["light"][after], atol=1e-4)
    share = (out - branch["full"])[border : border + fade] / (branch["light"] - branch["full"])[border : border + fade]
    assert np.median(share[fade // 2 - 20 : fade // 2 + 20]) == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("chunk_frames", [1, 7, 40, None])
def test_how_a_clause_is_cut_does_not_change_it(chunk_frames: int | None) -> None:
    whole = sound(spoken("abcdefgh, ijk.", ScriptedVoice(), chunk_frames=1000))
    cut = sound(spoken("abcdefgh, ijk.", ScriptedVoice(), chunk_frames=chunk_frames))
    np.testing.assert_allclose(cut, whole, atol=1e-5)


def test_text_in_pieces_sounds_like_the_text_whole() -> None:
    text = "One two three, four five six. Seven eight."
    stream = SpeechStream(ScriptedVoice())
    events: list[RenderEvent] = []
    for character in text:
        stream.feed(character, final=False)
        while made := stream.next(tier="full"):
            events += made
    stream.feed("", final=True)
    events += drain(stream)
    np.testing.assert_allclose(sound(events), sound(spoken(text, ScriptedVoice())), atol=1e-5)


def test_asks_for_text_while_it_is_open_and_has_no_clause() -> None:
    stream = SpeechStream(ScriptedVoice())
    assert stream.next(tier="full") == []
    stream.feed("Half a", final=False)
    assert stream.next(tier="full") == []
    assert not stream.done


@pytest.mark.parametrize("text", ["", "  \n\t ", "... !!! --", "\x00\x01"])
def test_nothing_to_say_is_rendered_at_once(text: str) -> None:
    voice = ScriptedVoice()
    assert spoken(text, voice) == [Rendered(ticks=0)]
    assert voice.texts == []


def test_a_silent_clause_is_left_out() -> None:
    class Mute(ScriptedVoice):
        def prepare(self, clause: str, *, speed: float = 1.0, seed: int = 0, tier: str | None = None) -> ScriptedClause:
            prepared = super().prepare(clause, speed=speed, seed=seed, tier=tier)
            if "mute" in clause:
                prepared.sound = {tier: np.zeros_like(whole) for tier, whole in prepared.sound.items()}
            return prepared

    events = spoken("One two three. The mute one. Four.", Mute())
    assert [event.text for event in events if isinstance(event, ClausePrepared)] == ["One two three.", "Four."]
    assert {chunk.clause for chunk in chunks(events)} == {0, 1}


def test_a_voice_that_switches_by_the_clause_keeps_its_tier_within_one() -> None:
    voice = ScriptedVoice(info(SwitchPoint.CLAUSE))
    events = spoken("abcdefghijkl. abcdefghijkl.", voice, "full", "light", "light", "light", "light", "light")
    assert {chunk.tier for chunk in chunks(events) if chunk.clause == 0} == {"full"}
    assert {chunk.tier for chunk in chunks(events) if chunk.clause == 1} == {"light"}


def test_a_voice_that_cannot_switch_keeps_its_first_tier() -> None:
    events = spoken("abcdefghijkl. abcdefghijkl.", ScriptedVoice(info(SwitchPoint.LOAD)), "light", "full")
    assert {chunk.tier for chunk in chunks(events)} == {"light"}


@pytest.mark.parametrize(
    ("tiers", "asked", "given"),
    [
        (("full", "light"), "light", "light"),
        (("full",), "light", "full"),
        (("only",), "mixed", "only"),
        (("full", "light"), "mixed", "full"),
        (("full", "light"), "unheard-of", "full"),
    ],
)
def test_a_tier_the_voice_does_not_have_is_its_nearest(tiers: tuple[str, ...], asked: str, given: str) -> None:
    assert nearest_tier(info(tiers=tiers), asked) == given


def test_a_voice_that_failed_may_be_asked_again() -> None:
    class Failing(ScriptedVoice):
        fails = True

        def prepare(self, clause: str, *, speed: float = 1.0, seed: int = 0, tier: str | None = None) -> ScriptedClause:
            if self.fails:
                raise RuntimeError("The model's file is gone.")
            return super().prepare(clause, speed=speed, seed=seed, tier=tier)

    voice = Failing()
    stream = SpeechStream(voice)
    stream.feed("One two three.", final=True)
    with pytest.raises(RuntimeError):
        stream.next(tier="full")
    voice.fails = False
    assert [event.text for event in drain(stream) if isinstance(event, ClausePrepared)] == ["One two three."]


def test_chunk_borders_leave_no_hole() -> None:
    out = sound(spoken("abcdefghijkl", ScriptedVoice(), "full", "mixed", "light"))
    level = [float(np.sqrt(np.mean(out[at : at + 480] ** 2))) for at in range(960, len(out) - 960, 240)]
    for before, after in pairwise(level):
        assert abs(20 * np.log10(after / before)) < 3


def test_ssml_sets_the_speed_and_the_pause_and_tells_what_it_ignored() -> None:
    voice = ScriptedVoice()
    stream = SpeechStream(voice, speed=2.0)
    stream.feed(
        '<speak><x/>One two.<break time="1s"/> <prosody rate="10">Three</prosody> <prosody rate="50%">four', final=False
    )
    stream.feed("</prosody></speak>", final=True)
    events = drain(stream)
    (notice,) = (event for event in events if isinstance(event, Noticed))
    assert notice.message.endswith("are understood; <x> and the like are ignored.")
    assert [event.text for event in events if isinstance(event, ClausePrepared)] == ["One two.", "Three", "four"]
    pauses = [event.pause_after for event in events if isinstance(event, Chunk) and event.pause_after]
    assert pauses[0] == TICK_RATE
    assert voice.speeds == [2.0, 4.0, 1.0]
