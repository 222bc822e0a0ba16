"""A listener whose connection dies goes on over another one, at what it heard, and nobody plays it twice."""

import asyncio
import contextlib
import gc
import os
import threading
from pathlib import Path

import numpy as np
import pytest

LONG = "one two three four five six seven eight nine ten eleven twelve"
NARRATION = "/v1/listen?profile=narration"
TAKEOVER = "/v1/listen?takeover=1"


def bearer(response) -> dict[str, str]:
    """What the next connection presents."""
    return {"Authorization": f"Bearer {response.headers['legato-resume-token']}"}


async def progressed(one, position: int) -> None:
    async with asyncio.timeout(15):
        while not any(event["event"] == "word" and event["position"] >= position for event in one.events):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def away(server, one) -> None:
    listener = server.listeners.get(one.location.rsplit("/", 1)[1])
    await server.until(lambda: listener.state == "away")


def held() -> tuple[int, int, int]:
    """Tasks, threads and open files of this process."""
    gc.collect()
    return len(asyncio.all_tasks()), threading.active_count(), len(os.listdir("/proc/self/fd"))


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def speech_s(samples: np.ndarray) -> float:
    return float(np.mean(np.abs(samples) > 0.05)) * len(samples) / 48_000


async def test_the_speech_goes_on_at_the_word_over_another_connection(server, ear) -> None:
    first = ear(server)
    made = await first.connect(NARRATION)
    first.send({"say": LONG, "id": "a"})
    first.send({"say": "and one more", "id": "b"})
    await progressed(first, 48_000)
    await first.close()
    await away(server, first)
    await asyncio.sleep(0.3)
    held = (await first.snapshot())["speaking"]["position"]
    await asyncio.sleep(0.3)
    snapshot = await first.snapshot()
    assert (snapshot["state"], snapshot["speaking"]["position"]) == ("away", held)
    assert snapshot["queue"] == ["b"]
    late = await server.client.post(f"{first.location}/speak", json={"say": "said meanwhile", "id": "c"})
    assert late.status_code == 202
    second = ear(server)
    taken = await second.connect(f"{TAKEOVER}&after={first.events[-1]['number']}", headers=bearer(made))
    assert taken.status_code == 201
    assert second.location == first.location
    assert taken.headers["etag"] != made.headers["etag"]
    assert taken.headers["legato-resume-token"] != made.headers["legato-resume-token"]
    total = (await second.told("finished", id="a"))["ticks"]
    await second.told("finished", id="b")
    await second.told("finished", id="c")
    heard = [event for event in first.events if event["event"] == "word" and event["id"] == "a"]
    again = [event for event in second.events if event["event"] == "word" and event["id"] == "a"]
    told = [event["text"] for event in [*heard, *again]]
    assert sorted(set(told), key=told.index) == LONG.split(), "no word is missing"
    assert len(told) - len(LONG.split()) <= 2, "no more is heard again than the word that was not heard out"
    numbers = [event["number"] for event in [*first.events, *second.events]]
    assert numbers == sorted(set(numbers)), "no event is told twice"
    missing_s = total / 48_000 - speech_s(first.samples()) - speech_s(second.samples()[: 48_000 * 60])
    assert missing_s < 0.1
    assert await server.client.get(first.location)
    assert "legato_takeovers_total 1.0" in (await server.client.get("/metrics")).text


async def test_a_connection_that_believes_itself_alive_is_closed_at_once(server, ear) -> None:
    first, second = ear(server), ear(server)
    made = await first.connect(NARRATION)
    first.send({"say": LONG, "id": "a"})
    await first.told("word")
    await second.connect(TAKEOVER, headers=bearer(made))
    before = speech_s(first.samples())
    await second.told("word")
    await server.until(lambda: first.pc.connectionState == "closed")
    await asyncio.sleep(0.3)
    assert speech_s(first.samples()) - before < 0.15, "both heard it"
    assert len(server.listeners) == 1


@pytest.mark.parametrize("how", ["at once", "used"])
async def test_a_token_works_once(server, ear, how: str) -> None:
    first = ear(server)
    made = await first.connect()
    await first.close()
    one, other = ear(server), ear(server)
    if how == "used":
        await one.connect(TAKEOVER, headers=bearer(made))
        answers = [await other.connect(TAKEOVER, headers=bearer(made))]
        assert answers[0].status_code == 404
        assert "takeover" in answers[0].json()["error"]
        return
    answers = await asyncio.gather(*(each.connect(TAKEOVER, headers=bearer(made)) for each in (one, other)))
    assert sorted(answer.status_code for answer in answers) == [201, 409]
    assert "try again" in next(answer for answer in answers if answer.status_code == 409).json()["error"]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
@pytest.mark.parametrize(("warm", "cycles"), [(3, 12), pytest.param(100, 200, marks=pytest.mark.long, id="200")])
async def test_reconnecting_leaves_nothing_behind(server, ear, warm: int, cycles: int) -> None:
    first = ear(server)
    token = bearer(await first.connect(NARRATION))
    first.send({"say": f"{LONG} " * 40, "id": "a"})
    await first.told("word")
    previous, base, before, seen = first, None, 0, set()
    for number in range(warm + cycles):
        if number == warm:
            await asyncio.sleep(0.5)
            base, before = held(), resident()
        one = ear(server)
        answer = await one.connect(f"{TAKEOVER}&after={previous.events[-1]['number']}", headers=token)
        assert answer.status_code == 201
        await previous.close()
        token, previous = bearer(answer), one
        seen.add(token["Authorization"])
        await one.told("word")
    await asyncio.sleep(0.5)
    with contextlib.suppress(TimeoutError):
        await server.until(lambda: all(now <= then for now, then in zip(held(), base, strict=True)), seconds=5)
    print(f"{cycles} reconnects: tasks, threads, files {base} before, {held()} after")
    assert all(now <= then for now, then in zip(held(), base, strict=True))
    assert len(seen) == warm + cycles
    grown = resident() - before
    print(f"{cycles} reconnects: {grown / 1e6:.1f} MB more")
    assert grown < 10_000_000
    assert len(server.listeners) == 1
