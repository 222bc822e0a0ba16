"""Rendered clauses as files, one each, for several processes at once: `put` is atomic, and `get` believes no file.

A file is a digest, a header and samples. What is not whole, or not what it says, is removed and rendered again.
"""

import contextlib
import hashlib
import json
import logging
import os
import struct
import tempfile
from pathlib import Path

import numpy as np

from .cache import CacheSettings, ClauseCache, KeptClause, Run
from .voice import Samples, Word

_log = logging.getLogger(__name__)

MAGIC = b"LGTOclause1\n"
SUFFIX, UNFINISHED = ".clause", ".unfinished-"
"""What the name of a file ends with, and begins with while it is written: nothing else in the directory is ours."""
_LENGTH = struct.Struct("<I")
_DIGEST = hashlib.sha256().digest_size


class FileShelf:
    """A `Shelf` in a directory, up to `limit` bytes: what was used longest ago goes. Other files there stay."""

    def __init__(self, directory: Path, *, limit: int = CacheSettings.disk_bytes) -> None:
        """The directory is made where it is missing. Raises OSError where that cannot be."""
        self._directory = directory
        self._limit = limit
        self._failing = False
        """The last clause could not be kept, which was told."""
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)

    def get(self, key: str) -> KeptClause | None:
        """See `Shelf.get`."""
        path = self._directory / f"{key}{SUFFIX}"
        try:
            clause = _unpacked(path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            _log.warning("a kept clause cannot be read: %s", error.strerror)
            return None
        if clause is None:
            _log.warning("a kept clause is damaged; it is rendered again")
            with contextlib.suppress(OSError):
                path.unlink()
        with contextlib.suppress(OSError):  # what may only be read is still good
            os.utime(path)
        return clause

    def put(self, key: str, clause: KeptClause) -> None:
        """See `Shelf.put`."""
        data = _packed(clause)
        if len(data) > self._limit:
            return
        temporary = None
        try:
            self._make_room(len(data))
            with tempfile.NamedTemporaryFile(dir=self._directory, prefix=UNFINISHED, delete=False) as file:
                temporary = file.name
                file.write(data)
            os.replace(temporary, self._directory / f"{key}{SUFFIX}")
            self._failing = False
        except OSError as error:
            if not self._failing:
                _log.warning("Clauses cannot be kept in %s: %s.", self._directory, error.strerror)
            self._failing = True
            if temporary is not None:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)

    def _make_room(self, size: int) -> None:
        """Removes what was used longest ago until `size` bytes more have room."""
        files = []
        for entry in os.scandir(self._directory):
            if not entry.name.endswith(SUFFIX) and not entry.name.startswith(UNFINISHED):
                continue
            with contextlib.suppress(FileNotFoundError):  # another process was faster
                status = entry.stat()
                files.append((status.st_mtime_ns, status.st_size, entry.path))
        total = sum(length for _, length, _ in files) + size
        for _, length, path in sorted(files):
            if total <= self._limit:
                return
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            total -= length


def _packed(clause: KeptClause) -> bytes:
    words = [[word.text, word.start, word.end, word.estimated] for word in clause.words]
    runs = [[*run, len(samples)] for run, samples in clause.runs.items()]
    header = json.dumps({"frames": clause.frames, "words": words, "runs": runs}).encode()
    samples = b"".join(samples.astype("<f4").tobytes() for samples in clause.runs.values())
    body = _LENGTH.pack(len(header)) + header + samples
    return MAGIC + hashlib.sha256(body).digest() + body


def _unpacked(data: bytes) -> KeptClause | None:
    """None for anything that `_packed` did not make."""
    start = len(MAGIC) + _DIGEST
    body = data[start:]
    if not data.startswith(MAGIC) or hashlib.sha256(body).digest() != data[len(MAGIC) : start]:
        return None
    try:
        (length,) = _LENGTH.unpack_from(body)
        header = json.loads(body[_LENGTH.size : _LENGTH.size + length])
        samples = np.frombuffer(body, "<f4", offset=_LENGTH.size + length).astype(np.float32)
        words = tuple(
            Word(text=str(text), start=int(begin), end=int(end), estimated=bool(estimated))
            for text, begin, end, estimated in header["words"]
        )
        runs: dict[Run, Samples] = {}
        for tier, begin, count, tail, size in header["runs"]:
            if size > len(samples):
                return None
            runs[str(tier), int(begin), int(count), int(tail)] = samples[:size]
            samples = samples[size:]
        return KeptClause(frames=int(header["frames"]), words=words, runs=runs)
    except (struct.error, ValueError, KeyError, TypeError):
        return None


def open_cache(settings: CacheSettings) -> ClauseCache | None:
    """None where nothing is to be kept. Raises ValueError, with what to do, for a directory that cannot be used."""
    if settings.directory is None or not settings.disk_bytes:
        return ClauseCache(limit=settings.memory_bytes) if settings.memory_bytes else None
    try:
        shelf = FileShelf(settings.directory, limit=settings.disk_bytes)
    except OSError as error:
        raise ValueError(
            f"Speech cannot be kept in {settings.directory}: {error.strerror}. Make it writable or name another folder."
        ) from error
    return ClauseCache(limit=settings.memory_bytes, shelf=shelf)
