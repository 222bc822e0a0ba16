"""What a listener asks for over its data channels, on its way in: no faster than is good for the others."""

import json
import logging
from collections.abc import Callable

from .messages import Limits, Message, Refused, parse_message

log = logging.getLogger(__name__)

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


class Inbox:
    """One listener's."""

    def __init__(
        self,
        *,
        limits: Limits,
        rate: float,
        clock: Callable[[], float],
        on_message: Callable[[Message], object],
        on_refused: Callable[[Refused], None],
    ) -> None:
        """`on_message` may raise `Refused`; what is refused goes to `on_refused`."""
        self._limits = limits
        self._bucket = TokenBucket(rate)
        self._complaints = TokenBucket(1.0)
        self._rate = rate
        self._clock = clock
        self._on_message = on_message
        self._on_refused = on_refused

    def take(self, raw: str | bytes) -> None:
        """A message as it came."""
        now = self._clock()
        if not self._bucket.take(now):
            return self.complain(Refused(429, f"More than {self._rate:.0f} messages a second; slow down."))
        try:
            self._on_message(parse_message(raw, self._limits))
        except Refused as refused:
            self._on_refused(refused)
        except Exception:
            # Raised on, it would end the connection: aiortc lets nothing that its handlers raise pass.
            if self._complaints.take(now):
                log.exception("A message on a control channel met a fault of the server.")
                self._on_refused(Refused(500, "The server failed at this message; its log says more."))

    def complain(self, refused: Refused) -> None:
        """Tells what was refused, no oftener than is good for the listener."""
        if self._complaints.take(self._clock()):
            self._on_refused(refused)

    def take_again(self, raw: str) -> None:
        """A message of the `feedback` channel, where what was said is repeated as `{"say": {…}}` until it is answered;
        anything else there is none of ours. Without an id it would be said twice."""
        if not raw.startswith('{"say"') or len(raw) > self._limits.max_message_bytes:
            return
        try:
            said = json.loads(raw)["say"]
        except (ValueError, RecursionError):
            return
        if isinstance(said, dict) and isinstance(said.get("id"), str) and isinstance(said.get("say"), str):
            self.take(json.dumps(said))
