"""What a network does to one listener while it hears a text: a few steps on the link, in small files with a sentence.

A file is TOML: `says`, one sentence, and `[[step]]` tables of `at_s` (seconds from the start of the speech),
`direction` (`down` to the listener, `up` or `both`; `down` if absent) and any of a link's settings. Every scenario lies
on the base path.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

from .settings import LinkSettings
from .traces import parse_mahimahi

BASE: Mapping[str, Any] = MappingProxyType({"delay_ms": 50.0})
"""What every scenario has under it, both ways: a path across a continent."""
LEAD_IN_S = 5.0
"""What is bad from the start is bad for this long before the speech, so that everybody has met it."""
DIRECTIONS = ("down", "up")
TRACE_QUEUE_BYTES = 60_000
"""In front of a trace: two seconds of speech wait in it before anything is dropped."""
TRACE_WINDOW_S = 40.0
"""Of a trace; what lies beyond it is never reached."""

ORDER = (
    "clean",
    "random5",
    "random10",
    "random20",
    "burst10",
    "jitter30",
    "step40",
    "step24",
    "outage3",
    "outage10",
)
"""As scenarios are reported, from kind to unkind."""

_FILES = files("quality.lab") / "scenarios"
_SUFFIX = ".toml"


@dataclass(frozen=True, kw_only=True)
class Step:
    """From `at_s` on these settings hold; the others stay."""

    at_s: float
    """Seconds from the start of the speech; negative is before it."""
    direction: str
    """`down`, `up` or `both`."""
    settings: Mapping[str, Any]
    """Changes, by the names of `LinkSettings`."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One path over the time of one text."""

    name: str
    says: str
    """What happens, in a sentence for people."""
    steps: tuple[Step, ...] = field(default_factory=tuple)
    """In the order of time."""

    def __post_init__(self) -> None:
        if [step.at_s for step in self.steps] != sorted(step.at_s for step in self.steps):
            raise ValueError(f"The steps of the scenario {self.name} are not in the order of time.")
        for step in self.steps:
            if step.direction not in (*DIRECTIONS, "both"):
                raise ValueError(f"A direction is down, up or both, not {step.direction!r}, in {self.name}.")
        for direction in DIRECTIONS:
            for step in self.steps:
                self.settings(direction, step.at_s)

    def settings(self, direction: str, at_s: float) -> LinkSettings:
        """What holds in one direction, `down` or `up`, at a time. Raises ValueError for settings that cannot be."""
        settings = LinkSettings().changed(BASE)
        for step in self.steps:
            if step.at_s <= at_s and step.direction in (direction, "both"):
                settings = settings.changed(step.settings)
        return settings

    @property
    def capacity_steps(self) -> tuple[tuple[float, float | None], ...]:
        """(seconds, kbit/s from then on; None is unlimited) of the way down; a trace is not in it."""
        changes = [step for step in self.steps if step.direction != "up" and "rate_kbps" in step.settings]
        return tuple((step.at_s, self.settings("down", step.at_s).rate_kbps or None) for step in changes)

    @property
    def squeeze(self) -> tuple[float, float, float] | None:
        """(from second, to second, kbit/s) of the first time the way down is narrower than it was; None if never."""
        steps = self.capacity_steps
        for place, (at_s, kbps) in enumerate(steps):
            if kbps is not None and at_s >= 0:
                end_s = next((later for later, _ in steps[place + 1 :]), float("inf"))
                return at_s, end_s, kbps
        return None


def names() -> tuple[str, ...]:
    """Of the scenarios that come with the project."""
    found = {entry.name.removesuffix(_SUFFIX) for entry in _FILES.iterdir() if entry.name.endswith(_SUFFIX)}
    return tuple(name for name in ORDER if name in found) + tuple(sorted(found - set(ORDER)))


def load(name: str) -> Scenario:
    """A scenario by its name, a `.toml` file of the same kind, or `FILE@SECONDS`: a Mahimahi trace of the way down,
    in which the speech begins that many seconds after the trace's start. Raises ValueError with a sentence."""
    if "@" in name:
        return _traced(name)
    if name.endswith(_SUFFIX):
        path = Path(name)
        if not path.is_file():
            raise ValueError(f"There is no file {name}.")
        return parse(path.stem, path.read_text(encoding="utf-8"))
    if name not in names():
        raise ValueError(
            f"There is no scenario {name!r}; there are {', '.join(names())}, and FILE@SECONDS for a Mahimahi trace."
        )
    return parse(name, (_FILES / (name + _SUFFIX)).read_text(encoding="utf-8"))


def parse(name: str, text: str) -> Scenario:
    """A scenario from the text of its file. Raises ValueError with a sentence."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"The scenario {name} is no TOML: {error}.") from None
    unknown = table.keys() - {"says", "step"}
    if unknown:
        raise ValueError(f"The scenario {name} has {', '.join(sorted(unknown))}, which means nothing.")
    if not isinstance(table.get("says"), str):
        raise ValueError(f"The scenario {name} does not say what happens: give it a sentence in `says`.")
    return Scenario(name=name, says=table["says"], steps=tuple(_step(name, step) for step in table.get("step", ())))


def _step(name: str, table: dict[str, Any]) -> Step:
    settings = dict(table)
    try:
        at_s, direction = float(settings.pop("at_s")), settings.pop("direction", "down")
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"A step of the scenario {name} has no time: give it `at_s`, in seconds.") from None
    return Step(at_s=at_s, direction=direction, settings=MappingProxyType(settings))


def _traced(name: str) -> Scenario:
    file, _, offset = name.rpartition("@")
    try:
        start_s = float(offset)
    except ValueError:
        raise ValueError(f"{name} names no second of a trace: write FILE@SECONDS.") from None
    path = Path(file)
    if not path.is_file():
        raise ValueError(f"There is no trace {file}.")
    trace = parse_mahimahi(path.read_text(encoding="utf-8"))
    window = cut(trace, round((start_s - LEAD_IN_S) * 1000), round(TRACE_WINDOW_S * 1000))
    first = Step(
        at_s=-LEAD_IN_S,
        direction="down",
        settings=MappingProxyType({"trace": window, "queue_bytes": TRACE_QUEUE_BYTES}),
    )
    return Scenario(
        name=f"{path.name}@{offset}",
        says=f"The capacity of {path.name} from second {start_s:g}, with a queue of {TRACE_QUEUE_BYTES // 1000} kB.",
        steps=(first,),
    )


def cut(trace: tuple[int, ...], start_ms: int, length_ms: int) -> tuple[int, ...]:
    """The part of a Mahimahi trace from `start_ms` on, in its own time; the trace repeats as often as needed.

    Its last entry is its period, so one opportunity is added at the very end where the part ends in silence.
    """
    if not trace:
        raise ValueError("The trace is empty.")
    period = trace[-1]
    start = start_ms % period
    entries: list[int] = []
    for cycle in range((start + length_ms) // period + 1):
        entries += [at + cycle * period - start for at in trace if 0 <= at + cycle * period - start < length_ms]
    return (*entries, length_ms)
