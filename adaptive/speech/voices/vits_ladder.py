"""Which tiers a VITS voice has on this machine, and the voice with those loaded."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ..calibration import files
from ..voice import VoiceInfo
from .devices import device
from .vits import Read, VitsVoice
from .vits_layout import DECODER, Layout, TierFile

_log = logging.getLogger(__name__)

FP32, FP16, BF16 = "fp32", "fp16", "bf16"
PRECISIONS = {FP32: "float32", FP16: "float16", BF16: "bfloat16"}
"""Tiers that torch computes, best first, and what it calls them. On a CPU float16 is slower than any of the others."""


def candidates(layout: Layout, device: str) -> Mapping[str, TierFile]:
    """All tiers that the voice could have on `device`, best first: on a GPU torch's; on a CPU also ONNX Runtime's."""
    context = next(iter(layout.tiers.values())).context
    torch = {
        name: TierFile(file=DECODER, context=context, precision=precision)
        for name, precision in PRECISIONS.items()
        if device == "cuda" or name != FP16
    }
    if device == "cuda":
        return torch
    (best, first), *rest = layout.tiers.items()
    return {best: first, **torch, **dict(rest)}


def open_vits(
    info: VoiceInfo, directory: Path, *, read: Read, gain: float, speaker: int = 0, every_tier: bool = False
) -> VitsVoice:
    """The voice with the tiers worth having here: what its calibration says, and before there is one, on a GPU
    torch's and on a CPU ONNX Runtime's, which need no torch. `every_tier` takes all candidates, to measure them.

    Raises ValueError for a device that is not there.
    """
    where, layout = device(), Layout.load(directory)
    possible = candidates(layout, where)
    fingerprint = VitsVoice.fingerprint_of(directory, speaker=speaker, gain=gain, device=where)
    names: tuple[str, ...] = tuple(possible)
    if not every_tier:
        usual = names if where == "cuda" else tuple(layout.tiers)
        names = usual
        if (calibration := files.load(info.name, fingerprint)) is not None:
            worth, left_out = calibration.ladder()
            names = tuple(name for name in possible if name in worth) or usual
            for name in usual:
                if name not in names and name in left_out:
                    _log.warning("the voice %s: %s", info.name, left_out[name])
    return VitsVoice(
        replace(info, tiers=names),
        directory,
        read=read,
        gain=gain,
        speaker=speaker,
        tiers={name: possible[name] for name in names},
        device=where,
    )
