"""The one object a data track owns: frames in, messages out when they are due, acknowledgements in, facts out."""

from dataclasses import dataclass

from adaptive.control.reports import NetworkReport
from adaptive.ticks import TICK_RATE

from .frames import Frame
from .wire import Ack, Flush, PlayerState, SpeechMessage

FLUSH_EVERY_S = 0.03
"""A flush is repeated until it is acknowledged."""


@dataclass(frozen=True, kw_only=True)
class Played:
    """What came out of the loudspeaker."""

    utterance: int
    position: int
    """Ticks of the utterance."""
    at: float
    """Monotonic seconds at which it was so."""


class Delivery:
    """Frames of one listener, delivered ahead of their time; see `pacing`, `repair` and `bundling` for how.

    The owner asks `room` how much new speech is wanted, gives it by `add`, sends what `due` returns at once, and comes
    back at `next_time`, after each acknowledgement and whenever it has new speech.
    """

    def __init__(self, *, lead_limit_s: float = 6.0, epoch: int = 0) -> None:
        """`epoch` goes on from an earlier `Delivery` of the same player."""
        self.lead_limit_s = lead_limit_s
        """How far ahead of what was played frames are delivered; may be set at any time."""
        self.epoch = epoch % 0x10000
        self.state = PlayerState.EMPTY
        """Of the player, as it said last."""
        self.played: Played | None = None
        """As the player said last; None before it said anything about this epoch."""
        self._number = 0
        self._unsent: list[Frame] = []
        self._held: dict[int, int] = {}
        self._ahead = 0
        self._flush_at: float | None = None
        self._backlog = 0

    # What goes in

    def add(self, frame: Frame) -> None:
        """The next frame in order of playing.

        Raises ValueError where it neither follows the frame before it nor begins or takes up another utterance.
        """
        self._unsent.append(frame)
        self._ahead += frame.ticks

    def room(self, now: float) -> int:
        """Ticks of new speech wanted now: what lead, memory and the path leave. Ask again after `due`."""
        if self._backlog:
            return 0
        return max(0, round(self.lead_limit_s * TICK_RATE) - self._ahead)

    def held(self, utterance: int, client_ms: int) -> None:
        """Position 0 of `utterance` may not sound before `client_ms`; said before its first frame is due."""
        self._held[utterance] = client_ms % 2**32

    def acked(self, now: float, ack: Ack) -> None:
        """What the player said; an acknowledgement that was overtaken or comes twice does no harm."""
        self.state = ack.state
        if ack.epoch == self.epoch:
            self._flush_at = None
            self.played = Played(utterance=ack.played_utterance, position=ack.played, at=now)

    def flush(self, now: float) -> None:
        """An interruption: the epoch rises, and everything unsent and unacknowledged is forgotten."""
        self.epoch = (self.epoch + 1) % 0x10000
        self._unsent.clear()
        self._held.clear()
        self._ahead = 0
        self.played = None
        self._flush_at = now

    def backlog(self, waiting: int) -> None:
        """Bytes that wait in the channel's own queue (`bufferedAmount`); nothing is due while there are too many."""
        self._backlog = waiting

    def moved(self, now: float) -> None:
        """The path is another one: everything on its way counts as lost, and nothing is known of the path."""

    # What comes out

    def due(self, now: float) -> list[bytes]:
        """Messages for the `speech` channel, to be sent now."""
        out = []
        if self._flush_at is not None and now >= self._flush_at:
            self._flush_at = now + FLUSH_EVERY_S
            out.append(Flush(epoch=self.epoch, number=self._next()).pack())
        for frame in self._unsent:
            message = SpeechMessage(
                epoch=self.epoch,
                utterance=frame.utterance,
                number=self._next(),
                position=frame.position,
                ticks=frame.ticks,
                format=frame.format,
                frames=(frame.payload,),
                last=frame.last,
                not_before=self._held.get(frame.utterance),
            )
            out.append(message.pack())
        self._unsent.clear()
        return out

    def next_time(self, now: float) -> float | None:
        """When `due` or `room` will have something that it has not now; None while only news can change that."""
        return self._flush_at

    # What is known

    def lead_s(self, now: float) -> float:
        """Speech delivered ahead of what sounds now, as far as is known."""
        return 0.0

    def position(self, now: float) -> Played | None:
        """What sounds now: the player's last word, and what it must have played since."""
        return self.played

    def client_ms(self, at: float) -> int | None:
        """The client's clock, ms modulo 2^32, at `at` monotonic seconds; None before the first acknowledgement."""
        return None

    def report(self, now: float) -> NetworkReport | None:
        """What was seen of the path since the report before, with the fate of each message; None where nothing was."""
        return None

    @property
    def rtt_s(self) -> float | None:
        """Of the last exchange, without the player's delay."""
        return None

    @property
    def min_rtt_s(self) -> float | None:
        """The shortest lately."""
        return None

    @property
    def queue_delay_s(self) -> float | None:
        """One-way delay above the lowest lately."""
        return None

    @property
    def delivered_rate(self) -> float | None:
        """Bit/s on the wire, overhead included, that arrived lately while there was something to send."""
        return None

    @property
    def loss(self) -> float | None:
        """Share of messages that were lost, lately, 0..1."""
        return None

    def _next(self) -> int:
        self._number = (self._number + 1) % 0x10000
        return self._number
