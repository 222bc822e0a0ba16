"""Estimates what one listener hears, while it is spoken to: a stretch of speech every so often, in slices of the loop.

The track shows every packet that it lets go, the fates of packets come back, and a shadow decodes what must have been
heard. Nothing of it delays a packet by more than a slice, and a loaded machine is left alone. Pure but for its `clock`.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from adaptive.codec.redundancy import unpack
from adaptive.control.fates import Fate, Fates
from adaptive.ticks import to_ticks
from quality.shadow import WARM, Carried, Estimate, Frame, ShadowDecoder

from .media.block import Block

PERIOD_S = 10.0
"""From the beginning of one stretch to that of the next."""
STRETCH = WARM + to_ticks(2.0)
"""Ticks of speech, what warms the decoder included."""
LEAST = WARM + to_ticks(1.0)
"""An utterance that ends sooner is not judged."""
AFTER = to_ticks(0.36)
"""Packets up to this long behind a stretch may hold copies of its frames (RFC 2198 lets them lie 341 ms back)."""
WAIT_S = 2.0
"""For the fates of the last packets; what is not known then stays unknown."""
UNKNOWN = 0.1
"""Share of the fates that may be unknown."""
SLICE = to_ticks(0.2)
"""Decoded in one go, in each tick: one to two milliseconds (`python -m quality.shadow_cost`)."""
SHARE = 0.01
"""Of the time, spent on this listener at most: the next stretch waits until it is so."""
SPAN_S = 3.0
"""Before a stretch was complete, its speech had left for no longer."""
BUSY_S = 0.05
"""A tick that comes later than the usual gap by more, or a slice that takes longer, says that the machine is loaded."""
ASSUMED_S = 0.06
"""Held by a receiver that reports nothing (what libwebrtc's NetEq starts with)."""

_log = logging.getLogger(__name__)


class Shadow(Protocol):
    """A stretch of speech being heard again."""

    def work(self, ticks: int) -> bool:
        """Decodes that much more; False once all of it is."""
        ...

    def estimate(self) -> Estimate | None:
        """Of all of it; None where there was too little speech in it."""
        ...


class ShadowMaker(Protocol):
    """Begins a shadow: see `quality.shadow.ShadowDecoder`."""

    def __call__(
        self, frames: Sequence[Frame], carried: Sequence[Carried], *, allowance_s: float, lookahead: int
    ) -> Shadow: ...


class _Stretch:
    """Speech without a gap, as it left, and the packets that carried it."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.packets: list[tuple[int, int, tuple[int, ...]]] = []
        """Each packet's place among all that were sent, its timestamp, and those of the copies in it."""
        self.ticks = 0
        self.full = False
        """No frame is added any more."""
        self.behind = 0
        """Ticks of packets after the last frame."""

    def add(self, place: int, block: Block | None, tick: int, frame: bytes, copies: tuple[int, ...]) -> None:
        last = self.frames[-1] if self.frames else None
        follows = last is None or tick == last.timestamp + len(last.samples)
        if block is None or not block.speech or not follows:
            self.full = True
        if not self.full:
            assert block is not None
            self.frames.append(Frame(timestamp=tick, samples=block.samples, packet=frame))
            self.ticks += len(block.samples)
            self.full = self.ticks >= STRETCH
        elif last is not None:
            self.behind = tick - last.timestamp
        self.packets.append((place, tick, copies))


class Shadowing:
    """One listener's. `tick` is called a few times a second, `left` with every packet."""

    def __init__(
        self,
        fates: Fates,
        *,
        red: bool,
        lookahead: int,
        every_s: float,
        clock: Callable[[], float],
        on_estimate: Callable[[Estimate, float], None],
        make: ShadowMaker = ShadowDecoder,
    ) -> None:
        """`fates`: of the packets of this one stream, numbered as they leave, with copies inside where it is `red`.
        `lookahead` is the encoder's, in ticks, `every_s` the time between two calls of `tick`.
        `on_estimate(estimate, at)` is told what the speech of the last `SPAN_S` before `at` was worth."""
        self.judged = 0
        """Stretches."""
        self.left_out = 0
        """Stretches given up, because the machine was loaded or too little was known."""
        self.failed = False
        self._fates = fates
        self._red = red
        self._lookahead = lookahead
        self._every_s = every_s
        self._clock = clock
        self._on_estimate = on_estimate
        self._make = make
        self._stretch: _Stretch | None = None
        self._shadow: Shadow | None = None
        self._complete_at: float | None = None
        self._began_at = clock()
        self._next_at = self._began_at
        self._spent_s = 0.0
        self._ticked_at: float | None = None

    def left(self, tick: int, frame: bytes, payload: bytes, block: Block | None) -> None:
        """A packet is about to leave: its timestamp, its Opus frame, its payload, and what is in it."""
        stretch = self._stretch
        if stretch is None or self._complete_at is not None:
            return
        if not stretch.frames and (block is None or not block.speech):
            return
        copies = tuple(tick - copy.offset for copy in unpack(payload)[:-1]) if self._red else ()
        stretch.add(self._fates.count, block, tick, frame, copies)

    def tick(self, now: float, *, held_s: float | None) -> None:
        """Does a slice of what there is to do. `held_s`: how long speech waits in the listener's buffer, if known.

        A fault of its own ends it, and nothing else.
        """
        if self.failed:
            return
        try:
            self._step(now, held_s)
        except Exception:  # this watches; what it watches must go on, whatever is wrong here
            _log.exception("what is heard is not estimated any more")
            self.failed, self._stretch, self._shadow = True, None, None

    def _step(self, now: float, held_s: float | None) -> None:
        late_s = 0.0 if self._ticked_at is None else now - self._ticked_at - self._every_s
        self._ticked_at = now
        if late_s > BUSY_S and self._stretch is not None and self._stretch.frames:
            self._give_up(now)
        elif self._shadow is not None:
            self._work(now)
        elif self._stretch is None:
            if now >= self._next_at:
                self._stretch, self._complete_at, self._began_at, self._spent_s = _Stretch(), None, now, 0.0
        elif self._complete_at is None:
            if self._stretch.full and (self._stretch.behind >= AFTER or self._stretch.ticks < LEAST):
                self._complete_at = now
        else:
            self._begin(now, self._stretch, held_s)

    def _begin(self, now: float, stretch: _Stretch, held_s: float | None) -> None:
        """Makes a shadow as soon as enough is known."""
        assert self._complete_at is not None
        if stretch.ticks < LEAST:
            self._stretch = None
            return
        fates = [self._fates.fate(place) for place, _, _ in stretch.packets]
        unknown = sum(not fate.known for fate in fates)
        if unknown and now - self._complete_at < WAIT_S:
            return
        if unknown > UNKNOWN * len(fates) or len({place for place, _, _ in stretch.packets}) < len(fates):
            self._give_up(now)
            return
        carried = [
            Carried(timestamp=tick, copies=copies, fate=fate)
            for (_, tick, copies), fate in zip(stretch.packets, fates, strict=True)
        ]
        self._shadow = self._make(
            stretch.frames, carried, allowance_s=_allowance_s(fates, held_s), lookahead=self._lookahead
        )

    def _work(self, now: float) -> None:
        assert self._shadow is not None
        before = self._clock()
        more = self._shadow.work(SLICE)
        estimate = None if more else self._shadow.estimate()
        spent_s = self._clock() - before
        self._spent_s += spent_s
        if spent_s > BUSY_S:
            self._give_up(now)
        elif not more:
            at = self._complete_at or now
            self._rest(now)
            if estimate is not None:
                self.judged += 1
                self._on_estimate(estimate, at)

    def _give_up(self, now: float) -> None:
        self.left_out += 1
        self._began_at = now
        self._rest(now)

    def _rest(self, now: float) -> None:
        self._stretch = self._shadow = None
        self._next_at = max(now, self._began_at + max(PERIOD_S, self._spent_s / SHARE))


def _allowance_s(fates: Sequence[Fate], held_s: float | None) -> float:
    """How long a receiver waits for a frame: it holds speech for so long after packets came, which they do with the
    mean delay."""
    delays = [fate.delay_s for fate in fates if fate.delay_s is not None]
    mean_s = sum(delays) / len(delays) if delays else 0.0
    return mean_s + (ASSUMED_S if held_s is None else held_s)
