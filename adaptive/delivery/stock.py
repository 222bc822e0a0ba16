"""The frames of one epoch: those still to be sent, and those sent and kept until they have arrived."""

from collections import deque
from collections.abc import Sequence

from .bundling import FIRST_TICKS, together
from .frames import Frame
from .line import Line
from .playhead import Playhead
from .repair import Repair
from .transmissions import Kept


class Stock:
    """All places and lengths are ticks on the line of what is played."""

    def __init__(self) -> None:
        self.line = Line()
        self.playhead = Playhead(self.line)
        self.repair = Repair()
        self.unsent: deque[Kept] = deque()
        self.sent_end = 0
        self.frame_ticks = 0
        """Of the newest frame."""
        self.size = 0
        """Bytes of payload that have not arrived."""
        self._missing: deque[Kept] = deque()
        """Sent, in order of playing; those that have arrived leave when all before them have."""

    @property
    def unsent_ticks(self) -> int:
        """Speech still to be sent for the first time."""
        return self.line.end - self.sent_end

    def add(self, frame: Frame) -> None:
        """The next frame. Raises ValueError where it does not follow the one before it."""
        self.unsent.append(Kept(frame, self.line.add(frame)))
        self.size += len(frame.payload)
        self.frame_ticks = frame.ticks

    def place(self, now: float) -> int:
        """What sounds now."""
        return self.playhead.place(now, self.sent_end)

    def sent_ahead(self, now: float) -> int:
        """Sent beyond what sounds now, arrived or not."""
        return self.sent_end - self.place(now)

    def bundle(self, ticks: int) -> tuple[int, bool]:
        """How many unsent frames make the next message of about `ticks`, and whether no later frame could join them."""
        frames = [kept.frame for kept in self.unsent]
        count = together(frames, ticks)
        whole = count < len(frames) or frames[-1].last or self.unsent_ticks + frames[-1].ticks > ticks
        return count, whole

    def take(self, count: int) -> Sequence[Kept]:
        """The next unsent frames; from now on they are missing."""
        taken = [self.unsent.popleft() for _ in range(count)]
        self._missing.extend(taken)
        self.sent_end = taken[-1].end
        return taken

    def soonest(self) -> Sequence[Kept]:
        """Of what is missing what the player needs first, enough for it to start."""
        frames: list[Kept] = []
        for kept in self._missing:
            if frames and (kept.arrived or kept.end - frames[0].place > FIRST_TICKS):
                break
            if not kept.arrived:
                frames.append(kept)
        return frames

    def settle(self) -> None:
        """Lets go of what has arrived."""
        missing, wanted = self._missing, self.playhead.wanted
        while missing and (missing[0].arrived or missing[0].end <= wanted):
            kept = missing.popleft()
            kept.arrived, kept.lost = True, False
            self.size -= len(kept.frame.payload)
