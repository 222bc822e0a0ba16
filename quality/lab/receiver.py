"""A browser's audio receiver on virtual time: its jitter buffer, and what it plays, stretches and makes up.

A model of libwebrtc's NetEq (modules/audio_coding/neteq), of the parts that decide what is heard: where the delay is
kept (`target.py`), when playout is slowed or hastened towards it, when a hole is filled and how long, and when speech
goes on after one (decision_logic.cc, neteq_impl.cc). It knows frames and times, not sound.
"""

import random
from bisect import bisect_left, insort
from dataclasses import dataclass
from enum import IntEnum

from adaptive.ticks import TICK_RATE, to_seconds

from .target import DelayTarget

STEP = TICK_RATE // 100
"""Ticks played at a time: NetEq is asked for 10 ms (neteq_impl.cc)."""
STEP_S = 0.01
MOST_PACKETS = 200
"""In the buffer; one more empties it (`max_packets_in_buffer`)."""
STRETCH = TICK_RATE * 7 // 1000
"""Ticks added or removed at once: about a period of the voice (time_stretch.cc)."""
SLOW_STEPS, HASTE_STEPS, FAST_STEPS = 6, 11, 3
"""Between two of them: `kMinTimescaleInterval` is six ticks of 10 ms. Measured in Chromium, that slows speech by 12 %;
it is hastened by 6 % (sound that does not repeat itself is left alone), and faster where far too much is held."""
FAR = 4
"""Times the upper limit: far too much (decision_logic.cc)."""
HASTE_TICKS, SLOW_TICKS = 3 * STEP, 2 * STEP
"""Ticks of speech at hand without which playout is not hastened or slowed (neteq_impl.cc; slowing borrows from what was
played)."""
HYSTERESIS_S = 0.02
"""Above the target and the largest delay seen, before playout is hastened (`kDelayAdjustmentGranularityMs`)."""
WINDOW_S = 0.05
"""Speech held beyond the target from which a hole is left early (half of `target_level_window_ms`)."""
VOICED = 0.5
"""Share of holes that begin in voiced sound."""
FADED_STEPS = {True: (8, 11), False: (1, 3)}
"""Steps of making up, in voiced sound or not, at which half and at which all of it is faded: voiced from 30 ms on
by .08 and then .16 a step, the rest by .4 a step at once (expand.cc, `mute_slope`). Half faded, it goes on until half
of the target is held (`PostponeDecode`)."""
GIVE_UP_STEPS = 100
"""Steps of making up after which the next frame is played whatever it is (`kReinitAfterExpands`)."""
MERGED = TICK_RATE // 1000
"""Ticks saved where made-up sound and speech are laid over each other (merge.cc looks for the best lag). Measured in
Chromium, whose concealed samples are 96 % of those lost, in holes of 22 ms."""


class Kind(IntEnum):
    """What a step of playout was."""

    PLAYED = 0
    CONCEALED = 1
    """Made up by the receiver where speech was expected, and heard."""
    MUTED = 2
    """Made up and faded to nothing: silence."""
    QUIET = 3
    """Nothing was expected: silence packets, or no packet yet."""


@dataclass(frozen=True, slots=True)
class Block:
    """A frame as it arrives: alone, or a copy inside a later packet."""

    timestamp: int
    ticks: int
    quiet: bool = False
    """A silence packet: until the next one nothing is expected."""


