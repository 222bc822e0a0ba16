"""What must be known of a built VITS voice to run it: kept as `layout.json` beside its parts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ENCODER, FLOW, DECODER, LAYOUT = "encoder.onnx", "flow.onnx", "decoder.onnx", "layout.json"


@dataclass(frozen=True, kw_only=True)
class TierFile:
    """Where a tier's decoder is, and the frames it needs on each side of those asked for."""

    file: str
    context: int
    precision: str | None = None
    """Of torch, such as `bfloat16`; None is the file as it is, in ONNX Runtime on the CPU."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """A voice directory's numbers."""

    rate: int
    hop: int
    """Samples of a frame."""
    channels: int
    """Of the latents."""
    flow_context: int
    """Frames on each side that the flow depends on."""
    noise_scale: float
    noise_w: float
    """Deviation of the noise in the frames and in the durations, as the voice's own configuration has them."""
    phoneme_ids: Mapping[str, Sequence[int]]
    tiers: Mapping[str, TierFile]
    """Best first."""

    @classmethod
    def load(cls, directory: Path) -> "Layout":
        """Reads `layout.json`. Raises OSError where it is missing."""
        fields = json.loads((directory / LAYOUT).read_text(encoding="utf-8"))
        tiers = {name: TierFile(**tier) for name, tier in fields.pop("tiers").items()}
        return cls(**fields, tiers=tiers)

    def save(self, directory: Path) -> None:
        """Writes `layout.json`."""
        (directory / LAYOUT).write_text(json.dumps(asdict(self), ensure_ascii=False), encoding="utf-8")
