"""ChatTTS (`pip install ChatTTS`, version 0.2.5; AGPL-3.0, weights for research only). One precision.

`LEGATO_CHATTTS_MODEL` is the folder of its weights; `LEGATO_CHATTTS_SPEAKER` a speaker as its `sample_random_speaker`
writes one, else a new one is drawn when it is loaded.
"""

from collections.abc import Iterator
from math import log

from ..voice import Progress, Samples, SwitchPoint, VoiceInfo
from .engine import EngineVoice, asked, frame_samples
from .torch_random import seed_torch

INFO = VoiceInfo(
    name="chattts",
    languages=("zh", "en"),
    licence="AGPL-3.0-or-later code; weights CC BY-NC 4.0",
    rate=24_000,
    frame_samples=frame_samples(24_000),
    tiers=("full",),
    switch=SwitchPoint.LOAD,
    summary="ChatTTS, made for dialogue; one precision, and meant for a GPU.",
)

PACES = 9
"""Its prompt knows the paces 0 to 9, 5 being its own."""


def pace(speed: float) -> int:
    """The pace nearest to `speed`: each is about an eighth faster than the one before."""
    return min(PACES, max(0, 5 + round(log(speed) / log(1.125))))


def load(*, progress: Progress | None = None) -> EngineVoice:
    """Loads the weights that the environment names. Raises ValueError where they cannot be; others come through."""
    import ChatTTS

    if progress is not None:
        progress("chattts: loading", 0.0)
    folder = asked("LEGATO_CHATTTS_MODEL", "the folder that holds the weights of ChatTTS")
    chat = ChatTTS.Chat()
    if not chat.load(source="custom", custom_path=folder, compile=False):
        raise ValueError(f"ChatTTS found no weights of its own in {folder}.")
    speaker = asked("LEGATO_CHATTTS_SPEAKER", "a speaker of ChatTTS", chat.sample_random_speaker())

    def speak(text: str, *, speed: float, seed: int, tier: str) -> Iterator[Samples]:
        asks = ChatTTS.Chat.InferCodeParams(
            prompt=f"[speed_{pace(speed)}]", spk_emb=speaker, manual_seed=seed, show_tqdm=False
        )
        yield from chat.infer([text], skip_refine_text=True, split_text=False, params_infer_code=asks)

    return EngineVoice(INFO, speak, random=seed_torch)
