"""Listeners come and go, and nothing of them stays: no memory, no task, no thread, no open file."""

import asyncio
import gc
import os
import threading
from pathlib import Path

import pytest

MEGABYTE = 1024 * 1024


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def held() -> tuple[int, int, int]:
    """Tasks, threads and open files of this process."""
    gc.collect()
    return len(asyncio.all_tasks()), threading.active_count(), len(os.listdir("/proc/self/fd"))


async def cycle(server, ear) -> None:
    """One listener: connects, speaks, follows its events, leaves."""
    one = ear(server)
    await one.connect()
    one.send({"say": "Hi.", "id": "a"})
    await one.told("finished", id="a")
    await server.client.delete(one.location)
    await one.close()
    await server.until(lambda: len(server.listeners) == 0)


async def settled(base: tuple[int, int, int]) -> tuple[int, int, int]:
    """What is held once things that end by themselves have ended."""
    for _ in range(20):
        if held() == base:
            break
        await asyncio.sleep(0.2)
    return held()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
@pytest.mark.parametrize(("warm", "cycles"), [(3, 12), pytest.param(10, 50, marks=pytest.mark.long, id="sixty in all")])
async def test_nothing_stays(server, ear, warm: int, cycles: int) -> None:
    for _ in range(warm):
        await cycle(server, ear)
    await asyncio.sleep(0.5)
    base, before = held(), resident()
    for _ in range(cycles):
        await cycle(server, ear)
    assert await settled(base) == base
    grown = resident() - before
    assert grown < 10 * MEGABYTE, f"{grown / MEGABYTE:.1f} MB more after {cycles} listeners"


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
async def test_refused_and_unconnected_offers_leave_nothing(server, ear) -> None:
    offered = ear(server)
    offered.pc.addTransceiver("audio", "recvonly")
    await offered.pc.setLocalDescription(await offered.pc.createOffer())
    sdp = offered.pc.localDescription.sdp
    headers = {"Content-Type": "application/sdp"}
    base = None
    for _ in range(3):
        for body in (sdp, sdp.replace("a=fingerprint:sha-256 ", "a=fingerprint:sha-256 X"), sdp[: len(sdp) // 2]):
            made = await server.client.post("/v1/listen", content=body, headers=headers)
            if made.status_code == 201:
                await server.client.delete(made.url.join(made.headers["location"]))
        if base is None:
            await asyncio.sleep(0.5)
            base = held()
    assert await settled(base) == base
