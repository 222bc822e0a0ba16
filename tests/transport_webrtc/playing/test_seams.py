"""A change of codec amid speech, as the player hears it: no larger a jump than either codec makes by itself."""

from itertools import pairwise

import numpy as np
import pytest

from adaptive.codec.carried import CarriedEncoder, Setting
from adaptive.control.plan import Codec, Format
from adaptive.delivery import Frame
from quality.seam_judge import LIMIT_DECODED, judge_codec_seam
from transport_webrtc.playing.decoding import Decoding
from transport_webrtc.playing.place import Place
from transport_webrtc.playing.sequence import Turn

OPUS, LONG_OPUS = Setting(bitrate=32_000), Setting(bitrate=32_000, ticks=2880)
PCM24, PCM16 = (Setting(format=Format(codec=Codec.PCM16, rate=rate)) for rate in (24_000, 16_000))
ULAW = Setting(format=Format(codec=Codec.ULAW, rate=8_000))
AROUND = 9_600


def speech() -> np.ndarray:
    """Harmonics of a gliding pitch in syllables, with breath."""
    at = np.arange(4 * 48_000) / 48_000
    phase = 2 * np.pi * np.cumsum(130 + 30 * np.sin(2 * np.pi * 0.7 * at)) / 48_000
    sound = sum(np.sin(n * phase + n * n) / n for n in range(1, 40))
    breath = 0.05 * np.random.default_rng(3).standard_normal(len(at))
    return (0.12 * (sound + breath) * (0.6 + 0.4 * np.sin(2 * np.pi * 3 * at))).astype(np.float32)


def carried(said: np.ndarray, ways: list[Setting]) -> list[Frame]:
    """Each of them for a third of a second."""
    encoder, frames = CarriedEncoder(ways[0]), []
    for number, at in enumerate(range(0, len(said), 480)):
        encoder.set(ways[min(number // 33, len(ways) - 1)])
        frames += encoder.push(said[at : at + 480])
    frames += encoder.finish()
    encoder.close()
    return frames


def heard(frames: list[Frame]) -> np.ndarray:
    decoding, blocks = Decoding(), []
    for frame in frames:
        turn = Turn(place=Place(frame.utterance, frame.position), frame=frame, end=frame.last)
        blocks += [block.samples for block in decoding.push(turn)]
    decoding.close()
    assert decoding.broken == 0
    return np.concatenate(blocks)


@pytest.mark.parametrize("opus", [OPUS, pytest.param(LONG_OPUS, marks=pytest.mark.long)], ids=["20 ms", "60 ms"])
def test_no_change_of_codec_is_a_seam_where_it_is_heard(opus: Setting) -> None:
    said = speech()
    frames = carried(said, [opus, PCM16, opus, PCM24, opus, ULAW, opus, PCM16, opus, ULAW, opus])
    out = heard(frames)
    assert len(said) <= len(out) < len(said) + 2880
    alone = {one.format: heard(carried(said, [one]))[: len(said)] for one in (opus, PCM24, PCM16, ULAW)}
    judged = []
    for old, new in pairwise(frames):
        if old.format != new.format:
            around = slice(new.position - AROUND, new.position + AROUND)
            before, after = alone[old.format][around], alone[new.format][around]
            judged.append(judge_codec_seam(out[around], before, after, at=AROUND))
    assert len(judged) == 10
    assert max(seam.r for seam in judged) <= LIMIT_DECODED
