"""One utterance where it is rendered: its text, its steering, what it may render, and how it is begun anew."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from ..ticks import to_seconds
from .judge import ChunkJudge
from .judged import JudgedVoice
from .renderer import Chunk, RenderEvent
from .stream import nearest_tier
from .voice import Voice
from .worker_messages import Feed, Grant, Made, Open, Steer, Step

PLENTY_S = 0.4
"""An utterance that is rendered this far beyond what can have been played lets others go first."""
URGENT_S = 0.08
"""One that has less than this left may be silent after the next chunk of somebody else."""
HUNGRY_S = 0.8
"""So does one that has been rendered to less than this before its grant, whatever the clock says: it was held up."""


class TextStream(Protocol):
    """What turns the text of one utterance into chunks (`adaptive.speech.stream.SpeechStream`)."""

    done: bool
    position: int

    def feed(self, text: str, *, final: bool) -> None:
        """Adds text."""

    def next(self, *, tier: str, chunk_frames: int | None) -> list[RenderEvent]:
        """Renders at most one chunk; an empty list asks for more text."""
        ...


StreamMaker = Callable[..., TextStream]
"""Called with a voice and keywords `speed` and `seed`, and with `others` where there are more voices."""


class Running:
    """One utterance and its stream. Not safe for threads: one desk owns it."""

    def __init__(
        self,
        opened: Open,
        voice: Voice,
        make: StreamMaker,
        *,
        now: float,
        judge: ChunkJudge | None = None,
        others: Sequence[Voice] = (),
    ) -> None:
        """`judge` looks at every chunk; what it finds bad is rendered again one tier higher, once. `others` may speak
        what `voice` does not."""
        self.number = opened.number
        self.job = opened.job
        self.served = now
        """When it last had its turn."""
        self._voice = voice
        self._make = make
        self._judge = judge
        self._others = tuple(others)
        self._judged: list[JudgedVoice] = []
        self._pieces = list(opened.pieces)
        self._granted = opened.granted
        self._tier = opened.tier or voice.info.tiers[0]
        self._chunk_frames = opened.chunk_frames
        self._steps = list(opened.steps)
        self._tiers = voice.info.tiers
        self._origin: float | None = None
        self._begin()

    def _begin(self) -> None:
        voices: list[Voice] = [self._voice, *self._others]
        if self._judge is not None:
            tiers = [self._tiers, *(other.info.tiers for other in self._others)]
            self._judged = [
                JudgedVoice(voice, self._judge, tiers=own) for voice, own in zip(voices, tiers, strict=True)
            ]
            voices = list(self._judged)
        voice, *others = voices
        more = {"others": others} if others else {}
        self._stream = self._make(voice, speed=self.job.speed, seed=self.job.seed, **more)
        self._fed = 0
        self._repeated = 0
        self._starving = not self._pieces
        self._waiting_since = self.served

    def handle(self, message: Feed | Steer | Grant, now: float) -> None:
        """What the other end wants of it from now on."""
        ready_before = self.ready
        match message:
            case Feed():
                self._pieces.append((message.text, message.final))
                self._starving = False
            case Steer():
                self._tier, self._chunk_frames = message.tier, message.chunk_frames
            case Grant():
                self._granted = message.until
        if self.ready and not ready_before:
            self._waiting_since = now

    @property
    def repeating(self) -> bool:
        """What comes next was delivered before."""
        return self._repeated < len(self._steps)

    @property
    def ready(self) -> bool:
        """There is something to render, and it may be rendered."""
        return self.repeating or (not self._starving and self._stream.position < self._granted)

    def need(self, now: float) -> tuple[int, float]:
        """How much it needs the next turn, the neediest first: those that sound and may be silent soon, by what they
        have left; then those that have not begun or have little, and those with plenty, by how long they have waited.
        """
        if self.repeating:
            return 0, self.served
        if self._origin is None:
            return 1, self.served
        left = to_seconds(self._stream.position) - (now - self._origin)
        hungry = to_seconds(self._granted - self._stream.position) >= HUNGRY_S
        if left < URGENT_S and hungry:
            return 0, left
        return 1 if left < PLENTY_S and hungry else 2, self.served

    def turn(self, clock: Callable[[], float]) -> Made | None:
        """Renders at most one chunk. None where nothing is to be told. Raises whatever the voice raises."""
        begun = clock()
        waited = begun - self._waiting_since
        repeating = self.repeating
        if repeating:
            step = self._steps[self._repeated]
        else:
            step = Step(len(self._pieces), self._usable_tier(), self._chunk_frames)
        for text, final in self._pieces[self._fed : step.feeds]:
            self._stream.feed(text, final=final)
        self._fed = max(self._fed, step.feeds)
        events = self._with_finding(self._stream.next(tier=step.tier, chunk_frames=step.chunk_frames))
        self.served = self._waiting_since = clock()
        if repeating:
            self._repeated += 1
            return None
        if not events:
            if self._pieces[-1][1] and not self._stream.done:
                raise RuntimeError("its text is complete, but nothing more comes of it")
            self._starving = True
            return None
        self._steps.append(step)
        self._repeated += 1
        if self._origin is None:
            starts = [event.start for event in events if isinstance(event, Chunk)]
            self._origin = self.served - to_seconds(starts[0]) if starts else None
        return Made(self.number, tuple(events), step, waited)

    def _with_finding(self, events: list[RenderEvent]) -> list[RenderEvent]:
        """The events of a turn, its chunk with what the judge found in it."""
        findings = [voice.take() for voice in self._judged]
        finding = next(filter(None, findings), None)
        if finding is None:
            return events
        again = finding.tier is not None
        return [
            replace(event, tier=finding.tier or event.tier, fault=finding.fault, again=again)
            if isinstance(event, Chunk)
            else event
            for event in events
        ]

    def give_up_tier(self) -> bool:
        """After a turn that raised: begins anew, to go on without the tier that failed. False where that was done
        before, where there is no other tier, or where what failed now had worked before."""
        tiers = self._voice.info.tiers
        if len(self._tiers) < len(tiers) or len(tiers) < 2 or self.repeating:
            return False
        failed = self._usable_tier()
        self._tiers = tuple(tier for tier in tiers if tier != failed)
        self._begin()
        return True

    def _usable_tier(self) -> str:
        return nearest_tier(replace(self._voice.info, tiers=self._tiers), self._tier)
