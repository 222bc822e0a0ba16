"""What `legato doctor` looks at, one function each; a finding says what to do next where something is wrong."""

import importlib.metadata
import os
import platform
import shutil
import socket
import sys
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..settings import Settings

DISTRIBUTION = "legato-speech"
PYTHON = (3, 11)
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
INT8_FLAGS = frozenset({"avx512_vnni", "avx_vnni", "asimddp", "i8mm"})
"""As /proc/cpuinfo names the instructions that make 8-bit models fast: VNNI on x86-64, dot product on ARM."""


class State(StrEnum):
    """How it stands: good, good enough, or nothing will work."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What one check found."""

    name: str
    state: State
    found: str
    todo: str | None = None
    """What to do next; None where nothing need be done."""


def _settings() -> "Settings":
    """What a server is told by the environment alone."""
    from ..settings import Settings

    nothing: dict[str, Any] = {}
    return Settings(**nothing)


def python() -> Finding:
    """The interpreter is new enough."""
    found = f"{platform.python_implementation()} {platform.python_version()} on {platform.platform()}"
    if sys.version_info < PYTHON:
        wanted = ".".join(map(str, PYTHON))
        return Finding(name="python", state=State.FAIL, found=found, todo=f"Install Python {wanted} or later.")
    return Finding(name="python", state=State.OK, found=found)


def requirements() -> Sequence[str]:
    """What the distribution needs, as PEP 508 strings: from its metadata, else from the source tree beside it."""
    try:
        return importlib.metadata.requires(DISTRIBUTION) or ()
    except importlib.metadata.PackageNotFoundError:
        project = Path(__file__).parents[2] / "pyproject.toml"
        return tomllib.loads(project.read_text(encoding="utf-8"))["project"]["dependencies"]


def packages() -> Finding:
    """Everything needed is installed in a version that fits."""
    from packaging.requirements import Requirement

    found, wrong = [], []
    for requirement in map(Requirement, requirements()):
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        try:
            version = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            wrong.append(f"{requirement} is missing")
            continue
        found.append(f"{requirement.name} {version}")
        if not requirement.specifier.contains(version, prereleases=True):
            wrong.append(f"{requirement.name} is {version}, needed is {requirement.specifier}")
    if wrong:
        todo = f"Run: pip install {DISTRIBUTION}, or pip install -e . in the source tree."
        return Finding(name="packages", state=State.FAIL, found="; ".join(wrong), todo=todo)
    return Finding(name="packages", state=State.OK, found=", ".join(found))


def foreign_adaptive() -> Finding:
    """The package `adaptive` that is imported is ours, and nothing else installs one of that name."""
    import adaptive

    ours = Path(__file__).parents[2] / "adaptive"
    where = Path(adaptive.__file__ or "").parent
    others = set(importlib.metadata.packages_distributions().get("adaptive", ())) - {DISTRIBUTION}
    todo = "Use an environment of its own for Legato: python -m venv .venv"
    if others:
        found = f"{', '.join(sorted(others))} installs a package named adaptive too; the two overwrite each other"
        return Finding(name="adaptive", state=State.FAIL, found=found, todo=todo)
    if where != ours:
        return Finding(name="adaptive", state=State.FAIL, found=f"{where} is imported instead of {ours}", todo=todo)
    return Finding(name="adaptive", state=State.OK, found=str(where))


def opus() -> Finding:
    """libopus is in reach."""
    from adaptive.codec import libopus

    try:
        return Finding(name="libopus", state=State.OK, found=libopus.version())
    except ImportError as error:
        return Finding(name="libopus", state=State.FAIL, found="not found", todo=str(error))


def aiortc() -> Finding:
    """The installed aiortc has the private names that are used."""
    import aiortc as installed

    from ..aiortc_private import UnsupportedAiortc, check

    try:
        check()
    except UnsupportedAiortc as error:
        return Finding(name="aiortc", state=State.FAIL, found=installed.__version__, todo=str(error))
    return Finding(name="aiortc", state=State.OK, found=installed.__version__)


