"""Renders in spawned worker processes, so that no voice can delay a packet or take the media process down.

A worker that dies or stops answering is replaced, and its utterances go on where they stood: the new worker repeats
silently what was delivered, step by step, which makes the same samples, and continues from there. Idle workers take
over sooner from one that is silent.
"""

import asyncio
import itertools
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from .cache import CacheSettings
from .calibration.figures import Calibration
from .costs import Costs
from .job_stream import JobStream
from .registry import voice_name
from .renderer import RendererStatus, RenderJob
from .voice import Progress, VoiceInfo
from .worker import Worker, worker_environment
from .worker_messages import Building, Cancel, FromWorker, Made, Setup

_log = logging.getLogger(__name__)

_DEATHS = 2
"""Workers that may die of one utterance before it is given up."""

_TRIES = 3
"""Starts in a row that may fail before the utterances that wait for a worker are given up."""

_BACK_OFF_S = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Wait before a worker is started, by how many in a row could not start; the last for any more."""

_CLOSED = "The renderer was closed."


class WorkerFailed(RuntimeError):
    """No worker could start; the message is a sentence for people."""


class WorkerRenderer:
    """A `Renderer` on `workers` processes that all have all `voices` loaded.

    `cache` says what each keeps of what it said; `nice` is added to the workers' niceness; each computes with `threads`
    threads on `device` (`voices.devices`). A worker silent for `silent_s` is taken for dead. `on_progress` hears what a
    first use has to build. `loader` and `stream` name, as `module:attribute`, what loads a voice and what turns text
    into chunks.
    """

    def __init__(
        self,
        workers: int = 1,
        voices: tuple[str, ...] = ("joe", "heart"),
        cache_dir: Path | None = None,
        nice: int = 5,
        *,
        threads: int = 1,
        device: str | None = None,
        cache: CacheSettings | None = None,
        silent_s: float = 20.0,
        loading_s: float = 600.0,
        on_progress: Progress | None = None,
        loader: str = "adaptive.speech.registry:load_voice",
        stream: str = "adaptive.speech.stream:SpeechStream",
    ) -> None:
        if workers < 1 or not voices:
            raise ValueError("a renderer needs at least one worker and one voice")
        self._setup = Setup(
            voices=tuple(voices), loader=loader, stream=stream, nice=nice, cache=cache or CacheSettings()
        )
        self._names = tuple(map(voice_name, voices))
        if len(set(self._names)) < len(self._names):
            raise ValueError(f"Two voices have the same name: {', '.join(self._names)}.")
        self._environment = worker_environment(threads=threads, cache_dir=cache_dir, device=device)
        self._silent_s = silent_s
        self._loading_s = loading_s
        self._on_progress = on_progress
        self._count = workers
        self._workers: dict[int, Worker] = {}
        self._keepers: list[asyncio.Task[None]] = []
        self._numbers = itertools.count(1)
        self._streams: dict[int, JobStream] = {}
        self._places: dict[int, Worker] = {}
        self._voices: tuple[VoiceInfo, ...] = ()
        self._calibrations: Mapping[str, Calibration] = {}
        self._costs = Costs()
        self._restarts = 0
        self._started = False
        self._closed: str | None = None

    async def start(self) -> None:
        """Starts the workers and returns when all are warm; texts may be opened meanwhile and wait. Raises WorkerFailed
        where one cannot start."""
        self._closed = None
        first = [asyncio.get_running_loop().create_future() for _ in range(self._count)]
        self._keepers = [asyncio.create_task(self._keep(slot, future)) for slot, future in enumerate(first)]
        try:
            await asyncio.gather(*first)
        except WorkerFailed as error:
            self._closed = str(error)
            await self.close()
            raise
        except BaseException:
            await self.close()
            raise
        self._started = True

    async def close(self) -> None:
        """Ends the workers; what is still open fails."""
        self._started, self._closed = False, self._closed or _CLOSED
        keepers, self._keepers = self._keepers, []
        for keeper in keepers:
            keeper.cancel()
        await asyncio.gather(*keepers, return_exceptions=True)
        for stream in list(self._streams.values()):
            stream.fail(self._closed)

    def open(self, job: RenderJob) -> JobStream:
        """A stream for `job`, on the worker that has the fewest; it fails at once where the renderer is closed or could
        not start. Raises ValueError for another voice than its own, RuntimeError where it was never started."""
        if not self._keepers and self._closed is None:
            raise RuntimeError("the renderer is not started")
        if job.voice not in self._names:
            raise ValueError(f"There is no voice {job.voice!r} here; there are {', '.join(self._names)}.")
        if any(stream.job.id == job.id for stream in self._streams.values()):
            raise ValueError(f"An utterance {job.id!r} is being rendered already.")
        stream = JobStream(next(self._numbers), job, on_end=self._forget)
        self._streams[stream.number] = stream
        if self._closed is not None:
            stream.fail(self._closed)
        else:
            self._place(stream)
        return stream

    def status(self) -> RendererStatus:
        """At this moment."""
        return RendererStatus(
            ready=self._started and bool(self._workers),
            workers=len(self._workers),
            voices=self._voices,
            queue_s=self._queue_s(),
            cost=self._costs.table(),
            calibrations=self._calibrations,
            faults=dict(self._costs.faults),
            rendered_again=self._costs.rendered_again,
            restarts=self._restarts,
        )

    def _queue_s(self) -> float:
        if not self._streams:
            return 0.0
        silent = min((worker.silent_s for worker in self._workers.values()), default=0.0)
        return max(self._costs.wait_s, silent)

    async def _keep(self, slot: int, first: "asyncio.Future[None]") -> None:
        """Keeps one worker running; `first` resolves with how its first start went."""
        try:
            await self._keep_running(slot, first)
        except Exception as error:  # nobody awaits this task, so that a mistake here would be silent
            _log.exception("render worker %s is not kept running any more", slot)
            if not first.done():
                first.set_exception(error)

    async def _keep_running(self, slot: int, first: "asyncio.Future[None]") -> None:
        failures = 0
        while True:
            worker = Worker(
                self._setup,
                environment=self._environment,
                on_message=self._on_message,
                on_doubt=self._relieve,
                silent_s=self._silent_s,
                loading_s=self._loading_s,
            )
            why = await self._run(slot, worker, first)
            if not first.done():
                first.set_exception(WorkerFailed(why))
                return
            _log.warning("%s", why)
            self._restarts += 1
            failures = 0 if worker.voices else failures + 1
            if failures >= _TRIES and not self._workers:
                for stream in list(self._streams.values()):
                    stream.fail(why)
            await asyncio.sleep(_BACK_OFF_S[min(failures, len(_BACK_OFF_S) - 1)])

    async def _run(self, slot: int, worker: Worker, first: "asyncio.Future[None]") -> str:
        """One worker from start to end; returns the sentence that says why it ended."""
        try:
            await worker.start()
        except OSError as error:
            return f"No process could be started for a render worker: {error}."
        try:
            if await worker.ready():
                self._enter(slot, worker)
                if not first.done():
                    first.set_result(None)
            why = await worker.ended()
            self._leave(slot, worker)
        finally:
            self._workers.pop(slot, None)
            await worker.close()
        return why

    def _enter(self, slot: int, worker: Worker) -> None:
        self._workers[slot] = worker
        self._voices, self._calibrations = worker.voices, worker.calibrations
        for stream in self._streams.values():
            if stream.send is None:
                self._place(stream)

    def _leave(self, slot: int, worker: Worker) -> None:
        """Gives what `worker` had to others, or lets it wait for the next; gives up what workers keep dying of."""
        self._workers.pop(slot, None)
        for number in [number for number, place in self._places.items() if place is worker]:
            stream = self._streams[number]
            stream.send = None
            del self._places[number]
            stream.deaths += worker.in_hand == number
            if stream.deaths >= _DEATHS:
                stream.fail(f"The voice {stream.job.voice} failed on this text: {_DEATHS} render workers died of it.")
            else:
                self._place(stream)

    def _relieve(self, silent: Worker) -> None:
        """Gives what a silent worker has to those that have nothing to do, if there are any: they would be idle. If it
        wakes up, nothing that it makes of that counts."""
        busy = {id(worker) for worker in self._places.values()}
        idle = [worker for worker in self._workers.values() if id(worker) not in busy and not worker.silent_s]
        for number in [number for number, place in self._places.items() if place is silent and idle]:
            silent.send(Cancel(number))
            self._place(self._streams[number], among=idle)

    def _place(self, stream: JobStream, *, among: Sequence[Worker] | None = None) -> None:
        """Gives `stream` to the worker with the fewest, of those that are not silent; it waits where there is none."""
        if not self._workers:
            return
        held = Counter(id(worker) for worker in self._places.values())
        workers = among or tuple(self._workers.values())
        worker = min(workers, key=lambda worker: (worker.silent_s > 0, held[id(worker)]))
        self._places[stream.number] = worker
        worker.send(stream.opening())
        stream.send = worker.send

    def _forget(self, stream: JobStream) -> None:
        del self._streams[stream.number]
        self._places.pop(stream.number, None)

    def _on_message(self, worker: Worker, message: FromWorker) -> None:
        match message:
            case Made() if self._places.get(message.number) is worker:
                stream = self._streams.get(message.number)
                if stream is not None:
                    for chunk in stream.deliver(message):
                        self._costs.count(chunk.voice or stream.job.voice, chunk, message.waited_s)
            case Building() if self._on_progress is not None:
                self._on_progress(message.what, message.share)
