"""Calibrations on the disk: one file for each voice, build of its model and machine, safe for several processes.

A file carries the digest of what it says; one that is damaged, or not what this version writes, is as good as none.
"""

import contextlib
import hashlib
import json
import logging
import os
import platform
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..voice import Progress, Voice
from ..voices.devices import device
from ..voices.file_lock import held
from ..voices.model_files import cache_root
from ..voices.sessions import threads
from .figures import Calibration, TierFigures, TierQuality

_log = logging.getLogger(__name__)

FORMAT = 1
"""Raised whenever the same file would be read as something else, or the same voice measured in another way."""


def machine() -> str:
    """Names what costs depend on besides the voice: processor, threads and device."""
    processor = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
        told = dict(line.partition("\t")[::2] for line in lines)
        processor = str([told.get(name) for name in ("model name", "cpu family", "model", "stepping", "flags")])
    return f"{platform.machine()} {processor} {os.cpu_count()} {threads()} {device()}"


def path_of(name: str, fingerprint: str) -> Path:
    """Where the calibration of a voice with this fingerprint is kept for this machine."""
    model = hashlib.sha256(fingerprint.encode()).hexdigest()[:12]
    return cache_root() / "calibrated" / f"{_plain_name(name)}-{model}-{_machine_key()}.json"


def fingerprint_of(voice: Voice) -> str | None:
    """What changes whenever the voice's samples would; None where the voice does not say."""
    found = getattr(voice, "fingerprint", None)
    return None if found is None else str(found)


def load(name: str, fingerprint: str) -> Calibration | None:
    """What is kept; None where nothing is, or nothing that can be believed."""
    return _loaded(path_of(name, fingerprint))


def _loaded(path: Path) -> Calibration | None:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["sha256"] != _digest(kept["calibration"]):
            raise ValueError("its digest is another one")
        return _read(kept["calibration"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        _log.warning("the calibration %s is not used: %s", path, error)
        return None


def _machine_key() -> str:
    return hashlib.sha256(f"{FORMAT}\n{machine()}".encode()).hexdigest()[:12]


def _plain_name(name: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in name)


def save(name: str, fingerprint: str, calibration: Calibration) -> None:
    """Keeps it for the next start, whole or not at all; a disk that cannot is only logged."""
    path = path_of(name, fingerprint)
    body = asdict(calibration)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent, prefix=".", suffix=".json", delete=False, encoding="utf-8"
        ) as file:
            temporary = file.name
            json.dump({"sha256": _digest(body), "calibration": body}, file)
        os.replace(temporary, path)
    except OSError as error:
        _log.warning("the calibration of %s cannot be kept: %s", name, error)
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def calibrated(
    voice: Voice, measure: Callable[[], Calibration], *, whole: bool, again: bool = False, progress: Progress
) -> Calibration:
    """What is kept of `voice`, else what `measure` finds, which is then kept.

    `whole` takes no calibration that is not; `again` takes none at all. One process of a machine measures at a time,
    whatever the voice: two at once would measure each other. A voice without a fingerprint is measured every time.
    """
    name, fingerprint = voice.info.name, fingerprint_of(voice)
    if fingerprint is None:
        return measure()

    def usable() -> Calibration | None:
        found = None if again else load(name, fingerprint)
        fits = found is not None and {tier.name for tier in found.tiers} >= set(voice.info.tiers)
        return found if found is not None and fits and (found.whole or not whole) else None

    if (found := usable()) is not None:
        return found
    try:
        path_of(name, fingerprint).parent.mkdir(parents=True, exist_ok=True)
        lock = held(
            path_of(name, fingerprint).parent / ".lock",
            waiting=lambda: progress(f"{name}: another process is measuring", 0.0),
        )
    except OSError:
        return measure()
    with lock:
        if (found := usable()) is not None:
            return found
        calibration = measure()
        save(name, fingerprint, calibration)
    return calibration


def kept(name: str) -> Calibration | None:
    """The newest that is kept of a voice on this machine, for lists: the voice is not loaded, and the files of its
    model may have changed since."""
    here = _machine_key()
    pattern = f"{_plain_name(name)}-*-{here}.json"
    try:
        newest = sorted((cache_root() / "calibrated").glob(pattern), key=lambda path: path.stat().st_mtime)
    except OSError:
        return None
    return next((found for path in reversed(newest) if (found := _loaded(path)) is not None), None)


def _digest(body: Any) -> str:
    return hashlib.sha256(json.dumps(_plain(body), sort_keys=True).encode()).hexdigest()


def _plain(body: Any) -> Any:
    """As JSON gives it back: keys are strings."""
    return json.loads(json.dumps(body))


def _read(body: Any) -> Calibration:
    tiers = tuple(
        TierFigures(
            name=str(tier["name"]),
            cost={int(frames): float(cost) for frames, cost in tier["cost"].items()},
            decoder={int(frames): float(cost) for frames, cost in tier["decoder"].items()},
            quality=TierQuality(**tier["quality"]),
        )
        for tier in body["tiers"]
    )
    if not tiers or not all(tier.cost for tier in tiers):
        raise ValueError("it says nothing of any tier")
    return Calibration(tiers=tiers, whole=bool(body["whole"]))
