"""Any Piper voice, from its two files: `FILE.onnx` and `FILE.onnx.json`. Its tiers are built once and kept."""

import hashlib
import re

from ..voice import Progress, SwitchPoint, VoiceInfo
from .model_files import ensure
from .piper_config import PiperConfig
from .piper_files import CALIBRATION, VERSION, build, gain_for
from .piper_names import config_of, missing, name_of, parsed
from .piper_reading import reader
from .vits import VitsVoice
from .vits_ladder import open_vits
from .vits_layout import Layout

LICENCE = "not said in the file: look at the voice's model card"


def load(spec: str, *, progress: Progress | None = None, every_tier: bool = False) -> VitsVoice:
    """The voice of `piper:FILE.onnx` or `piper:FILE.onnx#SPEAKER`; built on first use, which takes half a minute.

    Raises ValueError, with what was found, for files that are not a Piper voice, for a speaker it does not have, and
    where its language needs espeak and that is not installed; ModelFilesError where its files cannot be kept.
    """
    if (sentence := missing(spec)) is not None:
        raise ValueError(sentence)
    path, speaker = parsed(spec)
    config = PiperConfig.load(config_of(path))
    number = config.speaker(speaker)
    read = reader(config)
    directory = ensure(
        "piper-" + re.sub(r"[^\w.-]", "-", path.name.removesuffix(".onnx")),
        source=path,
        # What is built depends on the configuration too: its noise and its phonemes are in the layout.
        version=f"{VERSION}-{hashlib.sha256(config_of(path).read_bytes()).hexdigest()[:8]}",
        build=lambda into, tell: build(into, path, config, read=read, calibration=CALIBRATION, progress=tell),
        progress=progress,
    )
    layout = Layout.load(directory)
    info = VoiceInfo(
        name=name_of(spec),
        languages=(config.language,),
        licence=LICENCE,
        rate=layout.rate,
        frame_samples=layout.hop,
        tiers=tuple(layout.tiers),
        switch=SwitchPoint.CHUNK,
        summary=f"A Piper voice from {path.name}.",
    )
    gain = gain_for(directory, read, speaker=number)
    return open_vits(info, directory, read=read, gain=gain, speaker=number, every_tier=every_tier)
