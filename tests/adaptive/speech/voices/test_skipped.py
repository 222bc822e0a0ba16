"""What is not decoded because the model foretells silence is silent, for the voices that foretell it."""

import numpy as np
import pytest

from adaptive.audio.resampling import StreamingResampler
from adaptive.speech.clause import SILENCE, WINDOW_S, ClauseStream
from adaptive.ticks import TICK_RATE

pytestmark = pytest.mark.voices

TEXTS = (
    "My neighbour's daughter carried the brass lantern behind the station.",
    "Stop!",
    "Zip it.",
    "Five hundred metres.",
    "She sells shells.",
)


@pytest.mark.parametrize("speed", [0.25, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("name", ["joe", "heart"])
def test_what_is_skipped_is_silent(name: str, speed: float, request: pytest.FixtureRequest) -> None:
    voice = request.getfixturevalue(name)
    skipped = 0
    for text in TEXTS:
        prepared = voice.prepare(text, speed=speed)
        stream = ClauseStream(prepared, voice.info, StreamingResampler(voice.info.rate, TICK_RATE), speed=speed)
        silent = np.pad(prepared.decode(0, stream.skipped, tier="full"), (0, 1))
        window = round(WINDOW_S * voice.info.rate)
        assert np.convolve(np.square(silent), np.ones(window) / window).max() < SILENCE**2
        skipped += stream.skipped
    assert speed < 1 or skipped > 0
