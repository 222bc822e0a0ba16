"""TCP to a server and back, until it stops answering: what was under way then never goes on, as over a changed path."""

import contextlib
import socket
import threading
from types import TracebackType
from typing import Self

CHUNK = 65_536


class Tunnel:
    """In front of a local port, for as long as the `with` block lasts; it accepts connections even while it is dead."""

    def __init__(self, port: int) -> None:
        self._to = ("127.0.0.1", port)
        self._door = socket.create_server(("127.0.0.1", 0))
        self._open: list[tuple[socket.socket, socket.socket | None]] = []
        self._lock = threading.Lock()
        self._age = 0
        """How often it died: a connection of an earlier age is dead."""
        self._dead = False

    @property
    def port(self) -> int:
        """Its own."""
        return int(self._door.getsockname()[1])

    def die(self) -> None:
        """Nothing is passed on any more, and nothing is refused."""
        self._dead = True
        self._age += 1

    def live(self) -> None:
        """What connects from now on gets through."""
        self._dead = False

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        with self._lock:
            for pair in self._open:
                for end in filter(None, pair):
                    with contextlib.suppress(OSError):
                        end.shutdown(socket.SHUT_RDWR)
                    end.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._door.accept()
                far = None if self._dead else socket.create_connection(self._to)
                with self._lock:
                    self._open.append((near, far))
                if far is not None:
                    for source, sink in ((near, far), (far, near)):
                        threading.Thread(target=self._pass, args=(source, sink, self._age), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, age: int) -> None:
        with contextlib.suppress(OSError):
            while (data := source.recv(CHUNK)) and age == self._age:
                sink.sendall(data)
            if age == self._age:
                sink.shutdown(socket.SHUT_WR)
