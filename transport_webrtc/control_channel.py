"""The `control` data channel on the wire: messages in, events out, neither faster than is good for the others."""

import json
import logging
from collections.abc import Callable
from typing import Any

from aiortc import RTCDataChannel

from .messages import Limits, Message, Refused, parse_message

log = logging.getLogger(__name__)

REPLACEABLE = frozenset({"progress", "word"})
"""Events that the next one of their kind replaces: a word says as well that those before it were heard."""
BUSY_BYTES = 1_024
"""With more waiting to be sent, these are left out."""
THIN_GAP_S = 4.0
"""So far apart are words at least where the network is narrow: an event costs 200 bytes on the wire, and ten of them a
second would take half of what a listener at 28 kb/s has."""
TELLING = frozenset({"progress", "marks", "switched"})
"""Events that nothing depends on, left out there but for another tier of the voice; a clause's marks are a packet of
1,200 bytes. The event stream has them all."""
STUCK_BYTES = 1_048_576
"""With more waiting, the listener takes nothing any more; the event stream still holds what it missed."""
BURST_S = 1.0
"""A listener may be ahead of its rate by so long."""


class TokenBucket:
    """Lets through so many a second. Pure."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._level = rate * BURST_S
        self._at: float | None = None

    def take(self, now: float) -> bool:
        """Whether one more may pass at `now`."""
        if self._at is not None:
            self._level = min(self._rate * BURST_S, self._level + (now - self._at) * self._rate)
        self._at = now
        if self._level < 1:
            return False
        self._level -= 1
        return True


class ControlChannel:
    """One listener's control channel."""

    def __init__(
        self,
        channel: RTCDataChannel,
        *,
        limits: Limits,
        rate: float,
        clock: Callable[[], float],
        on_message: Callable[[Message], object],
        on_refused: Callable[[Refused], None],
    ) -> None:
        """`on_message` may raise `Refused`; what is refused goes to `on_refused`."""
        self._channel = channel
        self._limits = limits
        self._bucket = TokenBucket(rate)
        self._complaints = TokenBucket(1.0)
        self._rate = rate
        self._clock = clock
        self._on_message = on_message
        self._on_refused = on_refused
        self._next_replaceable = 0.0
        self.thin = False
        """The network is narrow: only what is needed goes out."""
        channel.on("message", self._message)

    def send(self, event: dict[str, Any]) -> None:
        """Sends an event, unless the channel is closed or full."""
        waiting = self._channel.bufferedAmount
        if self._channel.readyState != "open" or waiting > STUCK_BYTES:
            return
        if self.thin and event["event"] in TELLING and event.get("kind") != "tier":
            return
        if event["event"] in REPLACEABLE:
            now = self._clock()
            if waiting > BUSY_BYTES or (self.thin and now < self._next_replaceable):
                return
            self._next_replaceable = now + THIN_GAP_S
        self._channel.send(json.dumps(event, ensure_ascii=False, separators=(",", ":")))

    def _message(self, raw: str | bytes) -> None:
        now = self._clock()
        if not self._bucket.take(now):
            if self._complaints.take(now):
                self._on_refused(Refused(429, f"More than {self._rate:.0f} messages a second; slow down."))
            return
        try:
            self._on_message(parse_message(raw, self._limits))
        except Refused as refused:
            self._on_refused(refused)
        except Exception:
            # Raised on, it would end the connection: aiortc lets nothing that its handlers raise pass.
            if self._complaints.take(now):
                log.exception("A message on a control channel met a fault of the server.")
                self._on_refused(Refused(500, "The server failed at this message; its log says more."))
