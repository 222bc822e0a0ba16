"""The whole way in one call: exact on the tone, and on joe what the project promises of its seams."""

import io

import numpy as np
import pytest

import adaptive
from adaptive.audio.seams import find_lag
from adaptive.audio.wav import read_wav
from adaptive.control.plan import Bandwidth, Rung
from adaptive.speech.offline import Rendering, render
from adaptive.speech.registry import load_voice
from adaptive.speech.stream import SpeechStream
from adaptive.speech.voices.tone import RATES
from adaptive.ticks import TICK_RATE

NOTE = "a single steady note"
WIDE = Rung(bitrate=32_000, bandwidth=Bandwidth.FB, frame_ms=20)
NARROW = Rung(bitrate=16_000, bandwidth=Bandwidth.WB, frame_ms=40)


def pitch(samples: np.ndarray) -> float:
    """Hz of the strongest tone, between the bins of the transform."""
    spectrum = np.log(np.abs(np.fft.rfft(samples * np.hanning(len(samples)))) + 1e-12)
    peak = int(np.argmax(spectrum))
    left, top, right = spectrum[peak - 1 : peak + 2]
    return float((peak + (left - right) / (2 * (left - 2 * top + right))) * TICK_RATE / len(samples))


def levels(samples: np.ndarray) -> np.ndarray:
    window = TICK_RATE // 100
    inner = samples[window : len(samples) - window]
    return np.array(
        [np.sqrt(np.mean(inner[at : at + window] ** 2)) for at in range(0, len(inner) - window, window // 2)]
    )


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("tiers", [("full",), ("full", "light")])
def test_a_tone_of_any_rate_keeps_pitch_and_length_and_has_no_hole(rate: int, tiers: tuple[str, ...]) -> None:
    rendering = render(NOTE, voice=load_voice(f"tone-{rate}"), tiers=tiers, every_s=0.2)
    assert pitch(rendering.samples) == pytest.approx(440, abs=2)
    assert rendering.duration_s == pytest.approx(0.06 * len(NOTE), rel=0.01)
    assert len(rendering.chunks) >= 4
    level = levels(rendering.samples)
    assert 20 * np.log10(level.max() / level.min()) < 1


@pytest.mark.parametrize("rate", RATES)
def test_every_chunk_border_of_a_tone_is_the_tone(rate: int) -> None:
    rendering = render(NOTE, voice=load_voice(f"tone-{rate}"))
    time = np.arange(len(rendering.samples)) / TICK_RATE
    basis = np.stack([np.sin(2 * np.pi * 440 * time), np.cos(2 * np.pi * 440 * time)], axis=1)
    inner = slice(TICK_RATE // 50, -TICK_RATE // 50)
    weights, *_ = np.linalg.lstsq(basis[inner], rendering.samples[inner], rcond=None)
    assert np.abs(rendering.samples[inner] - basis[inner] @ weights).max() < 1e-4


def test_switches_have_both_branches_and_what_was_heard_leads_from_one_to_the_other() -> None:
    rendering = render(NOTE, voice=load_voice("tone-22050"), tiers=("full", "light"), every_s=0.3)
    assert [(switch.before, switch.after) for switch in rendering.switches][:2] == [
        ("full", "light"),
        ("light", "full"),
    ]
    for number, switch in enumerate(rendering.switches, start=1):
        assert switch.at / TICK_RATE == pytest.approx(0.3 * number, abs=0.03)
        at, end = switch.at - switch.start, switch.at - switch.start + switch.fade
        margin = 200
        np.testing.assert_allclose(switch.heard[: at - margin][-2_000:], switch.old[: at - margin][-2_000:], atol=1e-6)
        np.testing.assert_allclose(switch.heard[end + margin :][:2_000], switch.new[end + margin :][:2_000], atol=1e-6)
        assert np.abs(switch.old - switch.new).max() > 1e-3


def test_the_same_arguments_give_the_same_samples() -> None:
    first, again = (render(NOTE, voice="tone", tiers=("light",), seed=3).samples for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert np.any(first != render(NOTE, voice="tone", tiers=("light",), seed=4).samples)


def test_placements_put_a_text_where_an_earlier_stream_put_it() -> None:
    voice = load_voice("tone-24000")
    text = "One note of it. Another note, and a last one."
    first = SpeechStream(voice)
    first.feed(text, final=True)
    while not first.done:
        first.next(tier="full")
    again = SpeechStream(voice, placements=first.placements)
    again.feed(text, final=True)
    while not again.done:
        again.next(tier="light", chunk_frames=7)
    assert again.placements == first.placements
    assert again.position == first.position


def test_through_opus_it_is_as_long_and_not_later() -> None:
    plain, coded = (render(NOTE, voice="tone", codec=codec) for codec in ("none", "opus"))
    assert len(plain.samples) == len(coded.samples)
    inner = slice(TICK_RATE // 2, TICK_RATE)
    # The encoder's high-pass turns a low tone a little ahead.
    assert -10 <= find_lag(plain.samples[inner], coded.samples[inner], 50) <= 0
    assert np.std(coded.samples) == pytest.approx(np.std(plain.samples), rel=0.05)
    assert coded.switches == ()


def test_rungs_take_turns_on_one_encoder() -> None:
    rendering = render(NOTE, voice="tone", codec="opus", rungs=(WIDE, NARROW), every_s=0.25)
    assert [(switch.kind, switch.before) for switch in rendering.switches][:2] == [
        ("rung", str(WIDE)),
        ("rung", str(NARROW)),
    ]
    assert 20 * np.log10(levels(rendering.samples).max() / levels(rendering.samples).min()) < 3


def test_first_audio_and_factor_are_measured() -> None:
    rendering = render(NOTE, voice="tone")
    assert rendering.first_audio_s is not None
    assert 0 < rendering.first_audio_s < rendering.render_s + 0.5
    assert rendering.real_time_factor == pytest.approx(rendering.render_s / rendering.duration_s)


def test_nothing_to_say_is_an_empty_rendering() -> None:
    rendering = render("  ...  ", voice="tone", codec="opus")
    assert len(rendering.samples) == 0
    assert rendering.first_audio_s is None
    assert rendering.real_time_factor is None


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"voice": "nobody"}, "nobody"),
        ({"tiers": ("full", "best"), "every_s": 1.0}, "no tier best"),
        ({"tiers": ("full", "light")}, "after how many seconds"),
        ({"codec": "mp3"}, "not mp3"),
        ({"rungs": (WIDE,)}, "need the codec opus"),
        ({"tiers": ("full", "light"), "every_s": 0.0}, "or longer"),
        ({"tiers": ("full", "light"), "every_s": float("nan")}, "or longer"),
        ({"tiers": ("full", "light"), "every_s": float("inf")}, "or longer"),
        ({"speed": 0.0}, "speed"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(arguments: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        render("Hello.", **{"voice": "tone", **arguments})


def test_the_quick_start() -> None:
    file = io.BytesIO()
    rendering: Rendering = adaptive.render("Hello.", voice="tone")
    adaptive.write_wav(file, rendering.samples, rendering.rate)
    file.seek(0)
    samples, rate = read_wav(file)
    assert (len(samples), rate) == (len(rendering.samples), TICK_RATE)
    with pytest.raises(AttributeError, match="nothing_of_it"):
        _ = adaptive.nothing_of_it
