"""One utterance of a listener, from its acceptance to its last sample."""

import asyncio
import logging
import secrets
from collections.abc import Callable
from typing import Any

from adaptive.control.plan import Carrier
from adaptive.control.profiles import Keep, Profile
from adaptive.speech.renderer import (
    Chunk,
    ClausePrepared,
    Rendered,
    Renderer,
    RenderEvent,
    RenderFailed,
    RenderJob,
    RenderStream,
)
from adaptive.speech.voice import VoiceInfo
from adaptive.ticks import to_seconds, to_ticks
from adaptive.utterance import HeardClock, Life, Pipeline, Sounding, State, Text, Timeline, heard_text
from adaptive.utterance.pipeline import KEEP_TICKS

from ..messages import Accepted, SayMessage

GRANT_STEP = to_ticks(0.1)
"""The renderer is granted more in steps of this, so that not every frame sends it a message."""

PREFILL = to_ticks(0.02)
"""Kept of what was heard: an encoder that takes up speech in its midst is given so much of what came before."""

KEPT_BEYOND_S = 2.0
"""Kept beyond the lead, since what is sent ahead may have to be sent once more."""

TICKS_PER_CHARACTER = to_ticks(0.065)
"""What a character is taken to last before any of the utterance was rendered: about 15 a second in English speech."""

_log = logging.getLogger(__name__)


