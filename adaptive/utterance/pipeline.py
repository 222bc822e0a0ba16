"""The samples of one utterance between renderer and carrier: ready, taken, and kept until they have been heard."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from adaptive.speech.renderer import Chunk
from adaptive.speech.voice import Samples
from adaptive.ticks import to_ticks

from .fade import FADE_TICKS, faded_in, faded_out, padded

KEEP_TICKS = to_ticks(15.0)
"""The most that is kept after it was taken, heard or not: 2.9 MB."""

AHEAD_STEP = to_ticks(0.02)
"""What is taken ahead of its time is so many ticks, or a multiple."""

ALMOST_NOTHING = to_ticks(0.06) + FADE_TICKS
"""Less than this may not be enough for the next frame, which has at most 60 ms."""


@dataclass(kw_only=True)
class PipelineStats:
    """What went wrong and how full it was."""

    underruns: int = 0
    """Times the samples ran out although the renderer had all it needed."""
    underrun_s: float = 0.0
    """Silence that came of it, those that are over."""
    largest_underrun_s: float = 0.0
    waits_for_text: int = 0
    """Times the samples ran out at the end of a clause while the text was open."""
    most_ready: int = 0
    """Ticks."""


class Pipeline:
    """One writer, one taker. All positions and lengths are ticks of the utterance.

    `target` is how much is to be ready ahead of the taker, `limit` what it may never exceed as long as no chunk is
    longer than the longest before it.
    """

    def __init__(self, *, target: int, limit: int, keep: int = KEEP_TICKS) -> None:
        self._target, self._limit, self._keep = target, limit, keep
        self._chunks: deque[Chunk] = deque()
        self._at = 0
        """Index of the chunk in which the next sample to be taken lies."""
        self._longest = 0
        self._silent = True
        """What was taken last was silence, so that sound has to be faded in unless it is the very beginning."""
        self._ran_out_at: float | None = None
        """When the samples ran out, while they are."""
        self._fade_due = False
        self.written = 0
        self.taken = 0
        self.total: int | None = None
        """Length of the utterance, once it is known."""
        self.paused = False
        self.text_open = False
        """More text may come: running out of samples after a clause is then nobody's failure."""
        self.stats = PipelineStats()

    @property
    def ready(self) -> int:
        """Ticks written and not taken."""
        return self.written - self.taken

    @property
    def done(self) -> bool:
        """Every sample was taken."""
        return self.total is not None and self.taken >= self.total

    @property
    def begun(self) -> bool:
        """Something was taken."""
        return self.taken > 0

    def write(self, chunk: Chunk) -> None:
        """Appends a chunk. Raises ValueError where it does not begin at the end of the one before it."""
        if self.total is not None or chunk.start != self.written:
            raise ValueError(
                f"a chunk at {chunk.start} cannot follow {self.written} ticks of {self.total or 'open end'}"
            )
        self._chunks.append(chunk)
        self.written += len(chunk.samples)
        self._longest = max(self._longest, len(chunk.samples))
        self.stats.most_ready = max(self.stats.most_ready, self.ready)

    def finish(self, ticks: int) -> None:
        """The utterance is complete at `ticks`. Raises ValueError where that is not what was written."""
        if ticks != self.written:
            raise ValueError(f"{ticks} ticks were announced and {self.written} written")
        self.total = ticks

    def grant(self, ahead: int = 0) -> int:
        """The tick before which a chunk may begin; `ahead` is what the listener has ready before this utterance.

        When almost nothing is ready anywhere, one chunk may always be rendered, however long.
        """
        room = min(self._target, self._limit - self._longest) - ahead
        least = self.ready + 1 if self.ready < ALMOST_NOTHING and not ahead else 0
        return self.taken + max(room, least)

    def take(self, ticks: int, now: float) -> Samples | None:
        """Exactly the next `ticks` samples, the last ones followed by silence; None where there is nothing to send.

        Nothing to send is: not begun, paused, run out, or done. Position stays where it is then. As long as more is to
        come 5 ms are held back, so that running out ends without a click. May be a view into a chunk: not to be written
        to. `now` is monotonic seconds and measures underruns.
        """
        if self.done:
            return None
        if self.paused:
            return self._ending(ticks) if self._fade_due else None
        if self.ready < ticks + FADE_TICKS and self.total is None:
            return self._run_out(ticks, now) if self.begun else None
        if self._ran_out_at is not None:
            self._count_underrun(now - self._ran_out_at)
            self._ran_out_at = None
        samples, self._at = self._read(min(ticks, self.ready))
        if self._silent and self.begun:
            samples = faded_in(samples)
        self._silent = False
        self.taken += len(samples)
        return samples if len(samples) == ticks else padded(samples, ticks)

    def take_ahead(self, ticks: int) -> Samples | None:
        """The next samples, at most `ticks`, for a carrier that is ahead of what is heard; None where there are none.

        Until the end is known they are whole steps of 20 ms, and 5 ms are held back, so that the end is always still to
        come. Running out is silence at the listener at most, and is not counted here. May be a view into a chunk.
        """
        if self.paused or self.done:
            return None
        count = min(ticks, self.ready)
        if self.total is None:
            count = min(ticks, self.ready - FADE_TICKS) // AHEAD_STEP * AHEAD_STEP
        if count <= 0:
            return None
        samples, self._at = self._read(count)
        if self._silent and self.begun:
            samples = faded_in(samples)
        self._silent, self._ran_out_at = False, None
        self.taken += count
        return samples

    def before(self, ticks: int) -> Samples:
        """The samples before the next one, at most `ticks`, as far as they are still kept."""
        start = self.taken - ticks
        parts = []
        for chunk in self._chunks:
            first, end = max(start - chunk.start, 0), self.taken - chunk.start
            if end > 0 and first < len(chunk.samples):
                parts.append(chunk.samples[first:end])
        return np.concatenate(parts) if parts else np.zeros(0, np.float32)

    def pause(self) -> None:
        """Nothing is given from now on, but for the end of the sound that is being heard."""
        self.paused = True
        self._fade_due = not self._silent

    def resume(self) -> None:
        """Goes on where it was paused."""
        self.paused = False

    def cut(self) -> Samples:
        """Ends it here; returns at most 5 ms, falling to zero, for the frame that is sent next."""
        tail = self.fall()
        self.total = self.written = self.taken
        self._chunks.clear()
        self._at = 0
        return tail

    def fall(self) -> Samples:
        """At most 5 ms of what would come next, falling to zero: sound ends here. The position stays."""
        tail = np.zeros(0, np.float32) if self._silent else self._tail()
        self._silent = True
        return tail

    def skip(self, ticks: int) -> int:
        """Leaves out at most that many ticks of what is written, as though they were taken; how many it left out."""
        count = min(ticks, self.ready)
        self._at = self._read(count)[1]
        self._silent, self._ran_out_at = True, None
        self.taken += count
        return count

    def heard(self, position: int) -> None:
        """What lies before `position` is not needed any more; nor is what is more than `keep` behind the taker."""
        limit = min(max(position, self.taken - self._keep), self.taken)
        while self._at > 0 and self._chunks[0].start + len(self._chunks[0].samples) <= limit:
            self._chunks.popleft()
            self._at -= 1

    def rewind(self, position: int) -> int:
        """Takes up again at `position`, or at the earliest sample still kept; returns where that is."""
        first = self._chunks[0].start if self._chunks else self.taken
        self.taken = min(max(position, first), self.taken)
        self._at = 0
        self._silent = True
        return self.taken

    def _run_out(self, ticks: int, now: float) -> Samples | None:
        if self._ran_out_at is None:
            self._ran_out_at = now
        return None if self._silent else self._ending(ticks)

    def _count_underrun(self, seconds: float) -> None:
        """Underruns are counted when they end; where more text was awaited at the end of a clause, it is none."""
        before = self._chunks[self._at]
        if before.pause_after and self.text_open:
            self.stats.waits_for_text += 1
            return
        self.stats.underruns += 1
        self.stats.underrun_s += seconds
        self.stats.largest_underrun_s = max(self.stats.largest_underrun_s, seconds)

    def _ending(self, ticks: int) -> Samples | None:
        """The frame in which the sound falls to zero. The position does not move: no sample is lost by it."""
        self._fade_due, self._silent = False, True
        tail = self._tail()
        return padded(tail, ticks) if len(tail) else None

    def _tail(self) -> Samples:
        return faded_out(self._read(min(self.ready, FADE_TICKS))[0])

    def _read(self, count: int) -> tuple[Samples, int]:
        """The next `count` samples, which must be there, and the index of the chunk in which they end."""
        parts: list[Samples] = []
        at, position, end = self._at, self.taken, self.taken + count
        while position < end:
            chunk = self._chunks[at]
            offset = position - chunk.start
            part = chunk.samples[offset : offset + end - position]
            position += len(part)
            if len(part):
                parts.append(part)
            if position < end:
                at += 1
        if len(parts) == 1:
            return parts[0], at
        return (np.concatenate(parts) if parts else np.zeros(0, np.float32)), at
