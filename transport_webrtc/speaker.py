"""The speaker of one listener: takes texts, has them rendered, and hands the speech to the carrier frame by frame."""

import secrets
import time
from collections.abc import Callable
from typing import Any

from adaptive.control.plan import Plan
from adaptive.control.profiles import Profile
from adaptive.control.reports import ComputeReport, ContentReport
from adaptive.speech.renderer import ClausePrepared, Noticed, Renderer, RenderEvent
from adaptive.utterance import State

from .media.block import Block
from .messages import Accepted, Limits, Refused, SayMessage
from .speaking.admission import check_later, check_length, check_text, profile_of, voice_of
from .speaking.ahead import Ahead, Place
from .speaking.live import Live
from .speaking.past import Past
from .speaking.reports import compute_report, content_report
from .speaking.switches import switches
from .speaking.tally import Tally
from .speaking.turns import Turns
from .speaking.utterance import Utterance

Emit = Callable[[str, str | None, dict[str, Any]], None]


class Speaker:
    """Used from the event loop only.

    `emit(name, id, data)` is told what happens; `data` holds `position` (last tick heard) where there is an utterance.
    `wake` (it may be set later) is called when something can be taken after nothing could. `clock` gives monotonic
    seconds.
    """

    def __init__(
        self,
        *,
        renderer: Renderer,
        profile: Profile,
        voice: str,
        emit: Emit,
        clock: Callable[[], float] = time.monotonic,
        limits: Limits | None = None,
        wake: Callable[[], None] | None = None,
    ) -> None:
        self.wake = wake
        self._renderer, self._profile, self._voice = renderer, profile, voice
        self._emit = emit
        self._clock = clock
        self._limits = limits or Limits()
        self.turns = Turns(renderer=renderer, clock=clock, told=self._told, over=self._over, wake=self._woken)
        """Whose turn it is."""
        self.ahead = Ahead(self.turns, clock=clock, tell=self._tell, heard_out=self._ended)
        """What the data track took."""
        self.live = Live(self.turns, clock=clock, tell=self._tell, heard_out=self._ended, played=self.ahead.played)
        """What the audio track took."""
        self._tally = Tally()
        self._past = Past()
        self._plan: Plan | None = None
        self._connected = False
        self._away = False

    def say(self, message: SayMessage) -> Accepted:
        """Queues it, or adds to it where its id is known and open; an id that is known and closed changes nothing.

        Raises Refused with status 413 (too long), 422 (empty, unknown voice or profile) or 429 (too many wait).
        """
        if message.id is not None and (accepted := self._again(message.id, message)) is not None:
            return accepted
        check_text(message)
        check_length(len(message.say), self._limits.max_text_chars)
        profile = profile_of(message, self._profile)
        voice = voice_of(message, self._voice, self._renderer)
        sounding, waiting = self.ahead.sounding, self.turns.waiting
        check_later(message, (utterance.not_before - self._clock() for utterance in waiting))
        if message.interrupt and sounding is not None:
            self._interrupt(sounding)
        elif len(waiting) >= self._limits.max_waiting:
            raise Refused(429, f"{len(waiting)} utterances are waiting already; say it again when one has ended.")
        priority = profile.priority if message.priority is None else message.priority
        urgent = sounding is not None and not message.at and priority > sounding.priority
        before = 0 if urgent else len(self.ahead.everyone) - len(waiting)
        place = 0 if message.interrupt else waiting.place(priority) + before
        accepted = Accepted(id=message.id or secrets.token_urlsafe(9), place=place)
        info, now = next((info for info in self._renderer.status().voices if info.name == voice), None), self._clock()
        utterance = Utterance(message=message, accepted=accepted, profile=profile, voice=voice, info=info, now=now)
        self.turns.add(utterance, first=message.interrupt)
        self._emit("queued", accepted.id, {"position": 0, "place": place})
        if urgent and sounding is not None:
            (self.ahead if sounding in self.ahead else self.live).cut_into(sounding)
        self.turns.advance()
        self.ahead.make_way()
        return accepted

    def stop(self, id: str | None = None) -> None:
        """Silence: cuts off what sounds and drops what waits; with an id, that utterance alone. Raises Refused."""
        for utterance in self._meant(id, self.ahead.everyone):
            self._interrupt(utterance)
        self.turns.advance()

    def clear(self, id: str | None = None) -> None:
        """Drops what waits, or the one of it that is meant; what has its turn goes on. Raises Refused."""
        if id is not None and self.ahead.sounding is not None and id == self.ahead.sounding.id:
            raise Refused(409, f"The utterance {id!r} has its turn already; stop it instead.")
        for utterance in self._meant(id, self.ahead.everyone[self.ahead.sounding is not None :]):
            self._interrupt(utterance)
        self.turns.advance()

    def pause(self, id: str | None = None) -> None:
        """Holds what has its turn, or the utterance that is meant; those behind it wait. Raises Refused."""
        for utterance in self._meant(id, self.ahead.everyone[:1]):
            if not utterance.pipeline.paused:
                if utterance in self.ahead:
                    self.ahead.recall()
                utterance.pipeline.pause()
                self._tell("paused", utterance, {"reason": "asked"})

    def resume(self, id: str | None = None) -> None:
        """Ends `pause`. Raises Refused."""
        for utterance in self._meant(id, self.ahead.everyone[:1]):
            if utterance.pipeline.paused:
                utterance.pipeline.resume()
                self._tell("resumed", utterance, {"reason": "asked"})
        self._wake_carrier()

    def connected(self) -> None:
        """There is somebody to hear it: sounding begins. What was said before has waited."""
        self._connected = self.turns.connected = True
        self.live.switch(not self.ahead.on)
        self.turns.advance()
        self._wake_carrier()

    def carry_ahead(self, on: bool, *, stopped_at: Place | None = None) -> None:
        """The data track takes what is said from now on, or the audio track does; nothing of it is lost or repeated.
        `stopped_at`: where the player stopped, if that is known."""
        if on == self.ahead.on:
            return
        now = self._clock()
        self.ahead.recall(stopped_at)
        self.ahead.stopped = False
        self.ahead.on = self.turns.ahead_of_time = on
        self.live.switch(self._connected and not on)
        self.ahead.quiet_until = now + self.live.delay_s
        current = self.turns.current
        if current is not None and current.not_before > now:
            self.turns.give_way()
        self.turns.advance()
        self._wake_carrier()

    def away(self, reason: str, *, finish: bool = False) -> None:
        """Nobody hears it from now on: nothing is taken, what did not arrive will be, and all that is told of it is
        `paused` with that reason. A player that was sent speech ahead plays on. `finish`: on the audio track
        not before the end of a word."""
        self.live.hold(finish=finish)
        if self._away:
            return
        self._away = True
        if (sounding := self.ahead.sounding) is not None and sounding.started:
            self._tell("paused", sounding, {"reason": reason})

    def back(self, reason: str, *, stopped_at: Place | None = None, kept: bool = False) -> None:
        """Ends `away`: each utterance goes on by its `keep`. `stopped_at`: where a player of the data track is; one
        that plays goes on there, by itself if what it has is `kept`; one that ran out at the word. Else as known."""
        if not self._away:
            return
        self._away = False
        self.live.go_on()
        self.ahead.take_up(stopped_at, kept=kept)
        if (sounding := self.ahead.sounding) is not None and sounding.started:
            self._tell("resumed", sounding, {"reason": reason})
        self._wake_carrier()

    def take(self, ticks: int) -> Block | None:
        """For the audio track, exactly the next `ticks` samples; None where there is nothing to say at present."""
        return self.live.take(ticks)

    def heard(self, delay_s: float) -> None:
        """A frame is heard `delay_s` seconds after it is taken."""
        self.live.delay_s = max(delay_s, 0.0)

    def steer(self, plan: Plan) -> None:
        """Follows a new plan from the next chunk on, and tells what it changes in the frames at once."""
        before, self._plan = self._plan, plan
        self.turns.steer(plan)
        if before is None:
            return
        sounding = self.ahead.sounding
        for data in switches(before, plan):
            self._tell("switched", sounding, data) if sounding is not None else self._emit("switched", None, data)

    def compute_report(self, now: float) -> ComputeReport:
        """What rendering costs, and how much is ready."""
        status, lead_s = self._renderer.status(), self.ahead.lead_s
        return compute_report(now, self.turns.current, status, self._voice, lead_s=lead_s)

    def content_report(self, now: float) -> ContentReport:
        """Pauses ahead and what remains."""
        return content_report(now, None if self._away else self.turns.current)

    def position(self) -> int | None:
        """Last tick heard of the utterance that sounds."""
        sounding = self.ahead.sounding
        return None if sounding is None else self.live.position(sounding)

    def snapshot(self) -> dict[str, Any]:
        """What it is doing, for the listener's snapshot."""
        current = self.ahead.sounding
        position = 0 if current is None else self.live.position(current)
        queue = [utterance.id for utterance in self.ahead.everyone if utterance is not current]
        return {
            "speaking": current and current.as_dict(position, away=self._away),
            "queue": queue,
            **self._tally.as_dict(current.pipeline.stats if current else None),
        }

    def close(self) -> None:
        """Ends everything and tells nothing more."""
        self._connected = False
        self.live.close()
        self.ahead.close()
        self.turns.close()

    def _again(self, id: str, message: SayMessage) -> Accepted | None:
        """The answer to an id that is known."""
        known = next((utterance for utterance in self.ahead.everyone if utterance.id == id), None)
        if known is None:
            return self._past.get(id)
        if known.open and (message.say or not message.more):
            check_length(known.characters + len(message.say), self._limits.max_text_chars)
            known.add(message.say, final=not message.more)
            self.turns.advance()
        return known.accepted

    def _meant(self, id: str | None, otherwise: list[Utterance]) -> list[Utterance]:
        """The utterance `id`, none where it is over, or `otherwise` where none was named."""
        if id is None:
            return otherwise
        meant = [utterance for utterance in self.ahead.everyone if utterance.id == id]
        if not meant and id not in self._past:
            raise Refused(404, f"There is no utterance {id!r} here.")
        return meant

    def _told(self, utterance: Utterance, event: RenderEvent) -> None:
        if isinstance(event, ClausePrepared):
            words = [{"text": w.text, "start": w.start, "end": w.end, "estimated": w.estimated} for w in event.words]
            self._tell("marks", utterance, {"clause": event.text, "words": words})
        elif isinstance(event, Noticed):
            self._tell("noticed", utterance, {"message": event.message})

    def _over(self, utterance: Utterance) -> None:
        """Every sample of it left, or it failed: told when the last one is heard."""
        self._past.add(utterance.accepted)
        if utterance not in self.ahead:
            self.live.over(utterance)

    def _ended(self, utterance: Utterance) -> None:
        """Its last sample is heard."""
        name, state = ("failed", State.ERROR) if utterance.failure is not None else ("finished", State.COMPLETED)
        self._forget(utterance, state)
        ticks, failure = utterance.pipeline.total, utterance.failure
        data = {"position": ticks, **({"ticks": ticks} if failure is None else {"message": failure})}
        self._emit(name, utterance.id, data)
        self.ahead.make_way()
        self.turns.on_turn()

    def _interrupt(self, utterance: Utterance) -> None:
        """Cuts it off: nothing of it leaves after the next frame, and nothing more is told of it but this."""
        if utterance in self.ahead:
            self.ahead.recall()
        position = self.live.position(utterance)
        self.live.cut(utterance)
        self.turns.drop(utterance)
        self._forget(utterance, State.INTERRUPTED)
        self._emit("interrupted", utterance.id, {"position": position, "heard": utterance.heard_text(position)})
        self._wake_carrier()

    def _forget(self, utterance: Utterance, state: State) -> None:
        move = utterance.life.reach if state is State.COMPLETED else utterance.life.move
        move(state)
        self._tally.add(state, utterance.pipeline.stats)
        self._past.add(utterance.accepted)

    def _tell(self, name: str, utterance: Utterance, data: dict[str, Any]) -> None:
        if not (self.ahead.on and "position" in data):  # on the audio track asking for it is what lets go of the past
            data = {"position": self.live.position(utterance), **data}
        self._emit(name, utterance.id, data)

    def _woken(self) -> None:
        self.ahead.make_way()
        self.turns.on_turn()
        self._wake_carrier()

    def _wake_carrier(self) -> None:
        if self.ahead.on and self.ahead.player is not None:
            self.ahead.player.wake()
        elif self.wake is not None:
            self.wake()
