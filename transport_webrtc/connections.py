"""HTTP connections that cannot be held for nothing: so many at a time, so long for a request to arrive."""

import asyncio
import json
import sys
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_S = 10.0
"""For the head of a request to arrive whole, from the first moment of a connection, or the first byte after an answer;
without any, uvicorn hangs up sooner."""
REFUSED_S = 1.0
"""For a client to say what it wants before it is told that there is no room."""
LISTENER_FILES = 4
"""Files that a listener holds open: a socket for each address of the machine."""
OTHER_FILES = 64
"""Of the process: its workers, its log, what is being read."""
LISTENER_CONNECTIONS = 20
"""Nobody needs more for one listener: sixteen streams of events, and requests beside them."""
LEAST = 32
REFUSED_MOST = 16
"""Connections beyond the limit that are told why; those beyond these are cut off."""


def most_connections(max_listeners: int, files: int) -> int:
    """How many connections leave room for the listeners where a process may have so many `files` open."""
    return max(
        LEAST, min(files - OTHER_FILES - LISTENER_FILES * max_listeners, LEAST + LISTENER_CONNECTIONS * max_listeners)
    )


def most_listeners(files: int) -> int:
    """How many listeners have room beside the fewest connections where a process may have so many `files` open."""
    return max(0, (files - OTHER_FILES - LEAST) // LISTENER_FILES)


def files_allowed() -> int:
    """How many files this process may have open."""
    if sys.platform == "win32":
        return 8192
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft


def limited(most: int) -> type[H11Protocol]:
    """The protocol of a server that has at most so many connections."""
    return type("Limited", (_Limited,), {"most": most})


class _Limited(H11Protocol):
    most: int
    _late: asyncio.TimerHandle | None = None
    _refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        beyond = len(self.connections) - self.most
        self._refused = beyond > 0
        if beyond > REFUSED_MOST:
            transport.abort()
        else:
            self._late = self.loop.call_later(REFUSED_S if self._refused else REQUEST_S, transport.abort)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            self.transport.write(_no_room(self.most))
            self.transport.close()
            return
        if self._late is None and self._between_requests():
            self._late = self.loop.call_later(REQUEST_S, self.transport.abort)
        super().data_received(data)
        if not self._between_requests():
            self._in_time()

    def connection_lost(self, exc: Exception | None) -> None:
        self._in_time()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """The server leaves: answers under way may end, but nobody waits for the rest of a request."""
        super().shutdown()
        if not self._between_requests() and self.cycle.more_body:
            self.transport.close()

    def _between_requests(self) -> bool:
        cycle: Any = self.cycle
        return cycle is None or cycle.response_complete

    def _in_time(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


def _no_room(most: int) -> bytes:
    body = json.dumps(
        {"error": f"This server has {most} connections open and takes no more. Try again later."}
    ).encode()
    head = (
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 5\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
