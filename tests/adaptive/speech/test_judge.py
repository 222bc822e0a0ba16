"""What the plain judge takes for a fault, and what it must not."""

import re

import numpy as np
import pytest

from adaptive.speech.judge import Fault, PlainJudge
from adaptive.speech.judged import JudgedVoice
from adaptive.speech.registry import load_voice
from adaptive.speech.stream import SpeechStream
from adaptive.speech.voice import Samples, SwitchPoint, VoiceInfo

RATE, FRAME = 24_000, 300
INFO = VoiceInfo(
    name="made",
    languages=("en-US",),
    licence="none",
    rate=RATE,
    frame_samples=FRAME,
    tiers=("full", "mixed", "light"),
    switch=SwitchPoint.CHUNK,
)
CLAUSES = """
The birch canoe slid on the smooth planks. Glue the sheet to the dark blue background. It is easy to tell the depth of
a well. These days a chicken leg is a rare dish. Rice is often served in round bowls. The juice of lemons makes fine
punch. The box was thrown beside the parked truck. The hogs were fed chopped corn and garbage. Four hours of steady
work faced us. A large size in stockings is hard to sell. The boy was there when the sun rose. A rod is used to catch
pink salmon. The source of the huge river is the clear spring. Kick the ball straight and follow through. Help the
woman get back to her feet. A pot of tea helps to pass the evening. Smoky fires lack flame and heat. The soft cushion
broke the man's fall. The salt breeze came across from the sea. The girl at the booth sold fifty bonds. The small pup
gnawed a hole in the sock. The fish twisted and turned on the bent hook. Press the pants and sew a button on the vest.
The swan dive was far short of perfect. The beauty of the view stunned the young boy. Two blue fish swam in the tank.
Her purse was full of useless trash. The colt reared and threw the tall rider. It snowed, rained, and hailed the same
morning. Read verse out loud for pleasure. Hoist the load to your left shoulder. Take the winding path to reach the
lake. Note closely the size of the gas tank. Wipe the grease off his dirty face. Mend the coat before you go out. The
wrist was badly strained and hung limp. The stray cat gave birth to kittens. Six thick thistle sticks, she hissed! Oh!
Well, yes.
"""
"""Mostly of the Harvard sentences (IEEE 1969): forty clauses."""


def vowels(seconds: float = 0.5) -> Samples:
    """A voice of gliding pitch with closures, and noise 70 dB below it."""
    time = np.arange(round(seconds * RATE)) / RATE
    phase = 2 * np.pi * np.cumsum(110 + 25 * np.sin(2 * np.pi * 2.3 * time)) / RATE
    sound = sum(np.sin(k * phase) * np.exp(-(((k * 120 - 600) / 900) ** 2)) for k in range(1, 40))
    opening = np.clip(np.sin(2 * np.pi * 4 * time) + 0.7, 0, 1)
    noise = np.random.default_rng(1).standard_normal(len(time)) * 1e-4
    return (0.08 * sound * opening + noise).astype(np.float32)


def judged(samples: Samples, tier: str = "full") -> Fault | None:
    return PlainJudge().fault(samples, info=INFO, tier=tier, sounding=((0, len(samples)),))


@pytest.mark.parametrize("seconds", [0.1, 0.3, 0.6])
@pytest.mark.parametrize("tier", INFO.tiers)
def test_a_voice_without_fault_has_none(seconds: float, tier: str) -> None:
    assert judged(vowels(seconds), tier) is None


def test_what_is_no_number_is_broken() -> None:
    samples = vowels()
    samples[700] = np.nan
    assert judged(samples) is Fault.BROKEN


def test_flattened_peaks_are_clipped() -> None:
    samples = vowels()
    assert judged(np.clip(samples * 1.0 / np.abs(samples).max() * 0.97, -1, 1)) is None, "loud is not clipped"
    assert judged(np.clip(samples * 6, -1, 1)) is Fault.CLIPPED


def test_a_dropout_and_a_missing_word_are_silent() -> None:
    dropped = vowels()
    dropped[4000:4800] = 0
    assert judged(dropped) is Fault.SILENT
    faint = np.random.default_rng(3).standard_normal(RATE // 2).astype(np.float32) * np.float32(1e-5)
    assert judged(faint) is Fault.SILENT
    assert PlainJudge().fault(faint, info=INFO, tier="full", sounding=()) is None, "a pause may be silent"
    assert PlainJudge().fault(faint, info=INFO, tier="full", sounding=((0, 2000),)) is None, "a closure may be silent"


@pytest.mark.parametrize("frames", [1, 2])
def test_a_decoder_stuck_on_its_frames_repeats_them(frames: int) -> None:
    stuck = vowels()
    piece = stuck[3000 : 3000 + frames * FRAME].copy()
    stuck[3000 : 3000 + 6 * frames * FRAME] = np.tile(piece, 6)
    assert judged(stuck) is Fault.REPEATED


def test_noise_is_held_against_the_tiers_promise() -> None:
    speech = vowels(0.6)
    noise = np.random.default_rng(2).standard_normal(len(speech)).astype(np.float32) * np.sqrt(np.mean(speech**2))
    found = {
        below: [judged(speech + noise * np.float32(10 ** (-below / 20)), tier) for tier in INFO.tiers]
        for below in (5, 10, 20, 25, 40)
    }
    assert found[5] == found[10] == [Fault.NOISY] * 3
    assert found[40] == [None] * 3
    assert [tier for below in (20, 25) for tier in found[below]].count(None) in range(1, 6), "tiers promise differently"
    assert judged(noise[: RATE // 10]) is Fault.NOISY, "noise in place of speech, in a short chunk too"


def test_the_tone_is_without_fault_at_every_rate() -> None:
    for name in ("tone", "tone-8000", "tone-22050", "tone-24000"):
        voice = load_voice(name)
        for tier in voice.info.tiers:
            whole = voice.prepare("a tone that goes on").decode(0, 57, tier=tier)
            assert PlainJudge().fault(whole, info=voice.info, tier=tier, sounding=((0, len(whole)),)) is None


def faults(name: str, clauses: list[str]) -> dict[tuple[str, str, int], Fault]:
    """What the judge finds in a real voice at each tier, as the stream cuts it, and up to which tick."""
    found = {}
    voice = load_voice(name)
    for tier in voice.info.tiers:
        judge = JudgedVoice(voice, PlainJudge(), tiers=(tier,))
        for number, clause in enumerate(clauses):
            stream = SpeechStream(judge, seed=number)
            stream.feed(clause, final=True)
            while not stream.done:
                stream.next(tier=tier, chunk_frames=None)
                if finding := judge.take():
                    found[tier, clause, stream.position] = finding.fault
    return found


def forty() -> list[str]:
    clauses = re.findall(r"[^.!]+[.!]", " ".join(CLAUSES.split()))
    assert len(clauses) == 40
    return clauses


@pytest.mark.voices
@pytest.mark.parametrize("name", ["joe", "heart"])
def test_real_voices_are_without_fault(name: str) -> None:
    assert faults(name, forty()[::8]) == {}


@pytest.mark.voices
@pytest.mark.long
@pytest.mark.parametrize("name", ["joe", "heart"])
def test_forty_clauses_are_without_fault(name: str) -> None:
    assert faults(name, forty()) == {}
