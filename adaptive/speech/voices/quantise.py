"""Makes the cheaper tiers of a VITS decoder: static int8 (QDQ) of the residual convolutions, from calibration latents.

The first and the last convolution stay in float: with them in int8 the voice is heard to be coarse. Upsampling
(ConvTranspose) has no int8 kernel and stays in float too.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import onnx
from numpy.typing import NDArray
from onnxruntime.quantization import (
    CalibrationDataReader,
    CalibrationMethod,
    QuantFormat,
    QuantType,
    quantize_static,
)
from onnxruntime.quantization.shape_inference import quant_pre_process

from .onnx_graph import Graph

Inputs = Mapping[str, NDArray[Any]]
"""What one run of the decoder is given."""


class _Latents(CalibrationDataReader):
    """Feeds clauses to the calibration."""

    def __init__(self, latents: Iterable[Inputs]) -> None:
        self._left: Iterator[Inputs] = iter(latents)

    def get_next(self) -> dict[str, NDArray[Any]] | None:
        given = next(self._left, None)
        return None if given is None else dict(given)


def stages(decoder: onnx.ModelProto) -> dict[str, int]:
    """Residual convolutions by the name of their node → their stage, 0 behind the first upsampling.

    The first convolution of the decoder (before any upsampling) and the last (whose output becomes the samples without
    another one behind it) are not among them. Raises ValueError where a convolution has no name.
    """
    graph = Graph(decoder)
    convolutions = [node for node in graph.nodes if node.op_type == "Conv"]
    upsampled = [set(node.output) for node in graph.of_type("ConvTranspose")]
    found: dict[str, int] = {}
    for node in convolutions[:-1]:
        before = graph.ancestors(node.input[0])
        stage = sum(bool(outputs & before) for outputs in upsampled) - 1
        if stage >= 0:
            if not node.name:
                raise ValueError("A convolution of this decoder has no name, so that it cannot be chosen for int8.")
            found[node.name] = stage
    return found


def write_int8(decoder: Path, path: Path, nodes: Iterable[str], latents: Iterable[Inputs]) -> None:
    """Writes the model of the file `decoder` to `path` with the convolutions `nodes` in int8.

    Ranges of activations are those that `latents` drive through it. Weights are signed and scaled by channel,
    activations unsigned: the pair that x86 multiplies in one instruction (AVX-512 VNNI). Raises OSError where `path`
    cannot be written.
    """
    with TemporaryDirectory() as scratch:
        shaped = Path(scratch) / "shaped.onnx"
        quant_pre_process(decoder, shaped, skip_optimization=True, skip_symbolic_shape=True)
        quantize_static(
            shaped,
            path,
            _Latents(latents),
            quant_format=QuantFormat.QDQ,
            op_types_to_quantize=["Conv"],
            per_channel=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            nodes_to_quantize=list(nodes),
            calibrate_method=CalibrationMethod.MinMax,
        )
