"""An ONNX graph with its edges in both directions: who makes a tensor, what it depends on, how far a node looks.

`extract` takes a part out of a model; what it needs of the model's own inputs comes along.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import onnx
from onnx import helper

Shape = Sequence[int | str]


class Graph:
    """Read-only view of a model's graph. Subgraphs of control flow (If, Loop) are not looked into."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.model = model
        self.nodes = list(model.graph.node)
        self.inputs = {value.name: value for value in model.graph.input}
        self.weights = {tensor.name: tensor for tensor in model.graph.initializer}
        self.producer = {name: node for node in self.nodes for name in node.output if name}
        self.consumers: dict[str, list[onnx.NodeProto]] = defaultdict(list)
        for node in self.nodes:
            for name in node.input:
                self.consumers[name].append(node)

    def of_type(self, op_type: str) -> list[onnx.NodeProto]:
        """Nodes of one type, in topological order."""
        return [node for node in self.nodes if node.op_type == op_type]

    def ancestors(self, *names: str, stop: Iterable[str] = ()) -> set[str]:
        """All tensors that `names` are computed from, themselves included; what lies behind `stop` is left out."""
        ends = set(stop)
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            tensor = waiting.pop()
            if not tensor or tensor in found:
                continue
            found.add(tensor)
            if tensor not in ends and tensor in self.producer:
                waiting.extend(self.producer[tensor].input)
        return found

    def extract(
        self, name: str, inputs: Mapping[str, tuple[str, Shape]], outputs: Mapping[str, str]
    ) -> onnx.ModelProto:
        """The part that computes `outputs` from `inputs`, as a model of its own.

        `inputs` maps a float tensor to its new name and shape, `outputs` a tensor to its new name. Inputs of the whole
        model that the part needs besides become inputs of the part under their own names.
        """
        needed = self.ancestors(*outputs, stop=inputs)
        renamed = {old: new for old, (new, _) in inputs.items()} | dict(outputs)
        nodes: list[onnx.NodeProto] = []
        for node in self.nodes:
            if any(out in needed and out not in inputs for out in node.output):
                copy = onnx.NodeProto()
                copy.CopyFrom(node)
                copy.input[:] = [renamed.get(n, n) for n in node.input]
                copy.output[:] = [renamed.get(n, n) for n in node.output]
                copy.name = copy.name or f"{node.op_type}_{len(nodes)}"
                nodes.append(copy)
        given = [helper.make_tensor_value_info(new, onnx.TensorProto.FLOAT, shape) for new, shape in inputs.values()]
        given += [value for own, value in self.inputs.items() if own in needed and own not in inputs]
        made = [helper.make_tensor_value_info(new, onnx.TensorProto.FLOAT, None) for new in outputs.values()]
        weights = [tensor for own, tensor in self.weights.items() if own in needed]
        part = helper.make_model(
            helper.make_graph(nodes, name, given, made, weights), opset_imports=list(self.model.opset_import)
        )
        part.ir_version = self.model.ir_version
        return part


def attribute(node: onnx.NodeProto, name: str, default: list[int]) -> list[int]:
    """A list-of-integers attribute of `node`."""
    return next((list(a.ints) for a in node.attribute if a.name == name), default)


def reach(model: onnx.ModelProto, source: str, target: str) -> tuple[int, float]:
    """How `target` follows `source` along time, through convolutions that keep or multiply the length.

    Returns the samples of `target` for one step of `source`, and the number of steps on each side that a step of
    `target` depends on (a convolution of kernel k and dilation d looks (k - 1) * d / 2 to each side; a transposed one
    of stride s looks k / 2s of its input's steps).
    """
    graph = Graph(model)
    seen: dict[str, tuple[int, float]] = {source: (1, 0.0)}
    for node in graph.nodes:
        known = [seen[name] for name in node.input if name in seen]
        if not known or node.op_type in ("Shape", "ConstantOfShape"):
            continue
        rate, side = max(rate for rate, _ in known), max(side for _, side in known)
        if node.op_type in ("Conv", "ConvTranspose"):
            kernel = graph.weights[node.input[1]].dims[-1]
            if node.op_type == "Conv":
                side += (kernel - 1) * attribute(node, "dilations", [1])[0] / 2 / rate
            else:
                stride = attribute(node, "strides", [1])[0]
                side += kernel / stride / 2 / rate
                rate *= stride
        for name in node.output:
            seen[name] = (rate, side)
    return seen[target]
