"""Cuts a Piper VITS model (ONNX) into encoder, flow and decoder, finding the seams by the structure of the graph.

The whole model draws its noise inside, and repeats the encoder's rows to frames inside. Both leave the graph here:
noise is an input, so that a seed decides, and the encoder hands out rows and durations, so that words have real times.

Source of the structure: VITS, `SynthesizerTrn.infer` (github.com/jaywalnut310/vits, models.py), as Piper exports it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import onnx

from .onnx_graph import Graph, reach

T = TypeVar("T")
MOST_FREQUENT = 5
"""Kinds of nodes that are named of a model that is refused."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """A model in three.

    `encoder`: the model's own inputs and, where its durations are random, `duration_noise` [1, 2, phonemes] → `mean`,
    `log_deviation` [1, channels, phonemes], `durations` [1, 1, phonemes] in frames, whole numbers.
    `flow`: `latent` [1, channels, frames], `mask` [1, 1, frames] → `z` [1, channels, frames].
    `decoder`: `z` → `samples`, frames * hop in all. Flow and decoder keep the speaker input of a model that has one.
    """

    encoder: onnx.ModelProto
    flow: onnx.ModelProto
    decoder: onnx.ModelProto
    channels: int
    hop: int
    """Samples of one frame."""
    flow_reach: float
    """Frames on each side that a frame of `z` depends on."""
    decoder_reach: float
    """Frames on each side that the samples of a frame depend on."""


def split(model: onnx.ModelProto) -> Parts:
    """Cuts `model`. Raises ValueError where its graph is not that of a Piper VITS model."""
    graph = Graph(model)
    durations = _only(graph.of_type("Ceil"), "rounding up of durations").output[0]
    before_durations = graph.ancestors(durations)
    draws = [node for node in graph.of_type("RandomNormalLike")]
    duration_noise = [node.output[0] for node in draws if node.output[0] in before_durations]
    prior = _only([node for node in draws if node.output[0] not in before_durations], "noise of the frames")
    mean, noise = prior.input[0], prior.output[0]
    latent = _only(
        [n.output[0] for n in graph.consumers[mean] if n.op_type == "Add" and noise in graph.ancestors(n.output[0])],
        "sum of mean and noise",
    )
    scaled = graph.ancestors(latent, stop=(mean,)) - graph.ancestors(mean)
    deviation = _only([n.input[0] for n in graph.of_type("Exp") if n.output[0] in scaled], "deviation of the noise")
    z, channels = _decoder_input(graph, latent)
    masked = _skip(graph, z, "Slice", "Identity")
    mask = _only([name for name in masked.input if latent not in graph.ancestors(name)], "mask of the frames")
    frames = (1, channels, "frames")
    encoder = graph.extract(
        "encoder",
        {name: ("duration_noise", (1, 2, "phonemes")) for name in duration_noise},
        {_by_phoneme(graph, mean): "mean", _by_phoneme(graph, deviation): "log_deviation", durations: "durations"},
    )
    flow = graph.extract("flow", {latent: ("latent", frames), mask: ("mask", (1, 1, "frames"))}, {z: "z"})
    decoder = graph.extract("decoder", {z: ("z", frames)}, {model.graph.output[0].name: "samples"})
    hop, decoder_reach = reach(decoder, "z", "samples")
    return Parts(
        encoder=encoder,
        flow=flow,
        decoder=decoder,
        channels=channels,
        hop=hop,
        flow_reach=reach(flow, "latent", "z")[1],
        decoder_reach=decoder_reach,
    )


def described(model: onnx.ModelProto) -> str:
    """What a model is, for people who thought it was another one: its inputs, outputs and most frequent nodes."""
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = [value.name for value in model.graph.input if value.name not in weights]
    outputs = [value.name for value in model.graph.output]
    counts = Counter(node.op_type for node in model.graph.node).most_common(MOST_FREQUENT)
    nodes = ", ".join(f"{count} × {kind}" for kind, count in counts) or "none"
    return f"inputs {', '.join(inputs) or 'none'}; outputs {', '.join(outputs) or 'none'}; nodes {nodes}"


def _only(found: Sequence[T], what: str) -> T:
    if len(found) != 1:
        raise ValueError(f"This is not a Piper VITS model that can be cut: it has {len(found)} × {what}, not one.")
    return found[0]


def _skip(graph: Graph, tensor: str, *types: str) -> onnx.NodeProto:
    """The node that makes `tensor`, nodes of these types on the way passed over."""
    node = graph.producer[tensor]
    while node.op_type in types:
        node = graph.producer[node.input[0]]
    return node


def _by_phoneme(graph: Graph, by_frame: str) -> str:
    """The encoder's rows that `by_frame` repeats: it is transpose(matmul(alignment, transpose(rows)))."""
    repeat = _skip(graph, by_frame, "Transpose")
    if repeat.op_type != "MatMul":
        raise ValueError(f"This is not a Piper VITS model that can be cut: {by_frame!r} does not repeat rows.")
    return _skip(graph, repeat.input[1], "Identity").input[0]


def _decoder_input(graph: Graph, latent: str) -> tuple[str, int]:
    """The tensor that enters the decoder, and its channels: the nearest convolution before the first upsampling."""
    upsampling = graph.of_type("ConvTranspose")
    waiting = list(upsampling[0].input[:1]) if upsampling else []
    while waiting:
        node = graph.producer.get(waiting.pop(0))
        if node is None or latent not in graph.ancestors(*node.input):
            continue
        if node.op_type == "Conv":
            return node.input[0], graph.weights[node.input[1]].dims[1]
        waiting.extend(node.input)
    raise ValueError("This is not a Piper VITS model that can be cut: no convolution before an upsampling.")
