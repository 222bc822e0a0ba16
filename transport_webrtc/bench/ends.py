"""The processes of `legato bench media`: one that sends, one that listens, one that renders, one with a bare timer."""

import asyncio
import os
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

CONNECT_S = 60.0
SETTLE_S = 2.0
"""Between connecting and measuring: handshakes are over and the first plan is there."""
TIMER_S = 0.02
RENDER_NICE = 5
"""What the server's own render workers run at."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One stretch of sending."""

    cpu_s: float
    """Of the whole process, all its threads."""
    wall_s: float
    packets: int
    repeats: int
    late_p99_s: float | None
    rungs: list[str]


def run(main: Coroutine[Any, Any, None]) -> None:
    """As the server runs: on uvloop where it is installed."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(main)
    else:
        uvloop.run(main)


async def _received(link: Connection) -> Any:
    return await asyncio.get_running_loop().run_in_executor(None, link.recv)


def send(link: Connection, contender: str, recording: str, sessions: int, seconds: float) -> None:
    """Gets offers, gives answers; then measures for as many seconds as it is told, again and again, until None."""
    run(_send(link, contender, np.load(recording), sessions, seconds))


async def _send(link: Connection, name: str, samples: Any, sessions: int, seconds: float) -> None:
    from ..media.sending import Lateness
    from ..punctuality import ask_for_punctuality, settle
    from .contenders import Contender, Legato, Stock

    contender: Contender
    if name == "stock":
        contender = Stock(samples)
    else:
        ask_for_punctuality()  # as `legato serve` does
        contender = Legato(samples, sessions=sessions, seconds=seconds, sends=name)
    link.send([await contender.answer(offer) for offer in await _received(link)])
    async with asyncio.timeout(CONNECT_S):
        while contender.connected() < sessions:  # noqa: ASYNC110 - connections tell each on its own
            await asyncio.sleep(0.05)
    await asyncio.sleep(SETTLE_S)
    if name != "stock":
        settle()
    link.send("connected")
    while (asked := await _received(link)) is not None:
        lateness, packets, repeats = contender.lateness(), contender.packets(), contender.repeats()
        cpu, wall = time.process_time(), time.perf_counter()
        await asyncio.sleep(asked)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        total = Lateness.together(lateness)
        measured = Measured(
            cpu_s=cpu,
            wall_s=wall,
            packets=contender.packets() - packets,
            repeats=contender.repeats() - repeats,
            late_p99_s=total.percentile(99),
            rungs=contender.rungs(),
        )
        link.send(measured)
    await contender.close()


def listen(link: Connection, sessions: int, contender: str) -> None:
    """Gives offers, takes answers, then takes what comes until told to end. The listeners of `legato` and `data` report
    as browsers do and lose some packets, those of the others say what aiortc says."""
    run(_listen(link, sessions, contender))


async def _listen(link: Connection, sessions: int, contender: str) -> None:
    from .listeners import Ahead, Plain, Reporting

    kind = {"legato": Reporting, "data": Ahead}.get(contender, Plain)
    listeners = [kind() for _ in range(sessions)]
    link.send([await listener.offer() for listener in listeners])
    for listener, answer in zip(listeners, await _received(link), strict=True):
        await listener.take(answer)
    await _received(link)
    for listener in listeners:
        await listener.close()


def render_for_ever(link: Connection, voice: str, text: str) -> None:
    """Keeps a core busy the way a render worker does, at a worker's priority; says when it is at it."""
    from adaptive.speech.offline import render

    os.nice(RENDER_NICE)
    render(text, voice=voice)
    link.send("busy")
    while True:
        render(text, voice=voice)


def bare_timer(link: Connection) -> None:
    """A loop that only wakes every 20 ms against absolute deadlines; gives the 99th percentile of its lateness."""
    run(_bare_timer(link))


async def _bare_timer(link: Connection) -> None:
    from ..media.sending import Lateness

    link.send("ready")
    lateness, seconds, began = Lateness(), await _received(link), time.monotonic()
    for number in range(1, round(seconds / TIMER_S)):
        due = began + number * TIMER_S
        await asyncio.sleep(due - time.monotonic())
        lateness.add(time.monotonic() - due)
    link.send(lateness.percentile(99))
