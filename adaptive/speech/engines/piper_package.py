"""The Piper package itself (`pip install piper-tts`; GPL-3.0-or-later), with espeak-ng inside: any of its languages.

`LEGATO_PIPER_MODEL` is a voice file `….onnx` with its `….onnx.json` beside it. One precision; for a ladder of them
Legato reads such files itself, as the voice `piper:FILE.onnx`.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ..voice import Progress, Samples, SwitchPoint, VoiceInfo
from .engine import EngineVoice, asked, frame_samples

INFO = VoiceInfo(
    name="piper-package",
    languages=(),
    licence="GPL-3.0-or-later code; the voice file has its own",
    rate=22_050,
    frame_samples=frame_samples(22_050),
    tiers=("full",),
    switch=SwitchPoint.LOAD,
    summary="A Piper voice through the Piper package, read by espeak-ng; one precision.",
)


def load(*, progress: Progress | None = None) -> EngineVoice:
    """Loads the file that the environment names. Raises ValueError where there is none; others come through."""
    from piper import PiperVoice, SynthesisConfig

    path = Path(asked("LEGATO_PIPER_MODEL", "a Piper voice file, ….onnx with its ….onnx.json beside it"))
    if not path.is_file():
        raise ValueError(f"LEGATO_PIPER_MODEL is {path}, and there is no such file.")
    if progress is not None:
        progress("piper-package: loading", 0.0)
    voice = PiperVoice.load(path)
    config = voice.config
    scale = config.length_scale

    def speak(text: str, *, speed: float, seed: int, tier: str) -> Iterator[Samples]:
        """Without noise, which the package draws from where no seed reaches; peaks are not levelled sentence by
        sentence."""
        how = SynthesisConfig(length_scale=scale / speed, noise_scale=0.0, noise_w_scale=0.0, normalize_audio=False)
        for chunk in voice.synthesize(text, syn_config=how):
            yield chunk.audio_float_array

    rate = int(config.sample_rate)
    return EngineVoice(replace(INFO, rate=rate, frame_samples=frame_samples(rate)), speak)