class Receiver:
    """One listener's jitter buffer. `arrive` and `play` are called in the order of time, `play` every 10 ms."""

    def __init__(self, *, seed: int = 0) -> None:
        """`seed`: of whether holes begin in voiced sound."""
        self._random = random.Random(f"{seed} voiced")
        self._faded = FADED_STEPS[True]
        self.target = DelayTarget()
        self._order: list[int] = []
        """RTP times of the frames held, rising."""
        self._blocks: dict[int, Block] = {}
        self._next: int | None = None
        """RTP time at which what was decoded ends; None until the first packet."""
        self._left = 0
        """Ticks decoded and not yet played."""
        self._playing: Block | None = None
        self._made_up = 0
        """Steps made up since speech was last played."""
        self._quiet = True
        self._noise = 0
        """Ticks of quiet since `_next`; negative while a silence packet still lasts."""
        self._since_stretch = 0
        self._newest_arrival = 0.0
        self.decoded: list[int] = []
        """RTP times of the speech frames that were played, in order."""
        self.flushes = 0
        self.merged_ticks = 0
        """To be taken off what was made up: NetEq counts so (`ExpandedVoiceSamplesCorrection`)."""

    @property
    def position(self) -> int | None:
        """RTP time of the next sample to be played, or None before the first packet."""
        if self._next is None:
            return None
        return self._next + max(0, self._noise) if self._quiet else self._next - self._left

    @property
    def playing(self) -> Block | None:
        """The frame that sounds, or sounded last."""
        return self._playing

    @property
    def held_s(self) -> float:
        """From the first to the last frame held, holes included, and what is decoded."""
        return to_seconds(self._span() + self._left)

    def arrive(self, now: float, frame: Block, copies: tuple[Block, ...] = ()) -> None:
        """A packet with its frame and the copies of earlier frames in it."""
        if self._next is None:
            self._next = frame.timestamp
        self.target.arrived(now, frame.timestamp)
        self._newest_arrival = now
        for block in (*copies, frame):
            if block.timestamp >= self._next and block.timestamp not in self._blocks:
                if len(self._order) >= MOST_PACKETS:
                    self._flush()
                insort(self._order, block.timestamp)
                self._blocks[block.timestamp] = block

    def _flush(self) -> None:
        self._order.clear()
        self._blocks.clear()
        self.flushes += 1

    def play(self, now: float) -> Kind:
        """The next 10 ms, which sound at `now`."""
        if self._next is None:
            return Kind.QUIET
        self._since_stretch += 1
        if self._order and self._order[0] < self._next:
            self._drop_obsolete()
        first = self._order[0] if self._order else None
        if self._quiet:
            return self._play_quiet(now, first)
        if self._made_up:
            return self._after_hole(now, first)
        if self._left < STEP and first != self._next:
            return self._make_up()
        stretched = self._stretched(now) if first == self._next or self._left >= HASTE_TICKS else 0
        return self._play(STEP + stretched)

    def _play_quiet(self, now: float, first: int | None) -> Kind:
        """Comfort noise goes on in the sender's time until speech is due and half of the target is held."""
        assert self._next is not None
        self._noise += STEP
        if first is None:
            return Kind.QUIET
        quiet = self._blocks[first].quiet
        early = first - self._next >= self._noise and self._held_s(now) <= self.target.delay_s + WINDOW_S
        if early or (not quiet and self._held_s(now) < self.target.delay_s / 2):
            return Kind.QUIET
        self._next, self._left = first, 0
        if not quiet:
            self._quiet = False
            return self._play(STEP)
        self._take(first)
        self._left, self._noise = 0, first + STEP - self._next
        return Kind.QUIET

    def _after_hole(self, now: float, first: int | None) -> Kind:
        assert self._next is not None
        if first is None:
            return self._make_up()
        if self._blocks[first].quiet:
            self._made_up, self._quiet, self._noise = 0, True, self._made_up * STEP
            return self._play_quiet(now, first)
        postponed = self._made_up >= self._faded[0] and self._held_s(now) < self.target.delay_s / 2
        if self._made_up < GIVE_UP_STEPS:
            early = first - self._next > self._made_up * STEP
            if postponed or (early and self._held_s(now) <= self.target.delay_s + WINDOW_S):
                return self._make_up()
        merges = first != self._next and self._made_up < GIVE_UP_STEPS
        self._next, self._made_up = first, 0
        if merges:
            self._take(first)
            self._left = max(0, self._left - MERGED)
            self.merged_ticks += MERGED
        return self._play(STEP)

    def _make_up(self) -> Kind:
        if not self._made_up:
            self._faded = FADED_STEPS[self._random.random() < VOICED]
        self._made_up += 1
        return Kind.MUTED if self._made_up > self._faded[1] else Kind.CONCEALED

    def _play(self, ticks: int) -> Kind:
        """Plays a step that uses up `ticks` of speech, decoding what it needs."""
        while self._left < ticks and self._order and self._order[0] == self._next:
            self._take(self._next)
        self._left = max(0, self._left - ticks)
        if self._playing is not None and self._playing.quiet:
            self._quiet, self._noise, self._left = True, STEP - self._left, 0
            return Kind.QUIET
        return Kind.PLAYED

    def _take(self, timestamp: int) -> None:
        """Decodes the first frame held."""
        del self._order[0]
        block = self._blocks.pop(timestamp)
        self._playing = block
        self._next = timestamp + block.ticks
        self._left += block.ticks
        if not block.quiet:
            self.decoded.append(timestamp)

    def _stretched(self, now: float) -> int:
        """Ticks of speech that this step uses beyond its own: more to hasten, fewer to slow down."""
        assert self._next is not None
        delay_s = self.target.delay_of(now, self._next - self._left)
        low = self.target.delay_s
        high = low + self.target.largest_s + HYSTERESIS_S
        if delay_s >= FAR * high:
            return STRETCH if self._may_stretch(FAST_STEPS, HASTE_TICKS) else 0
        if delay_s >= high:
            return STRETCH if self._may_stretch(HASTE_STEPS, HASTE_TICKS) else 0
        return -STRETCH if delay_s < low and self._may_stretch(SLOW_STEPS, SLOW_TICKS) else 0

    def _may_stretch(self, steps: int, ticks: int) -> bool:
        """Whether a stretch may begin, `steps` after the one before and with `ticks` at hand; it then does."""
        if self._since_stretch < steps:
            return False
        assert self._next is not None
        at_hand, expected = self._left, self._next
        for timestamp in self._order:
            if at_hand >= ticks or timestamp != expected:
                break
            at_hand += self._blocks[timestamp].ticks
            expected += self._blocks[timestamp].ticks
        if at_hand < ticks:
            return False
        self._since_stretch = 0
        return True

    def _span(self) -> int:
        if not self._order:
            return 0
        last = self._blocks[self._order[-1]]
        return last.timestamp + (0 if last.quiet else last.ticks) - self._order[0]

    def _held_s(self, now: float) -> float:
        """What is held, and how long its newest packet has been there (`span_samples_wait_time`)."""
        return to_seconds(self._span()) + now - self._newest_arrival

    def _drop_obsolete(self) -> None:
        assert self._next is not None
        late = bisect_left(self._order, self._next)
        for timestamp in self._order[:late]:
            del self._blocks[timestamp]
        del self._order[:late]
