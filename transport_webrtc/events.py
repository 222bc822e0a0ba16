"""Tells what happens to a listener: to its control channel, to event streams, and to those who come late."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

KEPT = 256
"""Events kept for whoever comes late or comes back."""
BEHIND = 512
"""A stream that has this many events waiting is ended; its reader may come back and go on where it was."""


@dataclass(frozen=True, kw_only=True)
class Numbered:
    """An event with its number in the listener's life, from 1."""

    number: int
    event: dict[str, Any]


class Events:
    """The events of one listener. Used from the event loop only."""

    def __init__(self) -> None:
        self._kept: deque[Numbered] = deque(maxlen=KEPT)
        self._number = 0
        self._sinks: list[Callable[[Numbered], None]] = []
        self._queues: set[asyncio.Queue[Numbered | None]] = set()
        self._closed = False

    def publish(self, event: dict[str, Any]) -> None:
        """Tells everybody, in order."""
        self._number += 1
        numbered = Numbered(number=self._number, event=event)
        self._kept.append(numbered)
        for sink in self._sinks:
            sink(numbered)
        for queue in tuple(self._queues):
            if queue.qsize() >= BEHIND:
                self._queues.discard(queue)
                queue.put_nowait(None)
            else:
                queue.put_nowait(numbered)

    def attach(self, sink: Callable[[Numbered], None], *, after: int = 0) -> Callable[[], None]:
        """Calls `sink` with every event kept behind that number, then with each one as it happens, until what is
        returned is called."""
        for numbered in self._kept:
            if numbered.number > after:
                sink(numbered)
        self._sinks.append(sink)
        return lambda: self._sinks.remove(sink) if sink in self._sinks else None

    @property
    def streams(self) -> int:
        """How many follow at present."""
        return len(self._queues)

    async def stream(self, after: int | None = None) -> AsyncIterator[Numbered]:
        """Events as they happen until the listener is gone; with `after`, first the kept ones behind that number."""
        queue: asyncio.Queue[Numbered | None] = asyncio.Queue()
        for numbered in self._kept if after is not None else ():
            if after is not None and numbered.number > after:
                queue.put_nowait(numbered)
        if self._closed:
            queue.put_nowait(None)
        else:
            self._queues.add(queue)
        try:
            while (item := await queue.get()) is not None:
                yield item
        finally:
            self._queues.discard(queue)

    def close(self) -> None:
        """Ends every stream after what it still has to say."""
        self._closed = True
        self._sinks.clear()
        for queue in self._queues:
            queue.put_nowait(None)
        self._queues.clear()
