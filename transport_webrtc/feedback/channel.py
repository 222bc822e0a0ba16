"""The `feedback` data channel on the wire: sends pings, takes answers, asks for a playout delay."""

import logging
from collections.abc import Callable

from aiortc import RTCDataChannel

from adaptive.control.reports import HeardReport, NetworkReport

from .exchange import Exchange

log = logging.getLogger(__name__)

BUFFERED_LIMIT = 4096
"""With more bytes waiting, what is sent would be old when it arrives."""


class FeedbackChannel:
    """One listener's feedback channel. `tick` is called ten times a second or so."""

    def __init__(
        self,
        channel: RTCDataChannel,
        *,
        overhead: int,
        clock: Callable[[], float],
        sent_rate: Callable[[], float | None],
        on_network: Callable[[NetworkReport], None],
        on_heard: Callable[[HeardReport], None],
    ) -> None:
        self._channel = channel
        self._exchange = Exchange(overhead=overhead)
        self._clock = clock
        self._sent_rate = sent_rate
        self._on_network = on_network
        self._on_heard = on_heard
        self._failed = False
        channel.on("message", self._message)

    @property
    def last_answer(self) -> float | None:
        """When the listener answered last, on the given clock."""
        return self._exchange.answered_at

    @property
    def reached_at(self) -> float | None:
        """When the newest ping left that the listener answered."""
        return self._exchange.reached_at

    @property
    def last_counters(self) -> float | None:
        """When its receiver's counters came last."""
        return self._exchange.counted_at

    def ask_playout_delay(self, seconds: float) -> None:
        """Asks the listener to hold what it receives for so long; the newest wish is the one that counts."""
        self._exchange.wish(round(seconds * 1000))

    def tick(self, now: float, *, every_s: float) -> None:
        """Sends what is due, pings every `every_s`, and reports silence."""
        silence = self._exchange.silence(now)
        if silence is not None:
            self._on_network(silence)
        if self._channel.readyState != "open" or self._channel.bufferedAmount > BUFFERED_LIMIT:
            return
        ping = self._exchange.ping(now, every_s=every_s)
        if ping is not None:
            self._channel.send(ping)

    def _message(self, raw: str | bytes) -> None:
        if isinstance(raw, bytes):
            return  # an acknowledgement of the data track, of which there are many
        try:
            self._take(raw)
        except Exception:
            # Raised on, it would end the connection; told once, as the next answer may meet the same.
            if not self._failed:
                self._failed = True
                log.exception("An answer on a feedback channel met a fault of the server.")

    def _take(self, raw: str) -> None:
        reports = self._exchange.answer(self._clock(), raw, sent_rate=self._sent_rate())
        if reports is None:
            return
        network, heard = reports
        self._on_network(network)
        if heard is not None:
            self._on_heard(heard)
