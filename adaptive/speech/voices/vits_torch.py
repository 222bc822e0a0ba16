"""A VITS decoder in torch, loaded from the same ONNX file: for GPUs, and for precisions that ONNX Runtime has not.

The module follows the graph node by node, so that it is whatever generator was exported: residual blocks of either
kind, with a speaker or without. Source of the operators: ONNX operator set (onnx.ai/onnx/operators).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor, nn
from torch.nn import functional

from .onnx_graph import attribute
from .sessions import threads

Step = tuple[Callable[..., Tensor], tuple[str, ...], str]
"""What is called, with which tensors, and the name of what comes out."""


def _symmetric(node: onnx.NodeProto) -> int:
    """The padding of a convolution of one dimension. Raises ValueError where its two sides differ."""
    before, after = attribute(node, "pads", [0, 0])
    if before != after:
        raise ValueError(f"The convolution {node.name!r} is padded by {before} and {after}, which torch cannot.")
    return before


def _convolution(node: onnx.NodeProto) -> Callable[..., Tensor]:
    given: dict[str, Any] = {
        "stride": attribute(node, "strides", [1])[0],
        "dilation": attribute(node, "dilations", [1])[0],
        "padding": _symmetric(node),
        "groups": next((a.i for a in node.attribute if a.name == "group"), 1),
    }
    if node.op_type == "Conv":
        return partial(functional.conv1d, **given)
    given["output_padding"] = attribute(node, "output_padding", [0])[0]
    return partial(functional.conv_transpose1d, **given)


def _leaky(node: onnx.NodeProto) -> Callable[..., Tensor]:
    slope = next((a.f for a in node.attribute if a.name == "alpha"), 0.01)
    return partial(functional.leaky_relu, negative_slope=slope)


def _unsqueeze(tensor: Tensor, axes: Tensor) -> Tensor:
    for axis in axes.tolist():
        tensor = tensor.unsqueeze(axis)
    return tensor


PLAIN: Mapping[str, Callable[..., Tensor]] = {
    "Add": torch.add,
    "Mul": torch.mul,
    "Div": torch.div,
    "Tanh": torch.tanh,
    "Identity": lambda tensor: tensor,
    "Gather": lambda table, index: table[index],
    "Unsqueeze": _unsqueeze,
}
WITH_ATTRIBUTES: Mapping[str, Callable[[onnx.NodeProto], Callable[..., Tensor]]] = {
    "Conv": _convolution,
    "ConvTranspose": _convolution,
    "LeakyRelu": _leaky,
}


class VitsDecoder(nn.Module):
    """`z` [1, channels, frames], and `sid` [1] where the graph asks for a speaker → samples, frames * hop in all."""

    def __init__(self, model: onnx.ModelProto) -> None:
        """Takes over the weights. Raises ValueError for a graph with operators that no VITS decoder has."""
        super().__init__()
        self._steps: list[Step] = []
        weights = {tensor.name: tensor for tensor in model.graph.initializer}
        self.inputs = frozenset(value.name for value in model.graph.input if value.name not in weights)
        for node in model.graph.node:
            if node.op_type == "Constant":
                weights[node.output[0]] = next(a.t for a in node.attribute if a.name == "value")
                continue
            step = PLAIN.get(node.op_type)
            if step is None:
                if node.op_type not in WITH_ATTRIBUTES:
                    raise ValueError(f"This decoder has a node of type {node.op_type}, which no VITS decoder has.")
                step = WITH_ATTRIBUTES[node.op_type](node)
            self._steps.append((step, tuple(name for name in node.input if name), node.output[0]))
        self._names: dict[str, str] = {}
        for number, (name, tensor) in enumerate(weights.items()):
            self._take(f"weight_{number}", name, torch.from_numpy(numpy_helper.to_array(tensor).copy()))
        self._last_use = {name: index for index, (_, inputs, _) in enumerate(self._steps) for name in inputs}
        self._result = model.graph.output[0].name

    def _take(self, own: str, name: str, value: Tensor) -> None:
        self._names[name] = own
        if value.is_floating_point():
            self.register_parameter(own, nn.Parameter(value, requires_grad=False))
        else:
            self.register_buffer(own, value)

    def forward(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """See the class; tensors are let go of after their last use."""
        held = dict(inputs)
        for index, (step, names, made) in enumerate(self._steps):
            given: Sequence[Tensor] = [
                held[name] if name in held else getattr(self, self._names[name]) for name in names
            ]
            held[made] = step(*given)
            for name in names:
                if self._last_use[name] == index:
                    held.pop(name, None)
        return held[self._result]


class TorchNetwork:
    """A decoder at one precision on one device, called as an ONNX session is."""

    def __init__(self, path: Path, speaker: int, *, precision: str, device: str) -> None:
        """`precision` is float32, bfloat16 or float16; `device` cpu or cuda. Raises ValueError for another graph."""
        torch.set_num_threads(threads())
        self._dtype: torch.dtype = getattr(torch, precision)
        self._device = device
        self._module = VitsDecoder(onnx.load(str(path))).eval().to(device=device, dtype=self._dtype)
        self.inputs = self._module.inputs
        self._always = {"sid": torch.tensor([speaker], device=device)} if "sid" in self.inputs else {}

    def __call__(self, inputs: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
        """The samples, float32."""
        with torch.inference_mode():
            given = {
                name: torch.from_numpy(value).to(device=self._device, dtype=self._dtype)
                for name, value in inputs.items()
            }
            made = self._module({**given, **self._always}).float().cpu().numpy()
        return [np.asarray(made, np.float32)]
