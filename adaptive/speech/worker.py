"""One render worker as the media process sees it: a process to start, to talk to, to watch and to end."""

import asyncio
import mmap
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

from .calibration.figures import Calibration
from .voice import VoiceInfo
from .worker_messages import NOTHING, NUMBER, Decoder, FromWorker, Ping, Pong, Ready, Setup, ToWorker, Unfit, encode

_CHECKS = 4
"""How often a worker is asked for a sign of life within the time that it may be silent."""

_REAP_S = 0.005
"""How soon it is asked again whether a killed process has gone."""

_THREAD_VARIABLES = (
    "LEGATO_RENDER_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)


def worker_environment(*, threads: int, cache_dir: Path | None, device: str | None = None) -> dict[str, str]:
    """This process's environment with the same import path, `threads` threads for each library that computes,
    `cache_dir` for what voices build and `device` for models that have a choice."""
    environment = {**os.environ, **dict.fromkeys(_THREAD_VARIABLES, str(threads))}
    environment["PYTHONPATH"] = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    if cache_dir is not None:
        environment["LEGATO_CACHE_DIR"] = str(cache_dir)
    if device is not None:
        environment["LEGATO_DEVICE"] = device
    return environment


class Worker(asyncio.Protocol):
    """A process and the socket to it. `on_message` gets what it makes and builds, on the event loop; `on_doubt` is
    called once a worker that was ready has been silent for a quarter of `silent_s`.

    Reading and writing never block the loop. A worker that gives no sign of life for `silent_s` is killed; signs are
    counted by checks and not by the clock, so that a stall of this process is not taken for one of the worker's.
    While it loads, any progress is a sign and `loading_s` is the limit.
    """

    def __init__(
        self,
        setup: Setup,
        *,
        environment: Mapping[str, str],
        on_message: Callable[["Worker", FromWorker], None],
        on_doubt: Callable[["Worker"], None],
        silent_s: float,
        loading_s: float,
    ) -> None:
        loop = asyncio.get_running_loop()
        self.voices: tuple[VoiceInfo, ...] = ()
        """What it has loaded; empty until it is ready."""
        self.calibrations: Mapping[str, Calibration] = {}
        """What the tiers of its voices cost, where that was measured."""
        self._ready: asyncio.Future[bool] = loop.create_future()
        self._ended: asyncio.Future[str] = loop.create_future()
        self._gone: asyncio.Future[None] = loop.create_future()
        self._setup = setup
        self._environment = environment
        self._on_message, self._on_doubt = on_message, on_doubt
        self._silent_s = silent_s
        self._loading_s = loading_s
        self._sign_of_life = True
        self._silent_checks = 0
        self._why = ""
        self._decoder = Decoder()
        self._transport: asyncio.Transport | None = None
        self._check: asyncio.TimerHandle | None = None

    async def start(self) -> None:
        """Starts the process; `ready` waits until it has loaded its voices. Raises OSError where none can be made."""
        ours = self._spawn()
        try:
            await asyncio.get_running_loop().create_unix_connection(lambda: self, sock=ours)
        except BaseException:  # cancelled, most likely: nobody has this process in hand yet
            self._process.kill()
            self._process.wait()
            ours.close()
            self._in_hand.close()
            raise
        self.send(self._setup)
        self._schedule_check()

    def _spawn(self) -> socket.socket:
        """The process, and our end of the socket to it. It shares our standard error and nothing else of ours."""
        ours, theirs = socket.socketpair()
        with theirs, tempfile.TemporaryFile() as shared:
            shared.write(NUMBER.pack(NOTHING))
            shared.flush()
            fds = (theirs.fileno(), shared.fileno())
            # -P: the import path is ours, and the working directory is not put in front of it
            command = [sys.executable, "-P", "-c", f"from adaptive.speech.worker_process import main; main{fds}"]
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=2,  # what a voice prints must not mix with what a command prints
                    env=self._environment,
                    pass_fds=fds,
                    start_new_session=True,
                )
            except OSError:
                ours.close()
                raise
            self._in_hand = mmap.mmap(shared.fileno(), NUMBER.size)
        ours.setblocking(False)
        return ours

    async def ready(self) -> bool:
        """Waits until a text would not wait for it; False if it ended before."""
        return await asyncio.shield(self._ready)

    async def ended(self) -> str:
        """Waits until it dies or is killed, and no longer; returns a sentence that says why."""
        return await asyncio.shield(self._ended)

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    @property
    def in_hand(self) -> int | None:
        """The number of the utterance whose chunk is being rendered, or was when the worker died."""
        (number,) = NUMBER.unpack_from(self._in_hand, 0)
        return None if number == NOTHING else number

    @property
    def silent_s(self) -> float:
        """How long at least it has given no sign of life."""
        return self._silent_checks * self._silent_s / _CHECKS

    def send(self, message: ToWorker) -> None:
        """Hands `message` over without waiting; it is lost if the worker is."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(encode(message))

    def kill(self, why: str) -> None:
        """Ends it now; `why` is the sentence that `ended` returns."""
        self._why = self._why or why
        if self._process.poll() is None:
            self._process.kill()
        if self._transport is not None:
            self._transport.abort()

    async def close(self) -> None:
        """Ends it if it has not ended, and returns when nothing of it is left."""
        self.kill("A render worker was closed.")
        try:
            await asyncio.shield(self._gone)
        except asyncio.CancelledError:
            self._process.wait()  # it is killed: a matter of milliseconds
            raise
        finally:
            self._in_hand.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._sign_of_life = True
        for message in self._decoder.feed(data):
            match message:
                case Pong():
                    pass
                case Ready():
                    self.voices, self.calibrations = message.voices, message.calibrations
                    self._ready.set_result(True)
                    self._schedule_check()
                case Unfit():
                    self._why = message.message
                case _:
                    self._on_message(self, cast(FromWorker, message))

    def connection_lost(self, error: Exception | None) -> None:
        if self._check is not None:
            self._check.cancel()
        if self._process.poll() is None:
            self._process.kill()
        if not self._ready.done():
            self._ready.set_result(False)
        self._ended.set_result(self._why or "A render worker died.")
        self._reap()

    def _reap(self) -> None:
        if self._process.poll() is None:
            asyncio.get_running_loop().call_later(_REAP_S, self._reap)
        else:
            self._gone.set_result(None)

    def _schedule_check(self) -> None:
        if self._check is not None:
            self._check.cancel()
        limit = self._silent_s if self._ready.done() else self._loading_s
        self._check = asyncio.get_running_loop().call_later(limit / _CHECKS, self._look_for_life)

    def _look_for_life(self) -> None:
        self._silent_checks = 0 if self._sign_of_life else self._silent_checks + 1
        self._sign_of_life = False
        if self._silent_checks >= _CHECKS:
            self.kill("A render worker gave no sign of life.")
            return
        if self._ready.done():
            self.send(Ping())
            if self._silent_checks == 1:
                self._on_doubt(self)
        self._schedule_check()
