"""What the audio track takes, frame by frame as it sounds; what never arrived in an outage is taken again."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from adaptive.control.profiles import Keep
from adaptive.speech.voice import Samples
from adaptive.ticks import to_ticks
from adaptive.utterance.fade import padded

from ..media.block import Block
from .heard import HeardEvents
from .run_in import RunIn
from .skipping import Skipping
from .turns import Turns
from .utterance import Utterance

OVER = "over"
"""The name under which the end of an utterance waits among what is told when it is heard."""

LINGER_TICKS, FINISH_TICKS = to_ticks(0.25), to_ticks(0.8)
"""Speech that is to be held goes on for so long, and then to the end of the word, if that takes no longer in all: many
silences are over by then, and where nothing was lost there is nothing to mend."""
LOST_TICKS = to_ticks(0.2)
"""Less than this may be lost in one piece without anything being said again: a receiver makes it up."""

DOUBT_S = 0.25
"""Without a sign of the listener for so long, nothing is told as heard that is not known to have arrived."""
SILENT_S = 0.55
"""The same for the position, which cannot be told later: where one ping of twenty is lost, .5 s are nothing unusual."""

Tell = Callable[[str, Utterance, dict[str, Any]], None]
HeardOut = Callable[[Utterance], None]
Played = Callable[[Utterance], int]
Told = tuple[str, Utterance, dict[str, Any]]


class Live:
    """One listener's; the counterpart of `Ahead`. Used from the event loop only."""

    def __init__(
        self, turns: Turns, *, clock: Callable[[], float], tell: Tell, heard_out: HeardOut, played: Played
    ) -> None:
        """`heard_out`: nothing of an utterance is left to be heard. `played`: what the data track played of it."""
        self.delay_s = 0.0
        """A frame is heard so long after it is taken."""
        self._turns = turns
        self._clock = clock
        self._tell = tell
        self._heard_out = heard_out
        self._played = played
        self._events = HeardEvents(self._told, clock=clock)
        self._run_in = RunIn()
        self._on = False
        self._tail: Block | None = None
        """The last 5 ms of what was cut off, to go out with the next frame."""
        self._over: list[Utterance] = []
        """Of which everything left that is not heard out."""
        self._late: list[Told] = []
        """What should have been heard, and may not have arrived."""
        self._until: float | None = None
        """What left by then arrived; None where nobody says so."""
        self._watched = False
        self._sign_at = 0.0
        self._finishing: tuple[Utterance, int] | None = None
        """It is held when this tick of it was taken."""
        self._held_at: float | None = None
        self._skipping = Skipping(turns, clock=clock)

    @property
    def busy(self) -> bool:
        """Something is on its way that an outage would cut off."""
        current = self._turns.current
        return self._on and (bool(self._over) or (current is not None and current.pipeline.begun))

    @property
    def held_at(self) -> float | None:
        """Since when nothing is taken; None where it is, be it only to the end of a word."""
        return self._held_at

    @property
    def silent(self) -> bool:
        """Nothing that was taken is still to be heard."""
        return not self._over and self._tail is None

    def switch(self, on: bool) -> None:
        """Speech is taken here from now on, or is not."""
        if self._held_at is not None and self._on and not on:
            self._settle()
        self._on = on

    def take(self, ticks: int) -> Block | None:
        """Exactly the next `ticks` samples; None where there is nothing to say at present."""
        if self._tail is not None:
            tail, self._tail = self._tail, None
            return replace(tail, samples=padded(tail.samples, ticks))
        current = self._turns.current
        if current is None or not self._on or self._held_at is not None or not self._turns.here(current):
            self._run_in.resting = True
            return None
        now, start = self._clock(), current.pipeline.taken
        if self._finishing is not None:
            return self._finish(current, ticks, now)
        samples = None if self._run_in.resting else current.pipeline.take(ticks, now)
        if samples is None:
            return self._run_in.block(ticks, now, utterance=current.id, start=start, paused=current.pipeline.paused)
        return self._taken(current, samples, start, now)

    def over(self, utterance: Utterance) -> None:
        """Every sample of it left: it is over when the last one is heard."""
        self._over.append(utterance)
        self._events.add(self._clock() + self.delay_s + utterance.last_frame_s, OVER, utterance, {})

    def position(self, utterance: Utterance) -> int:
        """Last tick of it heard, on either carrier; what was heard for certain is given up."""
        now = self._clock()
        position = utterance.position(now, self.delay_s) if self._held_at is None else self._arrived(utterance)
        if self._silent(SILENT_S):
            position = min(position, self._arrived(utterance))
        utterance.certain(position if self._until is None else min(position, self._arrived(utterance)))
        utterance.clock.forget(now - self.delay_s if self._until is None else min(self._until, now - self.delay_s))
        return max(position, self._played(utterance))

    def arrived(self, until: float | None, *, watched: bool) -> None:
        """A sign of the listener: what left until then (monotonic seconds) reached it; None where that is not known.
        `watched`: an outage would show at once, so nothing is told as heard that may have been lost in one."""
        self._sign_at = self._clock()
        if until is not None and (self._until is None or until > self._until):
            self._until = until
        self._watched = watched
        late, self._late = self._late, []
        for told in late:
            self._told(*told)

    def cut(self, utterance: Utterance) -> None:
        """It ends here, with a fade where it sounds."""
        start = utterance.pipeline.taken
        self._fade(utterance.id, start, utterance.pipeline.cut())
        self._events.drop(utterance)

    def cut_into(self, utterance: Utterance) -> None:
        """Something urgent comes first; it goes on later, at the word of which not everything left."""
        pipeline = utterance.pipeline
        self._fade(utterance.id, pipeline.taken, pipeline.fall())
        pipeline.rewind(utterance.text.word_at(pipeline.taken))
        self._turns.give_way()
        if utterance.started:
            utterance.cut_into = True
            self._tell("paused", utterance, {"reason": "urgent"})

    def hold(self, *, finish: bool = False) -> None:
        """Nobody hears it from now on: nothing is taken, and what is not known to have arrived is to be taken again
        where that is wanted. `finish`: not before the end of a word, so that nothing has to be repeated if it was only
        late."""
        if self._held_at is not None or (finish and self._finishing is not None):
            return
        current = self._turns.current
        if finish and self._on and current is not None and current.pipeline.begun and current.keep is not Keep.SKIP:
            start = current.pipeline.taken
            self._finishing = current, min(current.text.word_end(start + LINGER_TICKS), start + FINISH_TICKS)
        else:
            self._hold()

    def lost(self, after: float, until: float) -> bool:
        """What left after `after` (monotonic seconds), at `until` the latest, never arrived, though later speech did:
        where a word cannot be made out it goes on from there, as after an outage. Whether it does."""
        if not self._on or self._held_at is not None:
            return False
        current = self._turns.current
        for utterance in [*self._over, *([current] if current is not None else [])]:
            span = utterance.clock.within(after, until)
            if span is None or span[1] - span[0] < LOST_TICKS or utterance.keep is Keep.SKIP:
                continue
            if utterance.text.misses(*span, most=LOST_TICKS):
                self._until = after
                self._hold()
                self.go_on()
                return True
        return False

    def _hold(self) -> None:
        self._finishing = None
        self._held_at = self._clock()
        self._skipping.begin()
        self._turns.held = True
        if not self._on:
            return
        if (current := self._turns.current) is not None:
            self._fade(current.id, current.pipeline.taken, current.pipeline.fall(), speech=False)  # is never copied
        again = [utterance for utterance in self._over if not self._believed(OVER, utterance, {})]
        if current is not None and current.pipeline.begun and current.keep is not Keep.SKIP:
            again.append(current)
        late, self._late = self._late, []
        for name, utterance, data in late:
            self._events.add(self._clock(), name, utterance, data)
        for utterance in dict.fromkeys([*again, *self._turns]):
            heard = self._arrived(utterance)
            self._events.take_back(utterance, heard)
            if utterance in again:
                utterance.rewind(heard)
        self._over = [utterance for utterance in self._over if utterance not in again]
        if again:
            self._turns.put_back(again)
        self._skipping.step()

    def go_on(self) -> None:
        """It is heard again. What is known by now to have arrived is not said again."""
        self._finishing = None
        if self._held_at is None:
            return
        if self._on:
            self._skipping.step()
            self._settle()
        self._skipping.stop()
        self._held_at, self._turns.held = None, False
        self._turns.advance()

    def close(self) -> None:
        """Tells nothing any more."""
        self._on, self._tail, self._finishing = False, None, None
        self._over.clear()
        self._late.clear()
        self._events.close()
        self._skipping.stop()

    def _taken(self, current: Utterance, samples: Samples, start: int, now: float) -> Block:
        self._run_in.sounded(now)
        if current.pipeline.taken > start:
            if not current.started:
                current.started = True
                self._tell("started", current, {"voice": current.voice})
            if current.cut_into:
                current.cut_into = False
                self._events.add(now + self.delay_s, "resumed", current, {"position": start, "reason": "urgent"})
            self._events.left(current, start, now, delay_s=self.delay_s)
        self._turns.advance()
        return Block(samples, current.id, start)

    def _finish(self, current: Utterance, ticks: int, now: float) -> Block | None:
        """The rest of the word after which speech is held, in frames; the last one is filled up with silence."""
        assert self._finishing is not None
        utterance, end = self._finishing
        start = current.pipeline.taken
        left = end - start if current is utterance else 0
        samples = current.pipeline.take(min(ticks, left), now) if left > 0 else None
        if samples is None:
            self._hold()
            return self.take(ticks)
        if left <= ticks:
            samples = padded(np.concatenate((samples, current.pipeline.fall()))[:ticks], ticks)
        block = self._taken(current, samples, start, now)
        if left <= ticks:
            self._hold()
        return block

    def _fade(self, id: str, start: int, tail: Samples, *, speech: bool = True) -> None:
        if len(tail) and self._on:
            self._tail = Block(tail, id, start, speech=speech)

    def _arrived(self, utterance: Utterance) -> int:
        """Tick up to which it is known to have arrived, or taken to be heard where nobody says what arrived."""
        if self._until is not None:
            return max(utterance.reached, utterance.clock.arrived(self._until))
        return utterance.position(self._clock() if self._held_at is None else self._held_at, self.delay_s)

    def _silent(self, for_s: float) -> bool:
        """Signs of the listener fail to come, which say what arrived."""
        return self._watched and self._until is not None and self._clock() - self._sign_at > for_s

    def _believed(self, name: str, utterance: Utterance, data: dict[str, Any]) -> bool:
        """Whether what should have been heard was; the end of an utterance has to be known."""
        if not self._watched or self._until is None or (name == OVER and utterance.keep is Keep.SKIP):
            return True
        if name != OVER and (self._held_at is not None or not self._silent(DOUBT_S)):
            return True
        return self._arrived(utterance) >= data.get("position", utterance.pipeline.taken)

    def _told(self, name: str, utterance: Utterance, data: dict[str, Any]) -> None:
        if not self._believed(name, utterance, data):
            self._late.append((name, utterance, data))
        elif name == OVER:
            self._over = [one for one in self._over if one is not utterance]
            self._heard_out(utterance)
        else:
            self._tell(name, utterance, data)

    def _settle(self) -> None:
        """Everything that was on its way has arrived, or never will."""
        for utterance in self._turns:
            if utterance.keep is Keep.SKIP:
                heard = utterance.pipeline.taken
            else:
                heard = self._arrived(utterance)
                for tick, (name, data) in utterance.marks.until(heard):
                    self._tell(name, utterance, {"position": tick, **data})
                taken_up = utterance.text.taken_up(utterance.keep, heard)
                utterance.pipeline.skip(max(taken_up - utterance.pipeline.taken, 0))
            utterance.clock.restart(heard)
