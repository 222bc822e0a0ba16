"""Builds what `vits.VitsVoice` loads from a Piper voice: three parts, the int8 tiers, and `layout.json` beside them."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..voice import Progress, SwitchPoint, VoiceInfo
from .piper_config import PiperConfig
from .vits import Read, VitsVoice
from .vits_layout import DECODER, ENCODER, FLOW, Layout, TierFile

if TYPE_CHECKING:
    from .quantise import Inputs
    from .vits_split import Parts

VERSION = "1"
"""Raised whenever the same model would be built into other files."""

FULL, MIXED, LIGHT = "full", "mixed", "light"
TIERS = (FULL, MIXED, LIGHT)
CONTEXT_SHARE = {MIXED: 0.8, LIGHT: 0.6}
"""How much of the decoder's reach the int8 tiers see on each side. More would cost time and not be heard: what a cut
changes is already less than what int8 does (tests/adaptive/speech/voices/test_joe.py holds them to it)."""

CALIBRATION = (
    "She had your dark suit in greasy wash water all year, and nobody in the office ever asked her why.",
    "Streaming audio over a bad network means the player must choose between silence and lower quality sound.",
    "Please remember to bring your umbrella tomorrow morning, because the forecast says it will rain until noon.",
)
"""From which the int8 tiers learn their ranges. Other languages' voices read them too, as well as they can."""
LEVEL = 10 ** (-22 / 20)
"""Of active speech, which `gain_for` brings a voice to; joe's own gain does the same."""
ACTIVE = 10 ** (-45 / 20)
LOUDEST_GAIN = 8.0


def build(
    directory: Path, model: Path, config: PiperConfig, *, read: Read, calibration: Sequence[str], progress: Progress
) -> None:
    """Fills `directory` with all that a Piper voice needs here.

    `calibration` are clauses from which the int8 tiers learn their ranges. Raises ValueError for a model that cannot be
    cut, OSError where it cannot be written.
    """
    import onnx

    from .quantise import stages, write_int8

    progress("cutting the model into encoder, flow and decoder", 0.1)
    parts = _cut(model)
    for file, part in ((ENCODER, parts.encoder), (FLOW, parts.flow), (DECODER, parts.decoder)):
        onnx.save(part, str(directory / file))
    tiers = {FULL: TierFile(file=DECODER, context=ceil(parts.decoder_reach))}
    for tier, share in CONTEXT_SHARE.items():
        tiers[tier] = TierFile(file=f"{tier}.onnx", context=int(parts.decoder_reach * share))
    layout = Layout(
        rate=config.rate,
        hop=parts.hop,
        channels=parts.channels,
        flow_context=ceil(parts.flow_reach),
        noise_scale=config.noise_scale,
        noise_w=config.noise_w,
        phoneme_ids=config.phoneme_ids,
        tiers={FULL: tiers[FULL]},
    )
    layout.save(directory)
    progress("speaking sentences to learn the ranges of int8", 0.4)
    voice = VitsVoice(_provisional(layout), directory, read=read)
    clauses = [voice.prepare(text, seed=seed) for seed, text in enumerate(calibration)]
    speaker: Inputs = {"sid": np.zeros(1, np.int64)} if any(i.name == "sid" for i in parts.decoder.graph.input) else {}
    latents = [{"z": clause.z(0, clause.frames)[None], **speaker} for clause in clauses]
    stage_of = stages(parts.decoder)
    # The last stage runs at the full rate and is heard most: `mixed` leaves it in float.
    inner = [name for name, stage in stage_of.items() if stage < max(stage_of.values())]
    for done, tier, nodes in ((0.5, MIXED, inner), (0.75, LIGHT, list(stage_of))):
        progress(f"making the tier {tier}", done)
        write_int8(directory / DECODER, directory / tiers[tier].file, nodes, latents)
    replace(layout, tiers=tiers).save(directory)


def gain_for(directory: Path, read: Read, *, speaker: int) -> float:
    """The gain that makes this speaker as loud as the other voices are."""
    layout = Layout.load(directory)
    best = {FULL: layout.tiers[FULL]}
    voice = VitsVoice(_provisional(layout), directory, read=read, speaker=speaker, tiers=best)
    clause = voice.prepare(CALIBRATION[0])
    samples = clause.decode(0, clause.frames, tier=FULL)
    active = samples[np.abs(samples) > ACTIVE]
    level = float(np.sqrt(np.mean(np.square(active, dtype=np.float64)))) if len(active) else LEVEL
    return round(min(LOUDEST_GAIN, LEVEL / level), 3)


def _cut(path: Path) -> "Parts":
    """Raises ValueError, with what was found in it, for a file that is no Piper VITS model."""
    import onnx
    from google.protobuf.message import DecodeError

    from .vits_split import described, split

    try:
        model = onnx.load(str(path))
    except DecodeError:
        raise ValueError(f"{path.name} is not an ONNX model.") from None
    try:
        return split(model)
    except (ValueError, LookupError, AttributeError, StopIteration) as error:
        why = str(error) if isinstance(error, ValueError) else "This is not a Piper VITS model that can be cut."
        raise ValueError(f"{path.name}: {why} Found in it: {described(model)}.") from error


def _provisional(layout: Layout) -> VoiceInfo:
    return VoiceInfo(
        name="unfinished",
        languages=(),
        licence="",
        rate=layout.rate,
        frame_samples=layout.hop,
        tiers=(FULL,),
        switch=SwitchPoint.CHUNK,
    )
