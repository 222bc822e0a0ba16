"""The other end of a worker: a process of its own that loads voices and renders what it is told to.

It holds the only import of voice models. It ends when its socket closes, even in the middle of a chunk, so nothing
is left behind when the media process is killed.
"""

import contextlib
import faulthandler
import gc
import importlib
import logging
import mmap
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any, cast

from .cache import CachedVoice
from .cache_files import open_cache
from .calibration.figures import Calibration
from .calibration.fitting import fitted
from .desk import Desk
from .judge import PlainJudge
from .registry import voice_name
from .running import StreamMaker
from .voice import Voice
from .voices.model_files import ModelFilesError
from .worker_messages import (
    NOTHING,
    NUMBER,
    Building,
    Decoder,
    FromWorker,
    Ping,
    Pong,
    Ready,
    Setup,
    ToWorker,
    Unfit,
    encode,
)

_log = logging.getLogger(__name__)


def resolve(name: str) -> Any:
    """The object that `module:attribute` names."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def warm_up(voice: Voice, make: StreamMaker) -> None:
    """Runs the voice and everything behind it once at every tier, so that no listener waits for what loads late."""
    voice.warm()
    for tier in voice.info.tiers:
        stream = make(voice, speed=1.0, seed=0)
        stream.feed("Ready when you are, and warm.", final=True)
        while not stream.done and stream.next(tier=tier, chunk_frames=None):
            pass


class _Line:
    """The worker's end of the socket."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._decoder = Decoder()

    def receive(self, *, wait: bool) -> list[ToWorker]:
        """What has arrived; with `wait`, at least one message. Raises EOFError once the other end is closed."""
        messages: list[ToWorker] = []
        while True:
            try:
                data = self._sock.recv(1 << 16, 0 if wait and not messages else socket.MSG_DONTWAIT)
            except BlockingIOError:
                return messages
            if not data:
                raise EOFError
            messages += cast(list[ToWorker], list(self._decoder.feed(data)))

    def send(self, message: FromWorker) -> None:
        """Waits while the other end is behind. Raises BrokenPipeError once it is closed."""
        self._sock.sendall(encode(message))


def _end_with_parent(sock: socket.socket) -> None:
    """Ends the process the moment the other end of the socket is closed, whatever is being rendered."""

    def watch() -> None:
        poll = select.poll()
        poll.register(sock, 0)  # hang-up is reported without being asked for
        poll.poll()
        os._exit(0)

    threading.Thread(target=watch, name="watch-parent", daemon=True).start()


def _load(setup: Setup, line: _Line, make: StreamMaker) -> tuple[dict[str, Voice], dict[str, Calibration]]:
    """The voices by name, and what their tiers cost here where that is known."""

    def tell(what: str, share: float) -> None:
        line.send(Building(what, share))

    loader = resolve(setup.loader)
    cache = open_cache(setup.cache)
    voices: dict[str, Voice] = {}
    calibrations: dict[str, Calibration] = {}
    for given in setup.voices:
        name, voice = voice_name(given), loader(given, progress=tell)
        tell(f"warming {name}", 0.0)
        warm_up(voice, make)
        if (calibration := fitted(voice, progress=tell)) is not None:
            calibrations[name] = calibration
        voices[name] = CachedVoice(voice, cache) if cache is not None else voice
    return voices, calibrations


def _serve(
    line: _Line,
    voices: Mapping[str, Voice],
    calibrations: Mapping[str, Calibration],
    make: StreamMaker,
    in_hand: mmap.mmap,
) -> None:
    desk = Desk(voices, make, clock=time.monotonic, judge=PlainJudge())
    line.send(Ready(tuple(voice.info for voice in voices.values()), dict(calibrations)))
    while True:
        for message in line.receive(wait=desk.pick() is None):
            if isinstance(message, Ping):
                line.send(Pong())
            elif not isinstance(message, Setup):
                desk.handle(message)
        number = desk.pick()
        if number is None:
            continue
        NUMBER.pack_into(in_hand, 0, number)
        made = desk.turn(number)
        NUMBER.pack_into(in_hand, 0, NOTHING)
        if made is not None:
            line.send(made)


def main(socket_fd: int, in_hand_fd: int) -> None:
    """Serves until the socket closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle; it closes the socket
    faulthandler.enable()
    logging.basicConfig(level=logging.WARNING, format="render worker: %(levelname)s %(message)s", stream=sys.stderr)
    sock = socket.socket(fileno=socket_fd)
    _end_with_parent(sock)
    line = _Line(sock)
    with mmap.mmap(in_hand_fd, NUMBER.size) as in_hand, contextlib.suppress(EOFError, ConnectionError):
        (setup,) = line.receive(wait=True)
        if not isinstance(setup, Setup):
            raise TypeError(f"the first message must be Setup, not {type(setup).__name__}")
        os.nice(setup.nice)
        try:
            make = resolve(setup.stream)
            voices, calibrations = _load(setup, line, make)
        except Exception as error:  # told to the parent, who tells people
            if not isinstance(error, ValueError | ModelFilesError):
                _log.error("cannot start", exc_info=True)
            line.send(Unfit(f"A render worker could not start: {str(error).rstrip('.') or type(error).__name__}."))
            return
        gc.freeze()
        _serve(line, voices, calibrations, make, in_hand)
