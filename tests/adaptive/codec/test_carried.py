"""Frames of any format: every tick once, every sample in its place, and no seam where the format changes."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from adaptive.codec.carried import SEAM_TICKS, CarriedEncoder, Setting
from adaptive.codec.opus import OpusDecoder
from adaptive.codec.pcm import REACH, band_limited, from_pcm16, from_ulaw
from adaptive.codec.toc import describe
from adaptive.control.plan import Bandwidth, Codec, Format
from adaptive.delivery.frames import Frame
from quality.seam_judge import FAIL, LIMIT, judge_seam

PCM16_48 = Setting(format=Format(codec=Codec.PCM16, rate=48_000))
PCM16_16 = Setting(format=Format(codec=Codec.PCM16, rate=16_000))
ULAW_8 = Setting(format=Format(codec=Codec.ULAW, rate=8_000))
OPUS = Setting()
OPUS_NARROW = Setting(bitrate=8_000, bandwidth=Bandwidth.MB, ticks=2880)


def voice(ticks: int) -> np.ndarray:
    """Harmonics of 150 Hz with a slow beat: below 3 kHz, as every format carries."""
    at = np.arange(ticks) / 48_000
    sound = sum(np.sin(2 * np.pi * 150 * n * at + n) / n for n in range(1, 20))
    return (0.15 * sound * (1 + 0.3 * np.sin(2 * np.pi * 3 * at))).astype(np.float32)


def carry(samples: np.ndarray, changes: Sequence[tuple[int, Setting]], block: int = 700) -> list[Frame]:
    """Pushed in blocks; a change is set once so many ticks went in."""
    encoder = CarriedEncoder(changes[0][1])
    encoder.restart(np.zeros(0, np.float32), utterance=7, position=0)
    frames, later = [], list(changes[1:])
    for at in range(0, len(samples), block):
        while later and at >= later[0][0]:
            encoder.set(later.pop(0)[1])
        frames += encoder.push(samples[at : at + block])
    frames += encoder.finish()
    encoder.close()
    return frames


def heard(frames: Sequence[Frame]) -> np.ndarray:
    """Decoded, each frame on its place, at 48 kHz; lower rates by linear interpolation."""
    opus, parts = OpusDecoder(), []
    for frame in frames:
        if frame.format.codec is Codec.OPUS:
            parts.append(opus.decode(frame.payload, 5760)[-frame.ticks :])  # the first after PCM is longer
            continue
        decode = from_pcm16 if frame.format.codec is Codec.PCM16 else from_ulaw
        samples, step = decode(frame.payload), 48_000 // frame.format.rate
        parts.append(np.interp(np.arange(frame.ticks), np.arange(len(samples)) * step, samples))
    return np.concatenate(parts)


ALL = [PCM16_48, PCM16_16, ULAW_8, OPUS, OPUS_NARROW]


@pytest.mark.parametrize("setting", ALL)
@pytest.mark.parametrize("ticks", [1, 479, 960, 48_000, 50_001])
def test_every_tick_once_and_the_last_is_marked(setting: Setting, ticks: int) -> None:
    frames = carry(voice(ticks), [(0, setting)])
    at = 0
    for frame in frames:
        assert (frame.utterance, frame.position, frame.format) == (7, at, setting.format)
        at += frame.ticks
    assert ticks <= at < ticks + 960
    assert [frame.last for frame in frames] == [False] * (len(frames) - 1) + [True]


def test_nothing_said_makes_no_frame() -> None:
    assert CarriedEncoder(OPUS).finish() == []


def test_what_was_said_is_in_its_place() -> None:
    said = voice(48_000)
    assert np.max(np.abs(heard(carry(said, [(0, PCM16_48)]))[:48_000] - said)) < 1e-4
    opus = heard(carry(said, [(0, Setting(bitrate=64_000))]))[:48_000]
    inner = slice(4800, 43_200)
    lags = range(-60, 61)
    likeness = [np.dot(opus[inner], np.roll(said, lag)[inner]) for lag in lags]
    lag = lags[int(np.argmax(likeness))]
    assert abs(lag) <= 12  # a quarter of a millisecond: SILK's own, of the 312 ticks that are made up for
    assert np.corrcoef(opus[inner], np.roll(said, lag)[inner])[0, 1] > 0.8


def test_blocks_of_any_length_make_the_same_frames() -> None:
    said = voice(24_000)
    for setting in ALL:
        assert carry(said, [(0, setting)], block=113) == carry(said, [(0, setting)], block=9000)


def test_the_setting_is_what_is_on_the_wire() -> None:
    frames = carry(voice(48_000), [(0, OPUS), (24_000, OPUS_NARROW)])
    packets = [(describe(frame.payload), frame) for frame in frames]
    assert {info.bandwidth for info, frame in packets if frame.ticks == 960} == {Bandwidth.FB}
    assert {frame.ticks for frame in frames[:-1]} == {960, 2880}
    narrow = [len(frame.payload) for frame in frames if frame.ticks == 2880]
    assert 40 <= np.mean(narrow) <= 80


def test_the_rate_limits_the_band_of_opus() -> None:
    frames = carry(voice(24_000), [(0, Setting(format=Format(rate=16_000)))])
    assert {describe(frame.payload).bandwidth for frame in frames} == {Bandwidth.WB}


@pytest.mark.parametrize("first", ALL)
@pytest.mark.parametrize("second", ALL)
def test_a_change_keeps_every_tick(first: Setting, second: Setting) -> None:
    frames = carry(voice(48_000), [(0, first), (20_000, second), (30_000, first), (30_001, second), (40_000, first)])
    at = 0
    for frame in frames:
        assert frame.position == at
        at += frame.ticks
    assert 48_000 <= at < 48_960
    assert frames[-1].format == first.format


def test_a_widening_band_fades_in() -> None:
    """A high tone that the lower rate cannot carry comes and goes within 10 ms, not at once."""
    at = np.arange(48_000) / 48_000
    said = (0.5 * np.sin(2 * np.pi * 10_000 * at)).astype(np.float32)
    sound = heard(carry(said, [(0, PCM16_48), (12_000, PCM16_16), (30_000, PCM16_48)]))[:48_000]
    level = np.sqrt(np.convolve(sound**2, np.ones(48) / 48, mode="same"))
    changes = np.abs(np.diff(level[::48]))
    assert level[20_000:28_000].max() < 0.01
    assert level[100:10_000].min() > 0.3
    assert changes[1:-1].max() < 0.08


def worst_seam(monkeypatch: pytest.MonkeyPatch, ways: Sequence[Setting]) -> float:
    """The largest r of the changes from each to the next, on what goes into the codecs."""
    rng = np.random.default_rng(4)
    said = (voice(96_000) + 0.02 * rng.standard_normal(96_000)).astype(np.float32)
    entered: list[np.ndarray] = []
    frame = CarriedEncoder._frame

    def framed(encoder: CarriedEncoder, ticks: int, *, last: bool) -> Frame:
        entered.append(encoder._signal(encoder._position, encoder._position + ticks))
        return frame(encoder, ticks, last=last)

    monkeypatch.setattr(CarriedEncoder, "_frame", framed)
    frames = carry(said, [(n * 16_000, setting) for n, setting in enumerate(ways)])
    came, worst = np.concatenate(entered), 0.0
    for old, new in pairwise(frames):
        if old.format == new.format:
            continue
        before, after = (band_limited(np.pad(said, REACH), one.format.rate).astype(np.float32) for one in (old, new))
        at = new.position - SEAM_TICKS if new.format.rate < old.format.rate else new.position
        seam = judge_seam(came[:96_000], before, after, at=at, fade=SEAM_TICKS)
        worst = max(worst, seam.r)
    return worst


WAY = [Setting(format=Format(codec=Codec.PCM16, rate=24_000)), ULAW_8, OPUS, PCM16_16, OPUS, ULAW_8]


def test_no_change_of_format_is_a_seam_before_the_codec(monkeypatch: pytest.MonkeyPatch) -> None:
    assert worst_seam(monkeypatch, WAY) <= LIMIT


def test_a_change_that_is_not_faded_would_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adaptive.codec.carried.crossfade", lambda old, new: np.roll(new, 20))
    assert worst_seam(monkeypatch, WAY) > FAIL


def test_a_change_taken_back_gives_the_band_back() -> None:
    said = (0.5 * np.sin(2 * np.pi * 10_000 * np.arange(48_000) / 48_000)).astype(np.float32)
    encoder = CarriedEncoder(PCM16_48)
    frames = encoder.push(said[:10_000])
    encoder.set(PCM16_16)
    frames += encoder.push(said[10_000:10_900])
    encoder.set(PCM16_48)
    frames += encoder.push(said[10_900:])
    sound = heard(frames)
    assert np.sqrt(np.mean(sound[20_000:30_000] ** 2)) > 0.3


def test_opus_begins_again_with_what_was_before() -> None:
    """After a rewind the encoder has heard 20 ms: without them the first frame is another one."""
    said = voice(48_000)
    encoder = CarriedEncoder(OPUS)
    encoder.restart(said[:20_000], utterance=3, position=20_000)
    with_past = encoder.push(said[20_000:30_000])
    encoder.restart(np.zeros(0, np.float32), utterance=3, position=20_000)
    without = encoder.push(said[20_000:30_000])
    assert (with_past[0].utterance, with_past[0].position) == (3, 20_000)
    assert with_past[0].payload != without[0].payload

    def miss(frames: Sequence[Frame]) -> float:
        return float(np.mean((heard(frames)[400:960] - said[20_400:20_960]) ** 2))

    assert miss(with_past) < miss(without)
