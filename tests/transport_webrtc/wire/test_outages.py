"""Outages of the network under the audio track, over real sockets: each word arrives once as a whole."""

import asyncio
from typing import Any

import numpy as np
import pytest

from adaptive.control.plan import Protection

TEXT = " ".join(f"w{i:02}" for i in range(11))
"""Eleven words of 180 ms, 60 ms apart: 2.6 s."""
LONG = " ".join(f"word{i:02}" for i in range(30))
"""Thirty of 360 ms: 12.5 s."""


def whole_words(starts: np.ndarray, words: list[dict[str, Any]]) -> list[int]:
    """How often each was heard from its first to its last tick without a break. `starts`: ticks in order of hearing."""
    breaks = np.flatnonzero(np.diff(starts) != 1) + 1
    runs = [(int(run[0]), int(run[-1]) + 1) for run in np.split(starts, breaks)]
    return [sum(a <= word["start"] and word["end"] <= b for a, b in runs) for word in words]


async def through(scene, left, text, *, begins, seconds, ways=("down", "up")):
    """Says `text` through an outage that begins `begins` s after the first frame; returns how often each word came, and
    the events told."""
    events = []
    task = asyncio.create_task(_keep(scene.listener, events))
    loop = asyncio.get_running_loop()
    what = left(scene.listener, loop.time)
    scene.controller.protection = Protection(nack=True, copies=(1,))
    scene.listener.network.set(down={"delay_ms": 30}, up={"delay_ms": 30})
    await asyncio.sleep(0.6)  # until what comes back is known to be regular
    said = await scene.server.client.post(
        f"/v1/listen/{scene.listener.id}/speak", json={"say": text, "id": "a", "keep": "resume"}
    )
    assert said.status_code == 202
    await scene.server.until(lambda: scene.listener.sent.frames > 1)
    await asyncio.sleep(begins)
    scene.listener.network.set(**{way: {"loss": 1} for way in ways})
    await asyncio.sleep(seconds)
    scene.listener.network.set(**{way: {"loss": 0} for way in ways})
    back = loop.time()
    await scene.server.until(lambda: any(event["event"] == "finished" for event in events), 30)
    task.cancel()
    came = what.blocks(scene.far.packets)
    starts = np.concatenate([np.arange(b.start, b.start + len(b.samples)) for _, b in sorted(came.items()) if b.speech])
    words = [word for event in events if event["event"] == "marks" for word in event["words"]]
    again = next((at for at, _, _, block in what.packets if at > back and block is not None and block.speech), None)
    return whole_words(starts, words), events, None if again is None else again - back


async def _keep(listener, events):
    async for numbered in listener.events.stream(after=0):
        events.append(numbered.event)


def check(counts, events, text):
    assert counts == [1] * len(text.split()), counts
    told = [event["text"] for event in events if event["event"] == "word"]
    assert told == text.split()
    names = [event["event"] for event in events if event["event"] in ("paused", "resumed", "finished")]
    assert names == ["paused", "resumed", "finished"], [(e["event"], e["at"]) for e in events if e["event"] != "word"]


async def test_each_word_arrives_once_through_an_outage(meet, left):
    ways = ("down", "up"), ("down", "up"), ("down",), ("up",)
    begins = 0.35, 2.2, 1.0, 1.2
    scenes = [await meet() for _ in ways]
    results = await asyncio.gather(
        *(
            through(scene, left, TEXT, begins=at, seconds=1.2, ways=which)
            for scene, at, which in zip(scenes, begins, ways, strict=True)
        )
    )
    for counts, events, again_s in results:
        check(counts, events, TEXT)
        assert again_s < 0.8, "a probe, its feedback, a frame"


@pytest.mark.long
@pytest.mark.parametrize("seconds", [3.0, 10.0])
async def test_each_word_arrives_once_wherever_the_outage_comes(meet, left, seconds):
    scenes = [await meet() for _ in range(10)]
    results = await asyncio.gather(
        *(through(scene, left, LONG, begins=0.4 + 1.2 * place, seconds=seconds) for place, scene in enumerate(scenes))
    )
    for counts, events, again_s in results:
        check(counts, events, LONG)
        assert again_s < 0.8
