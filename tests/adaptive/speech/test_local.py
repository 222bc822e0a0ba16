"""The renderer in this process does what the one with workers does; the voices are those of its tests."""

import asyncio
import importlib.util
import threading
from pathlib import Path

import numpy as np
import pytest

from adaptive.speech.local import LocalRenderer
from adaptive.speech.renderer import Chunk, Rendered, RenderFailed, RenderJob

TEXT = "One sentence, and then another one that is slow. " * 2


def load(name):
    spec = importlib.util.spec_from_file_location("worker_voices", Path(__file__).with_name("worker_voices.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.load(name)


@pytest.fixture
async def local():
    made = LocalRenderer(("sine",), loader=load)
    await made.start()
    yield made
    await made.close()


def speak(made, text, *, id="u", grant=1 << 40):
    stream = made.open(RenderJob(id=id, voice="sine"))
    stream.feed(text, final=True)
    stream.grant(grant)
    return stream


async def everything(stream):
    return [event async for event in stream.events()]


def sound(events):
    return np.concatenate([event.samples for event in events if isinstance(event, Chunk)])


async def test_texts_side_by_side_equal_their_serial_renderings(local):
    assert local.status().ready
    alone = sound(await everything(speak(local, TEXT)))
    beside = await asyncio.gather(*(everything(speak(local, TEXT, id=f"u{i}")) for i in range(3)))
    for events in beside:
        np.testing.assert_array_equal(alone, sound(events))
        assert events[-1] == Rendered(ticks=len(alone))
    assert local.status().cost["sine"]["full"] > 0


async def test_it_stops_at_the_grant_and_goes_on_with_the_next(local):
    stream = speak(local, TEXT, grant=1)
    iterator = stream.events()
    await anext(iterator)
    first = await anext(iterator)
    await everything(speak(local, "Another.", id="other"))
    assert stream._events.empty()
    stream.grant(len(first.samples) + 1)
    assert (await anext(iterator)).start == len(first.samples)
    stream.cancel()
    assert [event async for event in iterator] == []


async def test_a_voice_that_raises_ends_its_own_text_only(local):
    broken, fine = await asyncio.gather(
        everything(speak(local, "This breaks.", id="broken")), everything(speak(local, TEXT))
    )
    assert broken == [RenderFailed(message="The voice sine could not speak this text: a number grew too large.")]
    assert isinstance(fine[-1], Rendered)


async def test_close_ends_the_thread_and_fails_what_is_open():
    made = LocalRenderer(("sine",), loader=load)
    with pytest.raises(RuntimeError, match="not started"):
        made.open(RenderJob(id="u", voice="sine"))
    before = threading.active_count()
    await made.start()
    with pytest.raises(ValueError, match="There is no voice 'nobody'"):
        made.open(RenderJob(id="u", voice="nobody"))
    stream = speak(made, TEXT, grant=0)
    await made.close()
    assert await everything(stream) == [RenderFailed(message="The renderer was closed.")]
    assert threading.active_count() == before
    assert not made.status().ready


async def test_a_text_may_be_opened_while_the_voice_loads():
    made = LocalRenderer(("sine",), loader=load)
    starting = asyncio.create_task(made.start())
    await asyncio.sleep(0)
    assert isinstance((await everything(speak(made, TEXT)))[-1], Rendered)
    await starting
    await made.close()


async def test_start_raises_what_the_voice_raises():
    with pytest.raises(ValueError, match="There is no voice of that name"):
        await LocalRenderer(("missing",), loader=load).start()
