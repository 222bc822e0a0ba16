"""The `control` data channel on the wire: messages in, events out, no faster than is good for the speech."""

import json
from collections.abc import Callable
from typing import Any

from aiortc import RTCDataChannel

from .events import Numbered
from .inbox import Inbox

REPLACEABLE = frozenset({"progress", "word"})
"""Events that the next one of their kind replaces: a word says as well that those before it were heard."""
BUSY_BYTES = 1_024
"""With more waiting to be sent, these are left out."""
PLACED_S, PROGRESS_S = 0.5, 1.0
"""`progress` that comes so soon after a word, which says as well where the listener is, goes out once in so long: an
event costs the server as much as a frame and a half. The event stream has them all."""
THIN_GAP_S = 4.0
"""So far apart are words at least where the network is narrow: an event costs 200 bytes on the wire, and ten of them a
second would take half of what a listener at 28 kb/s has."""
TELLING = frozenset({"progress", "marks", "switched"})
"""Events that nothing depends on, left out there but for another tier of the voice; a clause's marks are a packet of
1,200 bytes. The event stream has them all."""
STUCK_BYTES = 1_048_576
"""With more waiting, the listener takes nothing any more; the event stream still holds what it missed."""
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class ControlChannel:
    """One listener's control channel."""

    def __init__(self, channel: RTCDataChannel, inbox: Inbox, *, clock: Callable[[], float]) -> None:
        self._channel = channel
        self._clock = clock
        self._next_replaceable = 0.0
        self._told_at = {name: float("-inf") for name in REPLACEABLE}
        self.thin = False
        """The network is narrow: only what is needed goes out."""
        channel.on("message", inbox.take)

    def send(self, numbered: Numbered) -> None:
        """Sends an event with its number, unless the channel is closed or full."""
        event: dict[str, Any] = {**numbered.event, "number": numbered.number}
        waiting = self._channel.bufferedAmount
        if self._channel.readyState != "open" or waiting > STUCK_BYTES:
            return
        if self.thin and event["event"] in TELLING and event.get("kind") != "tier":
            return
        if event["event"] in REPLACEABLE:
            now, told_at = self._clock(), self._told_at
            if waiting > BUSY_BYTES or (self.thin and now < self._next_replaceable):
                return
            placed = now - told_at["word"] < PLACED_S and now - told_at["progress"] < PROGRESS_S
            if event["event"] == "progress" and placed:
                return
            self._next_replaceable = now + THIN_GAP_S
            told_at[event["event"]] = now
        self._channel.send(_ENCODE(event))