def resampling() -> Finding:
    """torch and torchaudio load beside each other and resample."""
    import numpy as np

    from adaptive.audio.resampling import resample

    try:
        made = resample(np.zeros(2205, dtype=np.float32), 22_050, 48_000)
    except (ImportError, OSError, RuntimeError) as error:
        todo = "Install torch and torchaudio of matching versions."
        return Finding(name="resampling", state=State.FAIL, found=str(error), todo=todo)
    versions = " ".join(f"{name} {importlib.metadata.version(name)}" for name in ("torch", "torchaudio"))
    state = State.OK if len(made) == 4800 else State.FAIL
    return Finding(name="resampling", state=state, found=versions)


def voices() -> Finding:
    """The voices that a server loads are installed."""
    from adaptive.speech.registry import infos, unknown_voice

    names = [info.name for info in infos()]
    missing = [name for name in _settings().voices if unknown_voice(name) is not None]
    if missing:
        todo = f"Install them, or name others in LEGATO_VOICES, such as {','.join(names)}."
        return Finding(name="voices", state=State.FAIL, found=f"missing: {', '.join(missing)}", todo=todo)
    return Finding(name="voices", state=State.OK, found=", ".join(names))


def cache() -> Finding:
    """The files that voices build once can be written, or are there."""
    from adaptive.speech.voices.model_files import MANIFEST, cache_root

    root = cache_root()
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=root):
            pass
    except OSError as error:
        todo = f"Make {root} writable, or name another directory in LEGATO_CACHE_DIR."
        return Finding(name="cache", state=State.FAIL, found=f"{root}: {error.strerror}", todo=todo)
    built = sorted(path.parent.name for path in root.glob(f"*/{MANIFEST}"))
    if not built:
        todo = "Nothing: what voices need is built when they are first used."
        return Finding(name="cache", state=State.OK, found=f"{root} is writable and empty", todo=todo)
    return Finding(name="cache", state=State.OK, found=f"{root}: {', '.join(built)}")


def browser() -> Finding:
    """A Chromium for the tests that drive one."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        todo = "Only the browser tests need one: apt install chromium, or playwright install chromium."
        return Finding(name="browser", state=State.WARN, found="no Chromium on the path", todo=todo)
    return Finding(name="browser", state=State.OK, found=path)


def port(wanted: int | None = None) -> Finding:
    """The port `wanted`, or else the one of the server's settings, is free."""
    settings = _settings()
    number = settings.port if wanted is None else wanted
    address = f"{settings.host}:{number}"
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as uvicorn does
        try:
            sock.bind((settings.host, number))
        except OSError as error:
            todo = "Stop what has it, or let the server take any free one: legato serve --port 0"
            return Finding(name="port", state=State.WARN, found=f"{address}: {error.strerror}", todo=todo)
    return Finding(name="port", state=State.OK, found=f"{address} is free")


def cpu() -> Finding:
    """Cores for media and rendering side by side, and instructions for 8-bit models."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    info = Path("/proc/cpuinfo")
    flags = set(info.read_text().split()) & INT8_FLAGS if info.exists() else None
    int8 = "8-bit instructions unknown here" if flags is None else ", ".join(sorted(flags)) or "no VNNI"
    found = f"{cores} cores, {int8}"
    if cores < 2:
        todo = "Speech may stutter: rendering and sending share one core. Give it two, or the voice heart."
        return Finding(name="cpu", state=State.WARN, found=found, todo=todo)
    if flags is not None and not flags:
        todo = "The tiers mixed and light of joe may be no cheaper than full here; the voice heart is cheap anywhere."
        return Finding(name="cpu", state=State.WARN, found=found, todo=todo)
    return Finding(name="cpu", state=State.OK, found=found)


CHECKS: tuple[Callable[[], Finding], ...] = (
    python,
    packages,
    foreign_adaptive,
    opus,
    aiortc,
    resampling,
    voices,
    cache,
    browser,
    port,
    cpu,
)
