"""CosyVoice 2 and 3 (from their authors' repository, on PYTHONPATH). Its precision is chosen when it is loaded.

`LEGATO_COSYVOICE_MODEL` is the folder of the model. It speaks as `LEGATO_COSYVOICE_SPEAKER`, one of the model's own,
or like the recording `LEGATO_COSYVOICE_PROMPT` (a WAV file) whose words are `LEGATO_COSYVOICE_PROMPT_TEXT` (for
CosyVoice 3 with the instruction and the mark in front of them that its authors ask for).
`LEGATO_COSYVOICE_TIER` is `full` (float32) or `light` (float16, for a GPU).
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ..voice import Progress, Samples, SwitchPoint, VoiceInfo
from .engine import EngineVoice, asked, frame_samples
from .torch_random import seed_torch

TIERS = ("full", "light")

INFO = VoiceInfo(
    name="cosyvoice",
    languages=("zh", "en", "ja", "ko", "de", "es", "fr", "it", "ru"),
    licence="Apache-2.0, code and weights",
    rate=24_000,
    frame_samples=frame_samples(24_000),
    tiers=TIERS,
    switch=SwitchPoint.LOAD,
    summary="CosyVoice 2 or 3, like a speaker of its own or like a recording; meant for a GPU.",
)


def load(*, progress: Progress | None = None) -> EngineVoice:
    """Loads the model that the environment names. Raises ValueError where it names none; others come through."""
    from cosyvoice.cli.cosyvoice import AutoModel

    folder = asked("LEGATO_COSYVOICE_MODEL", "the folder of a CosyVoice model")
    tier = asked("LEGATO_COSYVOICE_TIER", "full or light", TIERS[0])
    if tier not in TIERS:
        raise ValueError(f"LEGATO_COSYVOICE_TIER is {tier!r}: it may be {' or '.join(TIERS)}.")
    say = _manner()
    if progress is not None:
        progress("cosyvoice: loading", 0.0)
    model = AutoModel(model_dir=folder, fp16=tier == "light")
    rate = int(model.sample_rate)

    def speak(text: str, *, speed: float, seed: int, tier: str) -> Iterator[Samples]:
        for piece in say(model)(text, stream=speed == 1.0, speed=speed):  # its streams know one speed only
            yield piece["tts_speech"].detach().cpu().numpy()

    info = replace(INFO, rate=rate, frame_samples=frame_samples(rate), tiers=(tier,))
    return EngineVoice(info, speak, random=seed_torch)


def _manner() -> Callable[[Any], Callable[..., Any]]:
    """How it is asked: as a speaker, or like a recording. Raises ValueError where neither was named."""
    if speaker := os.environ.get("LEGATO_COSYVOICE_SPEAKER"):
        return lambda model: lambda text, **how: model.inference_sft(text, speaker, **how)
    recording = asked("LEGATO_COSYVOICE_PROMPT", "a WAV file to speak like, or LEGATO_COSYVOICE_SPEAKER to a speaker")
    words = asked("LEGATO_COSYVOICE_PROMPT_TEXT", "the words of that recording")
    return lambda model: lambda text, **how: model.inference_zero_shot(text, words, recording, **how)
