"""What a render worker with joe's three tiers holds; ten minutes of text add nothing to it but what is kept."""

import os
from itertools import cycle, islice

import psutil
import pytest

from adaptive.speech.cache import CacheSettings
from adaptive.speech.renderer import Chunk, RenderJob
from adaptive.speech.workers import WorkerRenderer
from adaptive.ticks import to_seconds, to_ticks
from transport_webrtc.bench.texts import sentences

pytestmark = [pytest.mark.voices, pytest.mark.long]

MB = 1e6
MOST, GROWTH = 600 * MB, 10 * MB
SETTLED_S, TEXT_S = 60, 600
CHARACTERS_PER_SECOND = 15
TIERS = ("full", "mixed", "light")


def resident(process: psutil.Process) -> int:
    return int(process.memory_info().rss)


def long_text(seed: int, seconds: float) -> str:
    made, texts = [], sentences(seed)
    while sum(map(len, made)) < seconds * CHARACTERS_PER_SECOND:
        made += islice(texts, 20)
    return " ".join(made)


async def speak(renderer: WorkerRenderer, text: str, name: str) -> float:
    """Seconds of speech; tiers take turns, and what is ready is never far ahead of what was asked for."""
    stream = renderer.open(RenderJob(id=name, voice="joe"))
    stream.feed(text, final=True)
    stream.grant(to_ticks(2))
    tiers, spoken = cycle(TIERS), 0
    async for event in stream.events():
        if isinstance(event, Chunk):
            spoken = event.start + len(event.samples)
            stream.steer(tier=next(tiers), chunk_frames=36)
            stream.grant(spoken + to_ticks(2))
    return to_seconds(spoken)


@pytest.mark.parametrize("kept_mb", [0, 32])
async def test_ten_minutes_of_text_add_nothing_but_what_is_kept(kept_mb: int) -> None:
    """What a cache keeps is counted apart: samples up to its budget."""
    kept = int(kept_mb * MB)
    renderer = WorkerRenderer(voices=("joe",), cache=CacheSettings(memory_bytes=kept))
    await renderer.start()
    try:
        assert renderer.status().voices[0].tiers == TIERS
        worker = psutil.Process(next(iter(renderer._workers.values())).pid)
        media = psutil.Process(os.getpid())
        await speak(renderer, long_text(1, SETTLED_S), "settle")
        # A cache that is not full yet has so much of its budget to go.
        cached = min(kept, SETTLED_S * 22_050 * 4) if kept else 0
        before = resident(worker), resident(media)
        seconds = await speak(renderer, long_text(2, TEXT_S), "long")
        grown = resident(worker) - before[0] - (kept - cached), resident(media) - before[1]
        print(f"kept {kept_mb} MB, {seconds:.0f} s: worker {resident(worker) / MB:.0f} MB", [g / MB for g in grown])
        assert seconds > 0.7 * TEXT_S
        assert resident(worker) - kept <= MOST
        assert max(grown) <= GROWTH
    finally:
        await renderer.close()
