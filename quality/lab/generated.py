"""Traces that are made, not recorded: a model of a network's capacity or round trip, and what it draws from a seed.

A model is a small JSON file: fitted to recordings (`fitting.py`), whose statistics it has and none of whose samples, or
written down from published figures. The value follows a Gaussian process whose memory is a sum of exponentials, brought
to the model's quantiles (a Gaussian copula). Where a model has outages, they and the times between them take turns,
their lengths drawn from quantiles. Losses may be Gilbert's, packet by packet.
"""

import json
import random
from bisect import bisect_right
from dataclasses import asdict, dataclass, fields
from functools import cache
from importlib.resources import files
from math import exp, sqrt
from pathlib import Path
from statistics import NormalDist
from typing import Any

from .losses import Losses
from .traces import LOSS_PACKET_S, Kind, Trace

SECONDS = 900
"""Of a named trace: `NAME@SECONDS` begins at any of them."""
SUFFIX = ".json"
_FILES = files("quality.lab") / "models"
_NORMAL = NormalDist()

Quantiles = tuple[tuple[float, float], ...]
"""(share of values below it, value), rising from share 0 to 1; empty where there is none."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """What a trace is drawn from. Raises ValueError for one from which nothing can be drawn."""

    name: str
    says: str
    """What it is like, in a sentence for people."""
    source: str
    """Whose figures these are."""
    of: str
    """`capacity`, kbit/s to the listener, or `rtt`, ms."""
    step_s: float
    """A value holds so long."""
    values: Quantiles
    """Outside outages."""
    memory: tuple[tuple[float, float], ...]
    """(weight, time constant in s; 0 is none) of the Gaussian process, weights summing to 1."""
    outages_s: Quantiles = ()
    """Lengths. A capacity is `outage_kbps` in one; a round trip is what is left of it: packets wait for its end."""
    between_s: Quantiles = ()
    outage_kbps: float = 0.0
    loss: float = 0.0
    burst: float = 1.0
    traces: tuple[str, ...] = ()
    """The recordings that it was fitted to."""
    statistics: dict[str, Any] | None = None
    """Of those recordings, as `fitting.statistics` has them."""

    def __post_init__(self) -> None:
        for name in ("values", "memory", "outages_s", "between_s"):
            object.__setattr__(self, name, tuple((float(a), float(b)) for a, b in getattr(self, name)))
        object.__setattr__(self, "traces", tuple(self.traces))
        if self.of not in ("capacity", "rtt"):
            raise ValueError(f"The model {self.name} is of capacity or rtt, not {self.of!r}.")
        if not self.step_s > 0 or not self.values or abs(sum(weight for weight, _ in self.memory) - 1) > 0.01:
            raise ValueError(
                f"The model {self.name} needs a step above 0, values, and a memory whose weights sum to 1."
            )
        if bool(self.outages_s) != bool(self.between_s):
            raise ValueError(f"The model {self.name} has outages and times between them, or neither.")


def names() -> tuple[str, ...]:
    """Of the models that come with the project."""
    return tuple(sorted(entry.name.removesuffix(SUFFIX) for entry in _FILES.iterdir() if entry.name.endswith(SUFFIX)))


def load(name: str) -> Model:
    """A model by its name, or from a `.json` file. Raises ValueError with a sentence."""
    if name in names():
        return parse(name, (_FILES / (name + SUFFIX)).read_text(encoding="utf-8"))
    path = Path(name)
    if not name.endswith(SUFFIX) or not path.is_file():
        raise ValueError(f"There is no generated trace {name!r}; there are {', '.join(names())}.")
    return parse(path.stem, path.read_text(encoding="utf-8"))


def parse(name: str, text: str) -> Model:
    """A model from the text of its file. Raises ValueError with a sentence."""
    try:
        table = json.loads(text)
        return Model(**{**table, "name": name})
    except (json.JSONDecodeError, TypeError) as error:
        raise ValueError(f"{name} is no model of a network: {error}.") from None


def written(model: Model) -> str:
    """The text of a model's file."""
    table = {key: value for key, value in asdict(model).items() if key != "name"}
    defaults = {f.name: f.default for f in fields(Model)}
    lines = (
        f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in table.items()
        if value != defaults.get(key)
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


@cache
def trace(name: str) -> Trace:
    """The generated trace of that name: the same for everybody."""
    return generate(load(name), seconds=SECONDS, seed=0)


def generate(model: Model, *, seconds: float, seed: int) -> Trace:
    """Draws a trace; the same model and seed give the same one."""
    source = random.Random(f"{seed} {model.name}")
    series = tuple(_series(model, seconds, source))
    losses: tuple[bool, ...] = ()
    if model.loss:
        chance = Losses(f"{seed} {model.name}")
        losses = tuple(chance.next(loss=model.loss, burst=model.burst) for _ in range(round(seconds / LOSS_PACKET_S)))
    return Trace(
        name=model.name,
        kind=Kind.GENERATED,
        seconds=seconds,
        kbps=series if model.of == "capacity" else (),
        rtt_ms=series if model.of == "rtt" else (),
        losses=losses,
    )


def _series(model: Model, seconds: float, source: random.Random) -> Any:
    outage, until = False, _length(model.between_s, source) if model.between_s else float("inf")
    parts = [source.gauss(0, 1) for _ in model.memory]
    keep = [exp(-model.step_s / tau) if tau else 0.0 for _, tau in model.memory]
    weights = [sqrt(weight) for weight, _ in model.memory]
    for step in range(round(seconds / model.step_s)):
        at = step * model.step_s
        while at >= until - 1e-9:
            outage = not outage
            until += _length(model.outages_s if outage else model.between_s, source)
        parts = [k * part + sqrt(1 - k * k) * source.gauss(0, 1) for k, part in zip(keep, parts, strict=True)]
        latent = sum(weight * part for weight, part in zip(weights, parts, strict=True))
        value = _at(model.values, _NORMAL.cdf(latent))
        if outage:
            value = model.outage_kbps if model.of == "capacity" else max(value, 1000 * (until - at))
        yield at, round(value, 1)


def _length(quantiles: Quantiles, source: random.Random) -> float:
    return max(0.01, _at(quantiles, source.random()))


def _at(quantiles: Quantiles, share: float) -> float:
    """The value at a share, on the line between the quantiles around it."""
    place = min(len(quantiles) - 1, max(1, bisect_right(quantiles, (share, float("inf")))))
    if len(quantiles) == 1:
        return quantiles[0][1]
    (low, a), (high, b) = quantiles[place - 1], quantiles[place]
    return a + (b - a) * (min(max(share, low), high) - low) / (high - low)
