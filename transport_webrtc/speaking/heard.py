"""Events that are told when their place in the speech is heard, which is some time after it left."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from adaptive.ticks import to_seconds, to_ticks

from .utterance import Utterance

PROGRESS_TICKS = to_ticks(0.25)
"""`progress` is told at every quarter of a second of speech."""

Tell = Callable[[str, Utterance, dict[str, Any]], None]


def next_progress(tick: int) -> int:
    """Where `progress` is told next after a tick."""
    return (tick // PROGRESS_TICKS + 1) * PROGRESS_TICKS


class HeardEvents:
    """Keeps events until their time; in order, with one timer."""

    def __init__(self, tell: Tell, *, clock: Callable[[], float]) -> None:
        self._tell = tell
        self._clock = clock
        self._due: deque[tuple[float, str, Utterance, dict[str, Any]]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def left(self, utterance: Utterance, start: int, now: float, *, delay_s: float) -> None:
        """A frame that began at tick `start` left at `now`; what is in it is told when it is heard, `delay_s` later."""
        end = utterance.pipeline.taken
        utterance.clock.left(now, start, end - start)
        utterance.last_frame_s = to_seconds(end - start)
        heard_from = now + delay_s
        for tick, (name, data) in utterance.marks.until(end):
            self.add(heard_from + to_seconds(max(tick - start, 0)), name, utterance, {"position": tick, **data})
        if end // PROGRESS_TICKS != start // PROGRESS_TICKS:
            tick = end // PROGRESS_TICKS * PROGRESS_TICKS
            self.add(heard_from + to_seconds(tick - start), "progress", utterance, {"position": tick})

    def add(self, due: float, name: str, utterance: Utterance, data: dict[str, Any]) -> None:
        """Tells `name` at `due`, and never before what was added earlier."""
        if self._due:
            due = max(due, self._due[-1][0])
        self._due.append((due, name, utterance, data))
        if self._timer is None:
            self._arm()

    def take_back(self, utterance: Utterance, heard: int) -> None:
        """It was not heard beyond tick `heard`: what is there is told when it is heard after all."""
        for _, name, whose, data in self._due:
            if whose is utterance and data.get("position", -1) >= heard and name != "progress":
                again = {key: value for key, value in data.items() if key != "position"}
                utterance.marks.add(data["position"], (name, again))
        self._due = deque(row for row in self._due if row[2] is not utterance or row[3].get("position", heard) < heard)

    def drop(self, utterance: Utterance) -> None:
        """Nothing more is told of it."""
        self._due = deque(row for row in self._due if row[2] is not utterance)

    def close(self) -> None:
        """Tells nothing any more."""
        self._due.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self) -> None:
        wait = max(self._due[0][0] - self._clock(), 0.0)
        self._timer = asyncio.get_running_loop().call_later(wait, self._fire)

    def _fire(self) -> None:
        self._timer = None
        now = self._clock() + 0.0005  # timers are rounded to the millisecond
        while self._due and self._due[0][0] <= now:
            _, name, utterance, data = self._due.popleft()
            self._tell(name, utterance, data)
        if self._due and self._timer is None:
            self._arm()
