"""Builds what `vits.VitsVoice` loads from a Piper voice: three parts, the int8 tiers, and `layout.json` beside them."""

import json
from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path

from ..voice import Progress, SwitchPoint, VoiceInfo
from .vits import Read, VitsVoice
from .vits_layout import DECODER, ENCODER, FLOW, Layout, TierFile

VERSION = "1"
"""Raised whenever the same model would be built into other files."""

FULL, MIXED, LIGHT = "full", "mixed", "light"
TIERS = (FULL, MIXED, LIGHT)
CONTEXT_SHARE = {MIXED: 0.8, LIGHT: 0.6}
"""How much of the decoder's reach the int8 tiers see on each side. More would cost time and not be heard: what a cut
changes is already less than what int8 does (tests/adaptive/speech/voices/test_joe.py holds them to it)."""


def build(
    directory: Path, model: Path, config: Path, *, read: Read, calibration: Sequence[str], progress: Progress
) -> None:
    """Fills `directory` with all that a Piper voice needs here.

    `config` is the `.onnx.json` beside a Piper model. `calibration` are clauses of its language from which the int8
    tiers learn their ranges. Raises ValueError for a model that cannot be cut, OSError where it cannot be written.
    """
    import onnx

    from .quantise import stages, write_int8
    from .vits_split import split

    settings = json.loads(config.read_text(encoding="utf-8"))
    progress("cutting the model into encoder, flow and decoder", 0.1)
    parts = split(onnx.load(str(model)))
    for file, part in ((ENCODER, parts.encoder), (FLOW, parts.flow), (DECODER, parts.decoder)):
        onnx.save(part, str(directory / file))
    tiers = {FULL: TierFile(file=DECODER, context=ceil(parts.decoder_reach))}
    for tier, share in CONTEXT_SHARE.items():
        tiers[tier] = TierFile(file=f"{tier}.onnx", context=int(parts.decoder_reach * share))
    layout = Layout(
        rate=settings["audio"]["sample_rate"],
        hop=parts.hop,
        channels=parts.channels,
        flow_context=ceil(parts.flow_reach),
        noise_scale=settings["inference"]["noise_scale"],
        noise_w=settings["inference"]["noise_w"],
        phoneme_ids=settings["phoneme_id_map"],
        tiers={FULL: tiers[FULL]},
    )
    layout.save(directory)
    progress("speaking sentences to learn the ranges of int8", 0.4)
    voice = VitsVoice(_provisional(layout), directory, read=read)
    clauses = [voice.prepare(text, seed=seed) for seed, text in enumerate(calibration)]
    latents = [clause.z(0, clause.frames)[None] for clause in clauses]
    stage_of = stages(parts.decoder)
    # The last stage runs at the full rate and is heard most: `mixed` leaves it in float.
    inner = [name for name, stage in stage_of.items() if stage < max(stage_of.values())]
    for done, tier, nodes in ((0.5, MIXED, inner), (0.75, LIGHT, list(stage_of))):
        progress(f"making the tier {tier}", done)
        write_int8(directory / DECODER, directory / tiers[tier].file, nodes, latents)
    replace(layout, tiers=tiers).save(directory)


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
