"""Kyutai's Pocket TTS (`pip install pocket-tts`, version 4). Its decoder's steps are its precision, clause by clause.

`LEGATO_POCKET_LANGUAGE` names one of its languages (`english`), `LEGATO_POCKET_VOICE` one of its voices or a recording
(`alba`). The package takes its weights from the Hugging Face hub the first time.
"""

from collections.abc import Iterator

from ..voice import Progress, Samples, SwitchPoint, VoiceInfo
from .engine import EngineVoice, asked, frame_samples
from .torch_random import seed_torch

STEPS = {"full": 4, "mixed": 2, "light": 1}
"""Steps of the flow's sampler; a step costs what a step costs, and one is what the package takes by itself."""

INFO = VoiceInfo(
    name="pocket",
    languages=("en", "fr", "de", "pt", "it", "es", "nl"),
    licence="MIT code; weights CC BY 4.0, voices as listed by their authors",
    rate=24_000,
    frame_samples=frame_samples(24_000),
    tiers=tuple(STEPS),
    switch=SwitchPoint.CLAUSE,
    summary="Kyutai's Pocket TTS; more or fewer decoding steps from clause to clause.",
)


def load(*, progress: Progress | None = None) -> EngineVoice:
    """Loads the model that the environment names; errors of the package come through."""
    from pocket_tts import TTSModel

    if progress is not None:
        progress("pocket: loading", 0.0)
    model = TTSModel.load_model(language=asked("LEGATO_POCKET_LANGUAGE", "a language of Pocket TTS", "english"))
    state = model.get_state_for_audio_prompt(asked("LEGATO_POCKET_VOICE", "a voice of Pocket TTS", "alba"))

    def speak(text: str, *, speed: float, seed: int, tier: str) -> Iterator[Samples]:
        """The engine has no pace: `speed` changes nothing."""
        model.sampler_decode_steps = STEPS[tier]
        for piece in model.generate_audio_stream(state, text):
            yield piece.detach().cpu().numpy()

    return EngineVoice(INFO, speak, random=seed_torch)
