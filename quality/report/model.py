"""A report as data. Names of figures and columns end in their unit, as everywhere: `p50_ms`, `wire_kbps`."""

import platform
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

FORM = 1
"""Of `report.json`; a reader takes its own and no other."""
PACKAGES = ("legato-speech", "aiortc", "av", "numpy", "scipy", "torch", "onnxruntime", "pesq", "visqol-python")
"""Whose versions may move a figure."""
UNITS = {
    "ms": "ms",
    "s": "s",
    "kbps": "kb/s",
    "db": "dB",
    "percent": "%",
    "share": "share",
    "packets": "packets",
    "bytes": "bytes",
    "hz": "Hz",
}


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of values by column; None is what was not measured."""

    title: str
    rows: tuple[Mapping[str, Any], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """In the order in which rows name them, those without any value left out."""
        names = dict.fromkeys(name for row in self.rows for name in row)
        return tuple(name for name in names if any(row.get(name) is not None for row in self.rows))


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A PNG in the folder."""

    file: str
    caption: str


@dataclass(frozen=True, kw_only=True)
class Recording:
    """A WAV file; `file` is relative to the folder, or absolute."""

    file: str
    caption: str


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything there is to tell of one run."""

    title: str
    says: str
    """What was done, in a sentence or two."""
    command: str
    """That makes it again."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()
    recordings: tuple[Recording, ...] = ()
    seeds: tuple[int, ...] = ()
    versions: Mapping[str, str] = field(default_factory=lambda: versions())
    made: str = field(default_factory=lambda: time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()))

    def as_dict(self) -> dict[str, Any]:
        """For `report.json`."""
        return {"form": FORM, **asdict(self)}

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> "Report":
        """From what `report.json` holds. Raises ValueError with a sentence."""
        if not isinstance(table, Mapping) or table.get("form") != FORM:
            raise ValueError(f"it is not a report of form {FORM}")
        try:
            parts: dict[str, Any] = {key: value for key, value in table.items() if key != "form"}
            parts["tables"] = tuple(Table(title=t["title"], rows=tuple(t["rows"])) for t in parts["tables"])
            parts["pictures"] = tuple(Picture(**picture) for picture in parts["pictures"])
            parts["recordings"] = tuple(Recording(**recording) for recording in parts["recordings"])
            parts["seeds"] = tuple(parts["seeds"])
            return cls(**parts)
        except (KeyError, TypeError) as error:
            raise ValueError(f"it lacks or misuses {error}") from None


def versions() -> dict[str, str]:
    """Of Python, the machine and the packages that are installed."""
    found = {"python": platform.python_version(), "machine": f"{platform.system()} {platform.machine()}"}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def label(name: str) -> tuple[str, str]:
    """A figure's name for people, and its unit; an empty one where the name has none."""
    words = name.split("_")
    unit = UNITS.get(words[-1], "") if len(words) > 1 else ""
    return " ".join(words[:-1] if unit else words), unit


def shown(value: Any) -> str:
    """A value for people."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e6 else f"{value:.3e}"
    if isinstance(value, list | tuple):
        return ", ".join(shown(entry) for entry in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {shown(entry)}" for key, entry in value.items())
    return str(value)
