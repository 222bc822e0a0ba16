"""Render workers are real processes here; their voices do what the text says (worker_voices.py)."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import psutil
import pytest
import pytest_asyncio

from adaptive.speech.renderer import Chunk, ClausePrepared, Rendered, RenderEvent, RenderFailed, RenderJob
from adaptive.speech.workers import WorkerFailed, WorkerRenderer

EVERYTHING = 1 << 40
LONG = "One sentence, then another one that is slow, and slow it is to the end. " * 3


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(autouse=True, scope="module")
def _voices_on_path():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parent))
        yield


@contextlib.asynccontextmanager
async def renderer(**changes):
    settings = {"voices": ("sine",), "loader": "worker_voices:load"} | changes
    made = WorkerRenderer(**settings)
    await made.start()
    try:
        yield made
    finally:
        await made.close()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared(_voices_on_path):
    """One renderer for the tests that leave its worker alive."""
    async with renderer() as made:
        yield made


def speak(made, text, *, id="u", tier=None, grant=EVERYTHING, seed=0, voice="sine"):
    stream = made.open(RenderJob(id=id, voice=voice, tier=tier, seed=seed))
    stream.feed(text, final=True)
    stream.grant(grant)
    return stream


async def everything(stream):
    return [event async for event in stream.events()]


def sound(events):
    """The samples, after checking that the chunks follow each other without a hole."""
    chunks = [event for event in events if isinstance(event, Chunk)]
    position = 0
    for chunk in chunks:
        assert chunk.start == position
        position += len(chunk.samples)
    return np.concatenate([chunk.samples for chunk in chunks])


def pids(made):
    return [worker.pid for worker in made._workers.values()]


def children():
    return {child.pid for child in psutil.Process().children()}


async def after_chunks(stream, count):
    """Events up to the `count`-th chunk, and the iterator to go on with."""
    iterator: AsyncIterator[RenderEvent] = stream.events()
    events: list[RenderEvent] = []
    while sum(isinstance(event, Chunk) for event in events) < count:
        events.append(await anext(iterator))
    return events, iterator


async def test_a_text_becomes_chunks_and_ends_complete():
    progress = []
    async with renderer(on_progress=lambda what, share: progress.append((what, share))) as made:
        status = made.status()
        assert (status.ready, status.workers, status.restarts) == (True, 1, 0)
        assert [info.name for info in status.voices] == ["sine"]
        events = await everything(speak(made, LONG))
        samples = sound(events)
        assert events[-1] == Rendered(ticks=len(samples))
        assert sum(isinstance(event, Chunk) for event in events) > 5
        assert samples.dtype == np.float32
        assert [event.index for event in events if isinstance(event, ClausePrepared)] == list(
            range(events[-2].clause + 1)
        )
        assert made.status().cost["sine"]["full"] > 0
        assert made.status().queue_s == 0
        processes = pids(made)
        assert set(processes) <= children()
    assert ("building sine", 0.5) in progress
    assert not set(processes) & children()


async def test_two_texts_at_once_equal_their_serial_renderings(shared):
    texts = ["Turn left at the lights, and then slow down.", "The weather is fine today; it will rain tomorrow."]
    serial = [sound(await everything(speak(shared, text))) for text in texts]
    together = await asyncio.gather(*(everything(speak(shared, text, id=text)) for text in texts))
    for alone, beside in zip(serial, together, strict=True):
        np.testing.assert_array_equal(alone, sound(beside))


async def test_no_chunk_begins_at_or_after_the_grant(shared):
    stream = speak(shared, LONG, grant=0)
    iterator, position = stream.events(), 0
    for until in (1, 20_000, 20_001, 100_000):
        stream.grant(until)
        while position < until:
            event = await anext(iterator)
            if isinstance(event, Chunk):
                assert event.start < until
                position = event.start + len(event.samples)
        # Another text is rendered whole meanwhile: the worker had its turns, and used none for this one.
        await everything(speak(shared, "Meanwhile something else.", id="other"))
        assert stream._events.empty()
    stream.cancel()


async def test_a_newcomer_goes_before_those_that_have_plenty(shared):
    order = []
    enough = asyncio.Event()

    async def note(name, stream):
        async for event in stream.events():
            if isinstance(event, Chunk):
                order.append(name)
                if len(order) == 20:
                    enough.set()

    old = [speak(shared, LONG, id=f"old{i}") for i in range(3)]
    tasks = [asyncio.create_task(note(f"old{i}", stream)) for i, stream in enumerate(old)]
    await enough.wait()
    tasks.append(asyncio.create_task(note("new", speak(shared, LONG, id="new"))))
    begun = len(order)
    await asyncio.gather(*tasks)
    # How often this process looks decides how many arrive together; the order of turns is tested in test_desk.py.
    assert order.index("new") - begun < 15
    assert len(order) > begun + 40


async def test_a_steered_utterance_changes_its_tier_at_the_next_chunk(shared):
    stream = speak(shared, LONG, grant=1)
    events, iterator = await after_chunks(stream, 1)
    stream.steer(tier="light", chunk_frames=30)
    stream.grant(EVERYTHING)
    events += [event async for event in iterator]
    tiers = [event.tier for event in events if isinstance(event, Chunk)]
    assert tiers[0] == "full"
    assert set(tiers[1:]) == {"light"}


async def test_text_that_arrives_in_pieces_is_the_same_speech(shared):
    whole = sound(await everything(speak(shared, LONG)))
    stream = shared.open(RenderJob(id="pieces", voice="sine"))
    stream.grant(EVERYTHING)
    reader = asyncio.create_task(everything(stream))
    for start in range(0, len(LONG), 7):
        stream.feed(LONG[start : start + 7], final=False)
        await asyncio.sleep(0)
    stream.feed("", final=True)
    with pytest.raises(ValueError, match="complete"):
        stream.feed("more", final=False)
    # The pause at the very end depends on whether the end was known; what is spoken does not.
    pieces = sound(await reader)[: len(whole)]
    np.testing.assert_array_equal(whole[: len(pieces)], pieces)


async def test_a_killed_worker_is_replaced_and_nobody_can_hear_it():
    async with renderer(nice=0) as made:
        undisturbed = await everything(speak(made, LONG, tier="light"))
        stream = speak(made, LONG, id="disturbed", tier="light")
        unheard = speak(made, "Nothing of this was rendered yet.", id="unheard", grant=0)
        events, iterator = await after_chunks(stream, 4)
        (pid,) = pids(made)
        os.kill(pid, signal.SIGKILL)
        events += [event async for event in iterator]
        unheard.grant(EVERYTHING)
        assert isinstance((await everything(unheard))[-1], Rendered)
        assert made.status().restarts == 1
        assert pid not in pids(made)
    np.testing.assert_array_equal(sound(undisturbed), sound(events))
    assert [type(event) for event in undisturbed] == [type(event) for event in events]


@pytest.mark.voices
async def test_joe_goes_on_at_the_same_sample_after_his_worker_was_killed():
    text = "The old keeper hid three letters, and nobody asked why."
    async with renderer(voices=("joe",), loader="adaptive.speech.registry:load_voice") as made:
        undisturbed = sound(await everything(speak(made, text, voice="joe", tier="light", seed=7)))
        stream = speak(made, text, voice="joe", tier="light", seed=7, grant=48_000)
        events, iterator = await after_chunks(stream, 3)
        os.kill(pids(made)[0], signal.SIGKILL)
        stream.grant(EVERYTHING)
        events += [event async for event in iterator]
    np.testing.assert_array_equal(undisturbed, sound(events))


async def test_a_death_between_two_tiers_repeats_the_tiers_too():
    async with renderer() as made:
        renderings = []
        for disturbed in (False, True):
            stream = speak(made, LONG, id=f"{disturbed}", grant=1)
            events, iterator = await after_chunks(stream, 1)
            stream.steer(tier="light", chunk_frames=20)
            stream.grant(len(events[-1].samples) + 1)
            while not isinstance(events[-1], Chunk) or events[-1].tier != "light":
                events.append(await anext(iterator))
            if disturbed:
                os.kill(pids(made)[0], signal.SIGKILL)
            stream.steer(tier="full", chunk_frames=None)
            stream.grant(EVERYTHING)
            events += [event async for event in iterator]
            renderings.append(sound(events))
    np.testing.assert_array_equal(*renderings)


async def test_another_worker_takes_over_what_a_killed_one_had():
    async with renderer(workers=2) as made:
        expected = sound(await everything(speak(made, LONG)))
        streams = [speak(made, LONG, id=f"u{i}") for i in range(4)]
        readers = [asyncio.create_task(everything(stream)) for stream in streams]
        await asyncio.sleep(0.05)
        os.kill(pids(made)[0], signal.SIGKILL)
        for events in await asyncio.gather(*readers):
            np.testing.assert_array_equal(expected, sound(events))


async def test_a_text_that_kills_is_given_up_and_its_neighbours_go_on():
    async with renderer() as made:
        neighbour = speak(made, LONG, id="neighbour")
        killer = speak(made, "This one dies in the middle of it.", id="killer")
        told, heard = await asyncio.gather(everything(killer), everything(neighbour))
        assert isinstance(told[-1], RenderFailed)
        assert told[-1].message == "The voice sine failed on this text: 2 render workers died of it."
        assert isinstance(heard[-1], Rendered)
        assert made.status().restarts == 2


async def test_a_blocked_worker_is_killed_and_its_text_goes_on(monkeypatch, tmp_path):
    monkeypatch.setenv("HUNG_ONCE", str(tmp_path / "hung"))
    async with renderer(silent_s=0.4) as made:
        events = await everything(speak(made, "This hangs once, somewhere in the middle of it all."))
        assert isinstance(events[-1], Rendered)
        assert made.status().restarts == 1
        told = await everything(speak(made, "This hangs always.", id="always"))
        assert isinstance(told[-1], RenderFailed)


async def test_an_idle_worker_takes_over_from_a_silent_one_before_that_is_killed(shared):
    expected = sound(await everything(speak(shared, LONG)))
    async with renderer(workers=2, silent_s=4.0) as made:
        stream = speak(made, LONG)
        events, iterator = await after_chunks(stream, 2)
        stopped = made._places[stream.number].pid
        os.kill(stopped, signal.SIGSTOP)
        events += [event async for event in iterator]
        np.testing.assert_array_equal(expected, sound(events))
        others = [speak(made, LONG, id=f"other {number}") for number in range(3)]
        assert stopped not in {made._places[other.number].pid for other in others}, "nobody new waits for it"
        os.kill(stopped, signal.SIGCONT)
        for other in others:
            np.testing.assert_array_equal(expected, sound(await everything(other)))
        assert made.status().restarts == 0


async def test_a_stall_of_this_process_is_not_taken_for_the_workers():
    async with renderer(silent_s=0.4) as made:
        stream = speak(made, LONG)
        threading.Event().wait(1.0)
        assert isinstance((await everything(stream))[-1], Rendered)
        assert made.status().restarts == 0


async def test_a_voice_that_raises_gets_another_tier_then_a_sentence(shared):
    plain = sound(await everything(speak(shared, "This breAks at full precision, later.")))
    events, told, other = await asyncio.gather(
        everything(speak(shared, "This breaks at full precision, later.", id="tier")),
        everything(speak(shared, "This breaks.", id="always")),
        everything(speak(shared, LONG, id="other")),
    )
    assert shared.status().restarts == 0
    tiers = [event.tier for event in events if isinstance(event, Chunk)]
    assert tiers[0] == "full"
    assert tiers[-1] == "light"
    assert len(sound(events)) == pytest.approx(len(plain), abs=100)
    assert told == [RenderFailed(message="The voice sine could not speak this text: a number grew too large.")]
    assert isinstance(other[-1], Rendered)


async def test_nothing_comes_after_cancel(shared):
    stream = speak(shared, LONG)
    _, iterator = await after_chunks(stream, 1)
    stream.cancel()
    assert [event async for event in iterator] == []
    assert await everything(stream) == []
    stream.feed("too late", final=False)
    assert isinstance((await everything(speak(shared, "Next, please.")))[-1], Rendered)


async def test_open_refuses_what_it_cannot_do():
    made = WorkerRenderer(voices=("sine",), loader="worker_voices:load")
    with pytest.raises(RuntimeError, match="not started"):
        made.open(RenderJob(id="u", voice="sine"))
    async with renderer() as made:
        with pytest.raises(ValueError, match="There is no voice 'nobody' here; there are sine"):
            made.open(RenderJob(id="u", voice="nobody"))
        with pytest.raises(ValueError, match=r"There is no voice 'piper:/srv/amy\.onnx' here"):
            made.open(RenderJob(id="u", voice="piper:/srv/amy.onnx"))
        made.open(RenderJob(id="u", voice="sine"))
        with pytest.raises(ValueError, match="'u' is being rendered"):
            made.open(RenderJob(id="u", voice="sine"))


async def test_open_streams_fail_when_the_renderer_closes():
    async with renderer() as made:
        stream = speak(made, LONG, grant=0)
    assert await everything(stream) == [RenderFailed(message="The renderer was closed.")]


async def test_a_text_may_be_opened_while_the_workers_warm_up():
    made = WorkerRenderer(voices=("sine",), loader="worker_voices:load")
    starting = asyncio.create_task(made.start())
    await asyncio.sleep(0)
    stream = speak(made, "Early.")
    assert not made.status().ready
    assert isinstance((await everything(stream))[-1], Rendered)
    await starting
    await made.close()
    told = await everything(speak(made, "Late."))
    assert told == [RenderFailed(message="The renderer was closed.")]


@pytest.mark.parametrize("turns", [1, 2, 3, 4, 6, 10])
async def test_a_start_that_is_given_up_leaves_no_process(turns):
    before, files = children(), psutil.Process().num_fds()
    made = WorkerRenderer(workers=2, voices=("sine",), loader="worker_voices:load")
    starting = asyncio.create_task(made.start())
    for _ in range(turns):
        await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert children() == before
    await asyncio.sleep(0.01)
    assert psutil.Process().num_fds() == files


async def test_start_says_why_a_worker_cannot_start():
    before = children()
    made = WorkerRenderer(workers=2, voices=("missing",), loader="worker_voices:load")
    starting = asyncio.create_task(made.start())
    await asyncio.sleep(0)
    early = speak(made, "Is anybody coming?", id="early", voice="missing")
    with pytest.raises(WorkerFailed, match=r"A render worker could not start: There is no voice of that name\."):
        await starting
    assert children() == before
    told = await everything(speak(made, "Is anybody there?", voice="missing"))
    assert await everything(early) == told
    assert told == [RenderFailed(message="A render worker could not start: There is no voice of that name.")]


async def test_what_waits_fails_when_no_worker_can_be_started_again(monkeypatch, tmp_path):
    monkeypatch.setenv("FAIL_FROM_NOW", str(tmp_path / "now"))
    monkeypatch.setattr("adaptive.speech.workers._BACK_OFF_S", (0.0,))
    async with renderer(voices=("fails later",)) as made:
        (tmp_path / "now").touch()
        os.kill(pids(made)[0], signal.SIGKILL)
        told = await everything(speak(made, "Is anybody there?", voice="fails later"))
        assert told == [RenderFailed(message="A render worker could not start: The disk is full.")]
        assert not made.status().ready


async def test_two_hundred_utterances_leave_nothing_behind():
    async with renderer() as made:
        await everything(speak(made, "Warm."))
        this, worker = psutil.Process(), psutil.Process(pids(made)[0])
        before = this.num_fds(), this.num_threads(), worker.num_fds(), worker.num_threads()
        for turn in range(200):
            stream = speak(made, LONG, id="again")
            if turn % 2:
                await after_chunks(stream, 1)
            stream.cancel()
        await everything(speak(made, "Done."))
        assert (this.num_fds(), this.num_threads(), worker.num_fds(), worker.num_threads()) == before
        assert not made._streams
        assert not made._places
    assert this.num_fds() < before[0]


async def test_the_media_process_loads_no_model_code_and_its_worker_ends_with_it():
    script = textwrap.dedent(
        """
        import asyncio, os, signal, sys, uvloop
        from adaptive.speech.renderer import RenderJob
        from adaptive.speech.workers import WorkerRenderer

        async def main():
            made = WorkerRenderer(voices=("sine",), loader="worker_voices:load")
            await made.start()
            for text in ("A word.", "This hangs always."):
                stream = made.open(RenderJob(id=text, voice="sine"))
                stream.feed(text, final=True)
                stream.grant(1 << 40)
                if "hangs" not in text:
                    async for event in stream.events():
                        pass
            heavy = {"torch", "torchaudio", "onnxruntime", "scipy"} & set(sys.modules)
            await asyncio.sleep(0.1)
            print(next(iter(made._workers.values())).pid, sorted(heavy), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

        uvloop.run(main())
        """
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        script,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
        stdout=subprocess.PIPE,
    )
    out, _ = await process.communicate()
    pid, heavy = out.decode().split(maxsplit=1)
    assert heavy.strip() == "[]"
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(int(pid)).wait(timeout=5)
