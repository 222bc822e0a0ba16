"""An utterance as the media process holds it: what was asked of it, what came of it, and enough to begin it anew."""

import asyncio
from collections.abc import AsyncIterator, Callable

from .renderer import Chunk, Rendered, RenderEvent, RenderFailed, RenderJob
from .worker_messages import Cancel, Feed, Grant, Made, Open, Steer, Step, ToDesk

Send = Callable[[ToDesk], None]


class JobStream:
    """A `RenderStream`. Belongs to the event loop of its renderer.

    It remembers its text and the steps that made what was delivered until it ends, so that any desk can take it over
    where it stands; `send` leads to the desk that has it, None while no desk does.
    """

    def __init__(self, number: int, job: RenderJob, *, on_end: Callable[["JobStream"], None]) -> None:
        self.number = number
        self.job = job
        self.deaths = 0
        """How many workers died while they rendered it."""
        self.send: Send | None = None
        self._on_end = on_end
        self._pieces: list[tuple[str, bool]] = []
        self._tier = job.tier
        self._chunk_frames = job.chunk_frames
        self._granted = 0
        self._steps: list[Step] = []
        self._ended = False
        self._events: asyncio.Queue[RenderEvent | None] = asyncio.Queue()

    def feed(self, text: str, *, final: bool) -> None:
        """Adds text. Raises ValueError after the last piece; what comes after its end is ignored."""
        if self._ended:
            return
        if self._pieces and self._pieces[-1][1]:
            raise ValueError(f"the text of {self.job.id} is complete; nothing can be added to it")
        self._pieces.append((text, final))
        self._tell(Feed(self.number, text, final))

    def steer(self, *, tier: str, chunk_frames: int | None) -> None:
        """From the next chunk on."""
        if (tier, chunk_frames) != (self._tier, self._chunk_frames):
            self._tier, self._chunk_frames = tier, chunk_frames
            self._tell(Steer(self.number, tier, chunk_frames))

    def grant(self, until: int) -> None:
        """Chunks that begin before tick `until` may be rendered; before the first grant, none."""
        if until != self._granted:
            self._granted = until
            self._tell(Grant(self.number, until))

    async def events(self) -> AsyncIterator[RenderEvent]:
        """What comes of it, in order, each event once."""
        while (event := await self._events.get()) is not None:
            yield event
        self._events.put_nowait(None)  # for whoever asks again

    def cancel(self) -> None:
        """Stops it; nothing more comes out, not even what is waiting to be taken."""
        if self._ended:
            return
        self._tell(Cancel(self.number))
        while not self._events.empty():
            self._events.get_nowait()
        self._end()

    def opening(self) -> Open:
        """What a desk needs to go on where it stands."""
        return Open(
            number=self.number,
            job=self.job,
            pieces=tuple(self._pieces),
            granted=self._granted,
            tier=self._tier,
            chunk_frames=self._chunk_frames,
            steps=tuple(self._steps),
        )

    def deliver(self, made: Made) -> list[Chunk]:
        """Takes what a desk made, and returns the chunks in it."""
        if self._ended:
            return []
        if made.step is not None:
            self._steps.append(made.step)
        for event in made.events:
            self._events.put_nowait(event)
        if isinstance(made.events[-1], Rendered | RenderFailed):
            self._end()
        return [event for event in made.events if isinstance(event, Chunk)]

    def fail(self, message: str) -> None:
        """Ends it with a sentence, unless it has ended."""
        if not self._ended:
            self._events.put_nowait(RenderFailed(message=message))
            self._end()

    def _tell(self, message: ToDesk) -> None:
        if self.send is not None:
            self.send(message)

    def _end(self) -> None:
        self._ended = True
        self._events.put_nowait(None)
        self._on_end(self)
