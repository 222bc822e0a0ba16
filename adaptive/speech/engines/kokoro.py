"""Kokoro-82M (`pip install kokoro`, version 0.9). It normalises over a whole clause, so it has one precision.

`LEGATO_KOKORO_LANGUAGE` is one of its language codes (`a`: American English), `LEGATO_KOKORO_VOICE` one of its voices
(`af_heart`). The package takes its weights from the Hugging Face hub the first time.
"""

from collections.abc import Iterator

from ..voice import Progress, Samples, SwitchPoint, VoiceInfo
from .engine import EngineVoice, asked, frame_samples
from .torch_random import seed_torch

INFO = VoiceInfo(
    name="kokoro",
    languages=("en-US", "en-GB", "es", "fr", "hi", "it", "ja", "pt-BR", "zh"),
    licence="Apache-2.0, code and weights; some of its languages are read by espeak-ng (GPL-3)",
    rate=24_000,
    frame_samples=frame_samples(24_000),
    tiers=("full",),
    switch=SwitchPoint.LOAD,
    summary="Kokoro-82M as its authors publish it; one precision.",
)


def load(*, progress: Progress | None = None) -> EngineVoice:
    """Loads the model and one of its languages; errors of the package come through."""
    from kokoro import KPipeline

    if progress is not None:
        progress("kokoro: loading", 0.0)
    pipeline = KPipeline(lang_code=asked("LEGATO_KOKORO_LANGUAGE", "a language code of Kokoro", "a"))
    voice = asked("LEGATO_KOKORO_VOICE", "a voice of Kokoro", "af_heart")

    def speak(text: str, *, speed: float, seed: int, tier: str) -> Iterator[Samples]:
        for result in pipeline(text, voice=voice, speed=speed):
            if result.audio is not None:
                yield result.audio.detach().cpu().numpy()

    return EngineVoice(INFO, speak, random=seed_torch)
