"""Virtual time for what runs on an event loop, and a renderer whose chunks come when a script says."""

import asyncio
import selectors
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from adaptive.speech.renderer import (
    Chunk,
    ClausePrepared,
    Noticed,
    Rendered,
    RendererStatus,
    RenderEvent,
    RenderFailed,
    RenderJob,
)
from adaptive.speech.voice import SwitchPoint, VoiceInfo, Word
from adaptive.ticks import to_ticks


class _Jumping(selectors.SelectSelector):
    """Does not wait: time jumps to the next timer instead."""

    now = 1_000.0

    def select(self, timeout: float | None = None) -> list[Any]:
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise RuntimeError("everything waits and no timer is set: the test would hang")
            self.now += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop on virtual time: hours pass in milliseconds and no deadline is missed unless `block` is called."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now

    def block(self, seconds: float) -> None:
        """Holds the loop up, as a slow callback would."""
        self._jumping.now += seconds


@pytest.fixture
def virtually() -> Callable[[Callable[[VirtualLoop], Coroutine[Any, Any, Any]]], Any]:
    """Runs `test(loop)` on virtual time; fails where a task is left over."""

    def run(test: Callable[[VirtualLoop], Coroutine[Any, Any, Any]]) -> Any:
        loop = VirtualLoop()
        try:

            async def whole() -> Any:
                result = await asyncio.wait_for(test(loop), 10_000)
                await asyncio.sleep(0.001)
                left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
                assert not left, f"tasks left over: {left}"
                return result

            return loop.run_until_complete(whole())
        finally:
            loop.close()

    return run


@dataclass(frozen=True)
class Step:
    """One scripted chunk."""

    after_s: float
    """How long it takes to render."""
    seconds: float
    tier: str | None = None
    """None is the tier asked for."""
    voice: str | None = None
    """None is the voice of the job."""
    pause_s: float = 0.0
    fails: str | None = None
    notices: str | None = None


def steps(count: int, seconds: float = 0.2, after_s: float = 0.01) -> list[Step]:
    """An even script."""
    return [Step(after_s, seconds) for _ in range(count)]


def coded(start: int, count: int) -> np.ndarray:
    """Samples that tell which tick of the utterance they are: none is zero, neighbours differ."""
    return ((np.arange(start, start + count) % 16_000 + 1) / 32_768).astype(np.float32)


class ScriptedStream:
    """Renders the steps of its script one after the other, as far as granted, once its text is complete."""

    def __init__(self, job: RenderJob, owner: "ScriptedRenderer") -> None:
        self.job, self.owner = job, owner
        self.text, self.final, self.cancelled = "", False, False
        self.tier = job.tier or "full"
        self.granted = 0
        self.position = 0
        self.changed = asyncio.Event()

    def feed(self, text: str, *, final: bool) -> None:
        assert not self.final, "text after the end of the text"
        self.text += text
        self.final = final
        self.changed.set()

    def steer(self, *, tier: str, chunk_frames: int | None) -> None:
        self.tier = tier

    def grant(self, until: int) -> None:
        assert until > self.granted, "a grant that grants nothing"
        self.granted = until
        self.changed.set()

    def cancel(self) -> None:
        self.cancelled = True
        self.owner.working.discard(self)
        self.changed.set()

    async def events(self) -> AsyncIterator[RenderEvent]:
        while not (self.final or self.cancelled):
            self.changed.clear()
            await self.changed.wait()
        script = self.owner.script(self.text)
        total = sum(to_ticks(step.seconds) for step in script)
        for number, step in enumerate(script):
            while not self.cancelled and self.position >= self.granted:
                self.owner.working.discard(self)
                self.changed.clear()
                await self.changed.wait()
            self.owner.working.add(self)
            self.owner.most_working = max(self.owner.most_working, len(self.owner.working))
            await asyncio.sleep(step.after_s)
            if self.cancelled:
                return
            if step.fails is not None:
                self.owner.working.discard(self)
                yield RenderFailed(message=step.fails)
                return
            if step.notices is not None:
                yield Noticed(message=step.notices)
            if number == 0:
                yield ClausePrepared(index=0, start=0, ticks=total, text=self.text, words=self._words(total))
            ticks = to_ticks(step.seconds)
            yield Chunk(
                start=self.position,
                samples=coded(self.position, ticks),
                tier=step.tier or self.tier,
                voice=step.voice,
                frames=1,
                render_s=step.after_s,
                clause=0,
                pause_after=to_ticks(step.pause_s),
            )
            self.position += ticks
        self.owner.working.discard(self)
        yield Rendered(ticks=self.position)

    def _words(self, total: int) -> tuple[Word, ...]:
        words = self.text.split()
        each = total // max(len(words), 1)
        return tuple(Word(text=w, start=i * each, end=(i + 1) * each) for i, w in enumerate(words))


class ScriptedRenderer:
    """text → when its chunks come and how long they are."""

    def __init__(self, script: Callable[[str], list[Step]] = lambda text: steps(5)) -> None:
        self.script = script
        self.streams: list[ScriptedStream] = []
        self.working: set[ScriptedStream] = set()
        self.most_working = 0

    async def start(self) -> None:
        pass

    async def close(self) -> None:
        pass

    def open(self, job: RenderJob) -> ScriptedStream:
        if job.voice not in ("tone", "hidden"):
            raise ValueError(f"no voice {job.voice}")
        stream = ScriptedStream(job, self)
        self.streams.append(stream)
        return stream

    def status(self) -> RendererStatus:
        info = VoiceInfo(
            name="tone",
            languages=("en-US",),
            licence="none",
            rate=48_000,
            frame_samples=480,
            tiers=("full", "light"),
            switch=SwitchPoint.CHUNK,
        )
        return RendererStatus(ready=True, workers=1, voices=(info,), queue_s=0.0, cost={"tone": {"full": 0.1}})


@pytest.fixture
def scripted() -> type[ScriptedRenderer]:
    """The renderer."""
    return ScriptedRenderer


@pytest.fixture
def step() -> type[Step]:
    """A scripted chunk."""
    return Step


@pytest.fixture
def tell_tick() -> Callable[[int, int], np.ndarray]:
    """The samples of a scripted utterance."""
    return coded
