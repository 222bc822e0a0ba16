"""Which transmissions arrived, and when that is told. Pure: time is an argument."""

from adaptive.delivery import PlayerState
from adaptive.delivery.answering import GAP_S, LONG_TICKS, PLENTY_S, news_s, period_s

from .place import SIZE, beyond

WINDOW = 64


class Receipts:
    """The transmission numbers seen."""

    def __init__(self) -> None:
        self.received = 0
        """Messages, repeats of one number included."""
        self.missing = 0
        """Numbers passed over that never came."""
        self.largest = 0
        self.bitmap = 0
        """Bit i: number `largest - 1 - i` arrived."""
        self.arrival = 0.0
        """Of the largest."""
        self._rare = False
        """The newest message held so much speech that the path must be narrow."""
        self._mark = 1
        self._told = float("-inf")
        self._state: PlayerState | None = None
        self._news: float | None = None
        """Since when something is untold."""
        self._gap: float | None = None
        """When a number was passed over that nobody was told of yet."""

    @property
    def complete(self) -> bool:
        """Whether every number since the mark arrived, up to the largest."""
        before = min(WINDOW, max(0, beyond(self.largest, self._mark)))
        wanted = (1 << before) - 1
        return self.received > 0 and self.bitmap & wanted == wanted

    def mark(self) -> None:
        """From now on `complete` looks only at numbers after the largest seen."""
        if self.received:
            self._mark = (self.largest + 1) % SIZE

    def take(self, now: float, number: int, *, ticks: int = 0) -> None:
        """A message came, with so many ticks of speech; without any it says nothing of the path."""
        self._rare = ticks >= LONG_TICKS if ticks else self._rare
        self._news = now if self._news is None else self._news
        ahead = beyond(number, self.largest) if self.received else 1
        if ahead > 0:
            if self.received:
                self.bitmap = (self.bitmap << ahead | 1 << ahead - 1) & (1 << WINDOW) - 1
                self.missing += ahead - 1
                if ahead > 1 and self._gap is None:
                    self._gap = now
            self.largest, self.arrival = number, now
        elif -WINDOW <= ahead < 0 and not self.bitmap >> -ahead - 1 & 1:
            self.bitmap |= 1 << -ahead - 1
            self.missing = max(0, self.missing - 1)
        self.received += 1

    def due(self, now: float, state: PlayerState, *, buffered_s: float = 0.0) -> bool:
        """Whether it is time to tell; `buffered_s` of speech are in store."""
        if not self.received:
            return False
        if state is not self._state or (self._gap is not None and now - self._gap >= GAP_S):
            return True
        if self._news is not None:
            return now - self._told >= news_s(self._rare)
        return now - self._told >= period_s(state, self._rare or buffered_s >= PLENTY_S)

    def told(self, now: float, state: PlayerState) -> None:
        """It was told."""
        self._state, self._told = state, now
        self._news = self._gap = None
