"""What is on its way: every message sent, by its number, until it is known to have arrived or to be lost."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from .frames import Frame
from .line import nearest
from .wire import Ack

FORGOTTEN_S = 4.0
"""A message declared lost may still turn up so long after it was sent."""
FEW = 20
"""Messages of whose fate less is learnt than from whoever measured the path before."""
LOSS_MEMORY = 64
"""Messages that the share of loss is taken over."""


@dataclass(slots=True, eq=False)
class Kept:
    """A frame that is kept until it has arrived."""

    frame: Frame
    place: int
    """On the line."""
    out: int = 0
    """Messages on their way that hold it."""
    arrived: bool = False
    """Nothing more need be done for it."""
    lost: bool = False
    """It waits to be sent again."""

    @property
    def end(self) -> int:
        """Where the next frame begins."""
        return self.place + self.frame.ticks

    def __lt__(self, other: "Kept") -> bool:
        return self.place < other.place


@dataclass(slots=True)
class _Sent:
    at: float
    frames: Sequence[Kept]
    size: int
    lost: bool = False


@dataclass(slots=True)
class Outcome:
    """What an acknowledgement says of messages."""

    arrived_bytes: int = 0
    lost: Sequence[Kept] = ()
    """Frames of which no message is on its way any more."""
    sent_at: float | None = None
    """When the largest was sent, if it is news that it arrived."""
    oldest_at: float | None = None
    """When the oldest was sent of which it is news that they arrived."""


class Transmissions:
    """Numbers messages; sizes are bytes on the wire."""

    def __init__(self) -> None:
        self.in_flight = 0
        """Bytes on their way, those declared lost left out."""
        self.loss: float | None = None
        """Share of the latest messages that were lost."""
        self.sent_bytes = 0
        self._number = 0
        self._sent: dict[int, _Sent] = {}
        self._known = self._expected = 0
        """Messages whose fate is known, and those that an expectation stands for."""
        self._fates: deque[tuple[int, bool]] = deque(maxlen=256)

    def expect(self, loss: float) -> None:
        """So much is lost on this path, 0..1, by what others measured: counts until enough of these messages tell."""
        if self._known < FEW:
            self.loss, self._expected = loss, FEW

    def next(self) -> int:
        """A fresh number, modulo 2^16, for a message that nobody waits for."""
        self._number += 1
        return self._number & 0xFFFF

    def send(self, now: float, frames: Sequence[Kept], size: int) -> int:
        """The number, modulo 2^16, of a message that leaves now."""
        number = self.next()
        self._sent[self._number] = _Sent(now, frames, size)
        self.in_flight += size
        self.sent_bytes += size
        for kept in frames:
            kept.out += 1
            kept.lost = False
        return number

    def acked(self, now: float, ack: Ack) -> Outcome:
        """Whatever is older than the largest and not in the bitmap is lost: the player waits for stragglers itself."""
        largest = nearest(ack.largest, self._number)
        outcome = Outcome()
        lost: list[Kept] = []
        for number in [number for number in self._sent if number <= largest]:
            sent = self._sent[number]
            back = largest - 1 - number
            if back < 0 or (back < 64 and ack.bitmap >> back & 1):
                del self._sent[number]
                outcome.arrived_bytes += sent.size
                outcome.oldest_at = sent.at if outcome.oldest_at is None else outcome.oldest_at
                if number == largest:
                    outcome.sent_at = sent.at
                self._arrive(number, sent)
            elif not sent.lost:
                sent.lost = True
                self._lose(number, sent, lost)
            elif now - sent.at > FORGOTTEN_S:
                del self._sent[number]
        outcome.lost = lost
        return outcome

    def lose_all(self) -> list[Kept]:
        """Everything on its way is lost; returns the frames that are."""
        lost: list[Kept] = []
        for number, sent in self._sent.items():
            if not sent.lost:
                self._lose(number, sent, lost)
        self._sent.clear()
        return lost

    def forget(self) -> None:
        """Nobody waits any more for what is on its way."""
        self._sent.clear()
        self.in_flight = 0

    def fates(self) -> tuple[bool, ...]:
        """Lost or not, in sending order, of the messages whose fate became known since the last time."""
        fates = tuple(lost for _, lost in sorted(self._fates))
        self._fates.clear()
        return fates

    def _arrive(self, number: int, sent: _Sent) -> None:
        if not sent.lost:
            self.in_flight -= sent.size
            for kept in sent.frames:
                kept.out -= 1
            self._count(number, lost=False)
        for kept in sent.frames:
            kept.arrived, kept.lost = True, False

    def _lose(self, number: int, sent: _Sent, lost: list[Kept]) -> None:
        self.in_flight -= sent.size
        self._count(number, lost=True)
        for kept in sent.frames:
            kept.out -= 1
            if not kept.out and not kept.arrived:
                lost.append(kept)

    def _count(self, number: int, *, lost: bool) -> None:
        self._known += 1
        self._fates.append((number, lost))
        before = self.loss or 0.0
        self.loss = before + (lost - before) / min(self._known + self._expected, LOSS_MEMORY)
