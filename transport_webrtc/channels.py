"""The data channels of one listener, each to whom it belongs; none is required, and other names are left alone."""

from collections.abc import Callable

from aiortc import RTCDataChannel

from .carrying import Carrying
from .control_channel import ControlChannel
from .events import Events
from .feedback.path import PathFacts
from .inbox import Inbox


class Channels:
    """Of several with the same name the first counts."""

    def __init__(
        self, inbox: Inbox, events: Events, carrying: Carrying, *, after: int, clock: Callable[[], float]
    ) -> None:
        """`after`: number of the last event that the client knows."""
        self.control: ControlChannel | None = None
        self.facts: PathFacts | None = None
        """Once the offer was answered."""
        self._inbox = inbox
        self._events = events
        self._carrying = carrying
        self._after = after
        self._clock = clock
        self._detach: Callable[[], None] | None = None

    def offered(self, channel: RTCDataChannel) -> None:
        """The client opened one."""
        if channel.label == "speech":
            self._carrying.opened(channel)
            return
        if channel.label == "control" and self.control is None:
            self.control = ControlChannel(channel, self._inbox, clock=self._clock)
            self._detach = self._events.attach(self.control.send, after=self._after)
        elif channel.label == "feedback" and self.facts is not None:
            channel.on("message", self._fed_back)
            self.facts.attach(channel)
        self._carrying.another_opened()

    def close(self) -> None:
        """Tells nothing any more."""
        if self._detach is not None:
            self._detach()

    def _fed_back(self, raw: str | bytes) -> None:
        """What comes there beside answers to pings."""
        if isinstance(raw, bytes):
            self._carrying.acknowledged(raw)
        else:
            self._inbox.take_again(raw)
