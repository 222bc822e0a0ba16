"""Files that a voice builds once from its package: kept in the user's cache, whole or not at all.

A build goes to a directory of its own that takes its final name when it is complete, under a lock between processes; a
manifest with sizes and hashes tells on every start whether the files are still what was built.
"""

import errno
import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..voice import Progress
from .file_lock import held

MANIFEST = "manifest.json"
ROOM_MB = 150
"""What a voice needs on the disk while it is built, said in the message when there is not enough."""

Build = Callable[[Path, Progress], None]
"""Writes a voice's files into an empty directory."""


class ModelFilesError(RuntimeError):
    """A voice's files cannot be built or kept; the message is a sentence that says what to do."""


def cache_root() -> Path:
    """`LEGATO_CACHE_DIR`, else `legato` in the user's cache directory of this platform."""
    named = os.environ.get("LEGATO_CACHE_DIR")
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "legato" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "legato"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "legato"


def ensure(name: str, *, source: Path, version: str, build: Build, progress: Progress | None = None) -> Path:
    """The directory with the files that `build` makes of `source`; built now where it is missing or damaged.

    `version` names how they are built: another version or another content of `source` is another directory. Two
    processes may call this at once: one builds, the other waits. Raises ModelFilesError.
    """
    tell = progress or (lambda what, done: None)
    root = cache_root()
    try:
        directory = root / f"{name}-{version}-{_sha256(source)[:16]}"
        if intact(directory):
            return directory
        root.mkdir(parents=True, exist_ok=True)
        with held(root / f".{name}.lock", waiting=lambda: tell(f"{name}: another process builds its files", 0.0)):
            if not intact(directory):
                _build(name, directory, build, tell)
    except OSError as error:
        raise ModelFilesError(_sentence(name, root, error)) from error
    return directory


def intact(directory: Path) -> bool:
    """Whether every file of the manifest is there as it was written."""
    try:
        files = json.loads((directory / MANIFEST).read_text())["files"]
        return bool(files) and all(
            (directory / file).stat().st_size == size and _sha256(directory / file) == sha256
            for file, (size, sha256) in files.items()
        )
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _build(name: str, directory: Path, build: Build, tell: Progress) -> None:
    """Builds beside `directory` and takes its place. The lock is held: what others left half built is nobody's."""
    prefix = f".{name}-building-"
    for left in directory.parent.glob(f"{prefix}*"):
        shutil.rmtree(left)
    tell(f"{name}: building its files", 0.0)
    temporary = Path(tempfile.mkdtemp(prefix=prefix, dir=directory.parent))
    try:
        build(temporary, tell)
        files = {file.name: (file.stat().st_size, _sha256(file)) for file in sorted(temporary.iterdir())}
        (temporary / MANIFEST).write_text(json.dumps({"files": files}, indent=1))
        if directory.is_dir():
            shutil.rmtree(directory)
        else:
            directory.unlink(missing_ok=True)
        temporary.chmod(0o755)
        os.replace(temporary, directory)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    tell(f"{name}: ready", 1.0)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sentence(name: str, root: Path, error: OSError) -> str:
    way_out = "or name another directory in LEGATO_CACHE_DIR"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk is full: the voice {name} needs {ROOM_MB} MB in {root}. Make room there {way_out}."
    where = error.filename or root
    return (
        f"The voice {name} cannot keep its files: {error.strerror or error} ({where}). Make {root} writable {way_out}."
    )