class Utterance:
    """Holds what belongs to one utterance; its speaker decides when it renders and when it sounds."""

    def __init__(
        self,
        *,
        message: SayMessage,
        accepted: Accepted,
        profile: Profile,
        voice: str,
        info: VoiceInfo | None,
        now: float,
    ) -> None:
        self.accepted = accepted
        self.id = accepted.id
        self.profile = profile
        self.voice = voice
        self.info = info
        """None for a voice that its renderer loads when it is asked for it."""
        self.speed = message.speed
        self.priority = profile.priority if message.priority is None else message.priority
        self.keep = profile.keep if message.keep is None else message.keep
        self.carrier = None if message.carrier == "auto" else Carrier(message.carrier)
        """Asked for, for its turn; None is the listener's."""
        self.not_before = now + message.at
        self.open = message.more
        self.rank = (0, 0)
        """Its place among those that wait."""
        self.reached = 0
        """Tick up to which the player of the data track said it was heard."""
        self.cut_into = False
        """Something urgent came in between; it goes on after that."""
        self.characters = len(message.say)
        self.failure: str | None = None
        self.started = False
        """Its first samples went out."""
        self.last_frame_s = 0.0
        """How long the frame lasts in which it ended, after it left."""
        self.life = Life()
        self.clock = HeardClock()
        self.marks: Timeline[tuple[str, dict[str, Any]]] = Timeline()
        """Events of the utterance by the tick at which they are heard."""
        self.pipeline = Pipeline(
            target=to_ticks(profile.ready_s),
            limit=to_ticks(profile.ready_limit_s),
            keep=max(KEEP_TICKS, to_ticks(profile.lead_s + KEPT_BEYOND_S)),
        )
        self.pipeline.text_open = message.more
        self.text = Text()
        self.pauses: list[tuple[int, int]] = []
        """Silence between clauses, from tick to tick, as far as it is rendered."""
        self._prepared_ticks = 0
        self._prepared_characters = 0
        self._pieces = [(message.say, not message.more)]
        self._stream: RenderStream | None = None
        self._task: asyncio.Task[None] | None = None
        self._granted = 0
        self._speaking: str | None = None
        self._tier: str | None = None
        """The voice of the newest chunk, and its tier."""

    @property
    def rendering(self) -> bool:
        """It was begun, and more of it is still to be rendered."""
        return self._stream is not None and self.pipeline.total is None

    @property
    def begun(self) -> bool:
        """Its text went to the renderer, or could not."""
        return self._stream is not None or self.failure is not None

    @property
    def sounding(self) -> Sounding:
        """What the listener gets of it."""
        if self.pipeline.paused:
            return Sounding.PAUSED
        return Sounding.SOUNDING if self.started else Sounding.QUEUED

    @property
    def remaining_s(self) -> float | None:
        """Speech still to be sent, estimated from the characters where it is not rendered; None while text is open."""
        if self.pipeline.total is not None:
            return to_seconds(self.pipeline.ready)
        if self.open:
            return None
        known = self._prepared_characters > 0
        rate = self._prepared_ticks / self._prepared_characters if known else TICKS_PER_CHARACTER / self.speed
        unprepared = max(self.characters - self._prepared_characters, 0)
        return to_seconds(max(round(self._prepared_ticks + unprepared * rate) - self.pipeline.taken, 0))

    def begin(self, renderer: Renderer, told: Callable[["Utterance", RenderEvent], None], job: RenderJob) -> None:
        """Opens its stream and feeds what was said so far; `told` is called with every event. Raises ValueError."""
        self._stream = renderer.open(job)
        for text, final in self._pieces:
            self._stream.feed(text, final=final)
        self._pieces.clear()
        self.life.move(State.TEXT_STREAMING)
        self._task = asyncio.create_task(self._pump(self._stream, told), name=f"utterance {self.id}")

    def job(self, *, tier: str | None, chunk_frames: int | None) -> RenderJob:
        """The job that renders it. Ids of utterances are the clients' own: the job gets one that nobody else has."""
        name = f"{self.id}-{secrets.token_hex(6)}"
        return RenderJob(id=name, voice=self.voice, speed=self.speed, tier=tier, chunk_frames=chunk_frames)

    def add(self, text: str, *, final: bool) -> None:
        """A further piece of its text."""
        self.characters += len(text)
        self.open = not final
        self.pipeline.text_open = not final
        if self._stream is None:
            self._pieces.append((text, final))
        else:
            self._stream.feed(text, final=final)

    def steer(self, *, tier: str, chunk_frames: int | None) -> None:
        """From its next chunk on."""
        if self.rendering and self._stream is not None:
            self._stream.steer(tier=tier, chunk_frames=chunk_frames)

    def grant(self, ahead: int, *, most: int | None = None) -> None:
        """Lets the renderer go on as far as there is room, but not beyond tick `most`; `ahead` is what is ready before
        this utterance, in ticks."""
        if self._stream is None or self.pipeline.total is not None:
            return
        until = self.pipeline.grant(ahead)
        until = until if most is None else min(until, most)
        if until >= self._granted + GRANT_STEP or (until > self._granted and not self.pipeline.ready):
            self._granted = until
            self._stream.grant(until)

    def take_in(self, event: RenderEvent, reason: str) -> None:
        """Keeps what the renderer made; `reason` is that of the plan under which a tier may have changed.

        Raises ValueError for chunks that do not follow one another.
        """
        match event:
            case ClausePrepared():
                self.life.reach(State.ACOUSTIC_PROCESSING)
                self.text.add(event.text, event.words, start=event.start)
                self._prepared_ticks = event.start + event.ticks
                self._prepared_characters += len(event.text)
                for word in event.words:
                    self.marks.add(word.start, ("word", {"text": word.text, "start": word.start, "end": word.end}))
            case Chunk():
                self.life.reach(State.VOCODER_STREAMING)
                self.pipeline.write(event)
                voice = event.voice or self.voice
                if self._speaking not in (None, voice):
                    change = {"kind": "voice", "from": self._speaking, "to": voice, "reason": "language"}
                    self.marks.add(event.start, ("switched", change))
                elif self._tier not in (None, event.tier):
                    change = {"kind": "tier", "from": self._tier, "to": event.tier, "reason": reason}
                    self.marks.add(event.start, ("switched", change))
                self._speaking, self._tier = voice, event.tier
                if event.pause_after:
                    end = event.start + len(event.samples)
                    self.pauses.append((end - event.pause_after, end))
            case Rendered():
                self.pipeline.finish(event.ticks)
            case RenderFailed():
                self.failure = event.message
                self.pipeline.finish(self.pipeline.written)

    def position(self, now: float, delay_s: float) -> int:
        """Last tick heard, where what leaves is heard `delay_s` later."""
        return max(self.reached, self.clock.position(now, delay_s))

    def certain(self, position: int) -> None:
        """It was heard up to there for certain: what is never said again is given up."""
        again = self.text.clause_at(position) if self.keep is Keep.RESTART else self.text.word_at(position)
        self.pipeline.heard(again - PREFILL)

    def rewind(self, heard: int) -> None:
        """It was heard up to there and no further: it is to be taken again from where its `keep` wants it taken up."""
        self.reached = min(self.reached, self.pipeline.rewind(self.text.taken_up(self.keep, heard)))

    def as_dict(self, position: int, *, away: bool) -> dict[str, Any]:
        """What it is doing, for the listener's snapshot; `away`: nobody hears it."""
        return {
            "id": self.id,
            "state": str(self.life.state),
            "sounding": str(Sounding.PAUSED if away else self.sounding),
            "position": position,
            "ready_s": round(to_seconds(self.pipeline.ready), 3),
        }

    def heard_text(self, position: int) -> str:
        """What of its text was heard."""
        return heard_text(self.text.clauses, position)

    def end(self) -> None:
        """Nothing more is wanted of it."""
        if self._stream is not None:
            self._stream.cancel()
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()

    async def _pump(self, stream: RenderStream, told: Callable[["Utterance", RenderEvent], None]) -> None:
        try:
            async for event in stream.events():
                told(self, event)
            if self.pipeline.total is None:
                told(self, RenderFailed(message="The renderer ended before the utterance did."))
        except Exception as error:  # whatever a renderer raises ends at most its own utterance
            _log.exception("utterance %s failed", self.id)
            if self.pipeline.total is None:
                told(self, RenderFailed(message=f"The renderer failed: {error or type(error).__name__}."))
