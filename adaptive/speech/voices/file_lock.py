"""A lock between processes on one machine, held by an open file: it goes with the process that held it."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

POLL_S = 0.05
"""How often a waiting process looks again."""

if sys.platform == "win32":
    import msvcrt

    def _try(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

else:
    import fcntl

    def _try(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@contextmanager
def held(path: Path, *, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Holds the lock of the file `path`, which is made where it is missing and stays.

    Calls `waiting` once where another process holds it. Raises OSError where the file cannot be opened.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if not _try(handle):
            if waiting is not None:
                waiting()
            while not _try(handle):
                time.sleep(POLL_S)
        yield
    finally:
        os.close(handle)
