"""The decoder in torch says what the file says in ONNX Runtime, at fp32 to the last bit, at bf16 as near as that is."""

import numpy as np
import pytest

from adaptive.speech.registry import load_voice
from adaptive.speech.voices import devices
from adaptive.speech.voices.vits import VitsVoice
from adaptive.speech.voices.vits_ladder import candidates
from adaptive.speech.voices.vits_layout import Layout, TierFile

pytestmark = pytest.mark.voices


def snr_db(reference: np.ndarray, other: np.ndarray) -> float:
    noise = float(np.mean(np.square(other - reference, dtype=np.float64)))
    return float("inf") if noise == 0 else 10 * np.log10(float(np.mean(np.square(reference, dtype=np.float64))) / noise)


@pytest.fixture
def every_tier(monkeypatch) -> VitsVoice:
    monkeypatch.setenv("LEGATO_DEVICE", "cpu")
    return load_voice("joe", every_tier=True)


def test_all_tiers_of_a_cpu_are_one_speech_at_several_precisions(every_tier: VitsVoice) -> None:
    assert every_tier.info.tiers == ("full", "fp32", "bf16", "mixed", "light")
    clause = every_tier.prepare("Turn left at the third corner.", seed=2)
    full = clause.decode(10, 40, tier="full")
    assert snr_db(full, clause.decode(10, 40, tier="fp32")) >= 60
    assert 25 < snr_db(full, clause.decode(10, 40, tier="bf16")) < 60
    again = clause.decode(10, 40, tier="bf16")
    assert np.array_equal(again, clause.decode(10, 40, tier="bf16")), "the same frames, other samples"


def test_tiers_that_are_let_go_of_are_gone(every_tier: VitsVoice) -> None:
    every_tier.leave_out(["fp32", "mixed"])
    assert every_tier.info.tiers == ("full", "bf16", "light")
    with pytest.raises(ValueError, match="no tier 'mixed'"):
        every_tier.prepare("So it is.").decode(0, 4, tier="mixed")


def test_a_gpu_has_torch_alone_and_float16_too() -> None:
    layout = Layout(
        rate=22_050,
        hop=256,
        channels=192,
        flow_context=32,
        noise_scale=0.6,
        noise_w=0.8,
        phoneme_ids={},
        tiers={"full": TierFile(file="decoder.onnx", context=11), "light": TierFile(file="light.onnx", context=6)},
    )
    gpu = candidates(layout, "cuda")
    assert {name: tier.precision for name, tier in gpu.items()} == {
        "fp32": "float32",
        "fp16": "float16",
        "bf16": "bfloat16",
    }
    assert all(tier.context == 11 for tier in gpu.values())
    assert list(candidates(layout, "cpu")) == ["full", "fp32", "bf16", "light"]


def test_a_device_that_is_not_there_is_told(monkeypatch) -> None:
    monkeypatch.setattr(devices, "_cuda", lambda: False)
    monkeypatch.setenv("LEGATO_DEVICE", "cuda")
    with pytest.raises(ValueError, match="There is no CUDA device"):
        devices.device()
    monkeypatch.setenv("LEGATO_DEVICE", "tpu")
    with pytest.raises(ValueError, match="auto, cpu or cuda, not 'tpu'"):
        devices.device()
    monkeypatch.setenv("LEGATO_DEVICE", "auto")
    assert devices.device() == "cpu"
