"""What a client asks of the server: in order, each of it once at least, over one connection after another."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, Protocol

Message = dict[str, Any]

FIRST_REPEAT_S, REPEAT_S = 0.03, 0.15
"""Text is said again after so long without an answer, over the channel that waits for nothing: the reliable one waits a
second and more after a loss. Its id makes that harmless. The first time is sooner than an answer comes from afar, as
one lost message is the commonest delay of a first word."""
MOST_REPEATS = 10
"""By then the reliable channel has tried again, too."""
LONGEST_REPEAT = 1000
"""Bytes; what is longer would travel in pieces, of which one would be lost."""
KEPT = 16
"""So much that the server refused, and therefore never answers, is remembered at most."""


class Channel(Protocol):
    """What messages go over."""

    @property
    def readyState(self) -> str:
        """As of W3C webrtc's data channels."""

    def send(self, data: str | bytes) -> None:
        """Sends one message."""


class Control:
    """Sends what is asked for; what is asked while there is no channel waits for one. Used from the event loop only."""

    def __init__(self, hurry: Callable[[str], None]) -> None:
        """`hurry` sends over a channel that waits for nothing and promises nothing."""
        self._hurry = hurry
        self._channel: Channel | None = None
        self._waiting: list[Message] = []
        self._doubtful: list[Message] = []
        """Sent, and nothing came from the server since: over a dead connection it is lost."""
        self._unanswered: dict[str, tuple[Message, asyncio.TimerHandle | None]] = {}
        """Text that the server is not known to know of, by its id, with the timer of its next repeat."""

    def send(self, message: Message) -> None:
        """Asks for it, now or when there is a channel."""
        self._waiting.append(message)
        self._flush()

    def use(self, channel: Channel) -> None:
        """Over this channel from now on, which is open; what may have been lost goes again."""
        if channel is self._channel:
            return
        self._channel = channel
        again = [*(message for message, _ in self._unanswered.values()), *self._doubtful, *self._waiting]
        self._doubtful.clear()
        self._waiting = list({id(message): message for message in again}.values())
        self._flush()

    def hold(self) -> None:
        """Nothing gets through at present: what is asked waits."""
        self._channel = None

    def heard(self, id: str | None = None) -> None:
        """The server said something; `id` is that of the utterance that it knows of."""
        self._doubtful.clear()
        if id is not None:
            self.answered(id)

    def answered(self, id: str) -> None:
        """The server knows of it, or refused it: it is not said again."""
        _, timer = self._unanswered.pop(id, (None, None))
        if timer is not None:
            timer.cancel()

    def close(self) -> None:
        """Nothing is repeated any more."""
        for id in list(self._unanswered):
            self.answered(id)

    def _flush(self) -> None:
        if self._channel is None or self._channel.readyState != "open":
            return
        waiting, self._waiting = self._waiting, []
        for message in waiting:
            if "say" in message and not message.get("more"):  # a piece of a text that is open does harm twice
                self._begin(message)
            self._doubtful.append(message)
            self._channel.send(json.dumps(message))

    def _begin(self, message: Message) -> None:
        self.answered(message["id"])
        again = json.dumps({"say": message})
        self._repeat_later(message, again, MOST_REPEATS if len(again) <= LONGEST_REPEAT else 0, FIRST_REPEAT_S)
        for id in list(self._unanswered)[:-KEPT]:
            self.answered(id)

    def _repeat_later(self, message: Message, again: str, left: int, after_s: float = REPEAT_S) -> None:
        timer = asyncio.get_running_loop().call_later(after_s, self._repeat, message, again, left) if left else None
        self._unanswered[message["id"]] = message, timer

    def _repeat(self, message: Message, again: str, left: int) -> None:
        self._hurry(again)
        self._repeat_later(message, again, left - 1)
