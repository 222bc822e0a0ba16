"""Renders in this process, in a thread: for tests and notebooks. A voice that crashes takes the process with it."""

import asyncio
import itertools
import queue
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial

from .costs import Costs
from .desk import Desk
from .job_stream import JobStream
from .judge import ChunkJudge, PlainJudge
from .renderer import RendererStatus, RenderJob
from .running import StreamMaker
from .voice import Voice
from .worker_messages import Made, ToDesk
from .worker_process import warm_up


def _speech_stream() -> StreamMaker:
    from .stream import SpeechStream

    return SpeechStream


def _load_voice(name: str) -> Voice:
    from .registry import load_voice

    return load_voice(name)


class LocalRenderer:
    """A `Renderer` with one thread. `loader` makes a voice of a name, `stream` the stream of a voice;
    `judge` looks at every chunk, the plain one where none is given."""

    def __init__(
        self,
        voices: tuple[str, ...] = ("tone",),
        *,
        loader: Callable[[str], Voice] = _load_voice,
        stream: StreamMaker | None = None,
        judge: ChunkJudge | None = None,
    ) -> None:
        self._names = tuple(voices)
        self._loader = loader
        self._make = stream
        self._judge = judge or PlainJudge()
        self._voices: dict[str, Voice] = {}
        self._told: queue.SimpleQueue[ToDesk | None] = queue.SimpleQueue()
        self._numbers = itertools.count(1)
        self._streams: dict[int, JobStream] = {}
        self._costs = Costs()
        self._thread: threading.Thread | None = None

    async def start(self) -> None:
        """Loads and warms the voices in the thread; texts opened meanwhile wait. Raises what a voice raises."""
        loop = asyncio.get_running_loop()
        loaded: asyncio.Future[Mapping[str, Voice]] = loop.create_future()
        self._ended: asyncio.Future[None] = loop.create_future()
        self._thread = threading.Thread(target=self._work, args=(loop, loaded), name="render", daemon=True)
        self._thread.start()
        try:
            self._voices = dict(await loaded)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Ends the thread after the chunk in work; what is still open fails."""
        if self._thread is not None:
            self._told.put(None)
            await self._ended
            self._thread.join()
            self._thread = None
        for stream in list(self._streams.values()):
            stream.fail("The renderer was closed.")

    def open(self, job: RenderJob) -> JobStream:
        """A stream for `job`. Raises ValueError for another voice than its own, RuntimeError before `start`."""
        if self._thread is None:
            raise RuntimeError("the renderer is not started")
        if job.voice not in self._names:
            raise ValueError(f"There is no voice {job.voice!r} here; there are {', '.join(self._names)}.")
        if any(stream.job.id == job.id for stream in self._streams.values()):
            raise ValueError(f"An utterance {job.id!r} is being rendered already.")
        stream = JobStream(next(self._numbers), job, on_end=self._forget)
        self._streams[stream.number] = stream
        self._told.put(stream.opening())
        stream.send = self._told.put
        return stream

    def status(self) -> RendererStatus:
        """At this moment."""
        return RendererStatus(
            ready=bool(self._voices) and self._thread is not None,
            workers=1,
            voices=tuple(voice.info for voice in self._voices.values()),
            queue_s=self._costs.wait_s if self._streams else 0.0,
            cost=self._costs.table(),
            faults=dict(self._costs.faults),
            rendered_again=self._costs.rendered_again,
        )

    def _forget(self, stream: JobStream) -> None:
        del self._streams[stream.number]

    def _deliver(self, made: Made) -> None:
        stream = self._streams.get(made.number)
        if stream is not None:
            for chunk in stream.deliver(made):
                self._costs.count(chunk.voice or stream.job.voice, chunk, made.waited_s)

    # In the thread

    def _work(self, loop: asyncio.AbstractEventLoop, loaded: "asyncio.Future[Mapping[str, Voice]]") -> None:
        try:
            make = self._make or _speech_stream()
            voices = {name: self._loader(name) for name in self._names}
            for voice in voices.values():
                warm_up(voice, make)
        except Exception as error:  # raised again by `start`
            loop.call_soon_threadsafe(loaded.set_exception, error)
        else:
            loop.call_soon_threadsafe(loaded.set_result, voices)
            self._render(loop, Desk(voices, make, clock=time.monotonic, judge=self._judge))
        loop.call_soon_threadsafe(self._ended.set_result, None)

    def _render(self, loop: asyncio.AbstractEventLoop, desk: Desk) -> None:
        while True:
            number = desk.pick()
            try:
                message = self._told.get(block=number is None)
            except queue.Empty:
                assert number is not None
                made = desk.turn(number)
                if made is not None:
                    loop.call_soon_threadsafe(partial(self._deliver, made))
                continue
            if message is None:
                return
            desk.handle(message)
