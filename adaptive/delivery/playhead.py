"""Where the player is: what it said last, and what it must have played since."""

from dataclasses import dataclass

from adaptive.ticks import TICK_RATE

from .line import Line
from .wire import Ack, PlayerState

CLOCK_MS = 1 << 32


@dataclass(frozen=True, kw_only=True)
class Played:
    """What came out of the loudspeaker."""

    utterance: int
    position: int
    """Ticks of the utterance."""
    at: float
    """Monotonic seconds at which it was so."""


class Playhead:
    """Places are ticks on the line."""

    def __init__(self, line: Line) -> None:
        self.wanted = 0
        """Everything before has arrived."""
        self.state = PlayerState.EMPTY
        self.doubtful = False
        """The path is gone: what is not known to have arrived is not taken to be played, until the player says so."""
        self._line = line
        self._played = 0
        self._said_at = float("-inf")
        self._answered_at = float("-inf")
        self._said_ms: float | None = None
        """Client clock; an acknowledgement that was overtaken is known by it."""

    def said(self, now: float, at: float, ack: Ack) -> bool:
        """What an acknowledgement of the present epoch that comes now says of `at`; False where a later one came
        before."""
        said_ms = ack.arrival + ack.delay / 10
        if self._said_ms is not None and (said_ms - self._said_ms) % CLOCK_MS > CLOCK_MS / 2:
            return False
        self._answered_at, self._said_at, self._said_ms, self.state = now, at, said_ms, ack.state
        self.doubtful = False
        played = self._line.find(ack.played_utterance, ack.played)
        wanted = self._line.find(ack.wanted_utterance, ack.wanted)
        self._played = max(self._played, played or 0)
        self.wanted = max(self.wanted, wanted or 0, self._played)
        self._line.forget(self._played)
        return True

    def place(self, now: float, end: int) -> int:
        """What sounds now; never beyond `end`, where what was sent ends; where the path is gone, what arrived."""
        if self.state is not PlayerState.PLAYING:
            return self._played
        end = min(end, self.wanted) if self.doubtful else end
        return max(self._played, min(self._played + round((now - self._said_at) * TICK_RATE), end))

    def ran_out(self, now: float, end: int, silent_s: float) -> bool:
        """It was playing, said nothing for so long, and must have played all that it said it had, but for what was sent
        up to `end`."""
        amid = self.state in (PlayerState.PLAYING, PlayerState.STARVED) and self._played > 0
        return (
            amid and now - self._answered_at >= silent_s and self.wanted < end and self.place(now, end) >= self.wanted
        )

    def past(self, place: int) -> bool:
        """The player said that it has played beyond a place."""
        return place <= self._played
