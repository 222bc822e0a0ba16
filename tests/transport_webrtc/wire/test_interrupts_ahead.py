"""Fifty interrupts of speech sent ahead at random places: silence when the message comes, and nothing old after it."""

import asyncio
import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from adaptive.delivery.wire import unpack
from transport_webrtc.client import Client

LONG = "a" * 200
"""Twelve seconds."""
SILENT_S = 0.03
PAUSE_S = 0.25
"""Before what interrupts begins to sound: what still sounds until then is old."""


@dataclass
class Cut:
    """One interrupt: when it was asked for, reached the server, left, arrived, and when the old speech fell silent."""

    asked: float
    taken: float
    left: float
    arrived: float
    silent: float


def watched(client: Client) -> list[tuple[float, int]]:
    """When each new epoch arrived, and which."""
    player, epochs = client.ear.player, []
    take = player.take

    def taken(now: float, data: bytes) -> None:
        epoch = unpack(data).epoch
        if not epochs or epoch != epochs[-1][1]:
            epochs.append((now, epoch))
        take(now, data)

    player.take = taken  # type: ignore[method-assign]
    return epochs


def silent_after(heard: np.ndarray) -> float:
    """Seconds until the first 50 ms of silence."""
    loud = np.flatnonzero(np.abs(np.append(heard, 1.0)) > 1e-3)
    gaps = np.flatnonzero(np.diff(loud, prepend=-1) > 2400)
    return float(loud[gaps[0] - 1] + 1) / 48_000 if gaps[0] else 0.0


async def interrupt(server: Any, client: Client, ahead: Any, seed: int, each: int) -> list[Cut]:
    """Cuts off `each` utterances where they are."""
    dice, player = random.Random(seed), client.ear.player
    listener = server.listeners.get(client._resource.below("").rsplit("/", 1)[1])
    wire, epochs, cuts = ahead(listener), watched(client), []
    taken, do = [], listener._inbox._on_message
    listener._inbox._on_message = lambda message: (taken.append(client.ear.now), do(message))
    await client.say(LONG, id="0")
    for number in range(1, each + 1):
        spoken = player.spoken_s
        await server.until(lambda spoken=spoken: player.spoken_s > spoken and player.buffered_s > 1)
        await asyncio.sleep(dice.uniform(0.0, 0.4))
        before, seen, asked = len(wire.messages), len(taken), client.ear.now
        if dice.random() < 0.5:
            await client.interrupt(LONG, id=str(number), at=PAUSE_S)
        else:
            client.send({"stop": True})
            await client.say(LONG, id=str(number), at=PAUSE_S)
        await asyncio.sleep(PAUSE_S)
        arrived, epoch = epochs[-1]
        left = next(at for at, message in wire.messages[before:] if message.epoch == epoch)
        cuts.append(Cut(asked, taken[seen], left, arrived, arrived + silent_after(client.ear.heard(arrived))))
    after = [message.epoch for _, message in wire.messages]
    assert after == sorted(after), "nothing of an older epoch leaves"
    assert player.stale == 0
    return cuts


@pytest.mark.long
@pytest.mark.parametrize(("clients", "each"), [(5, 10)])
async def test_speech_sent_ahead_is_cut_off_where_it_is(serve: Any, ahead: Any, clients: int, each: int) -> None:
    server = await serve()
    cuts: list[Cut] = []
    for seed in range(clients):
        async with Client(server.url, carrier="data") as client:
            cuts += await interrupt(server, client, ahead, seed, each)
    assert len(cuts) == clients * each
    for name, spans in {
        "from asking to the server": [cut.taken - cut.asked for cut in cuts],
        "from there to leaving": [cut.left - cut.taken for cut in cuts],
        "from leaving to arrival": [cut.arrived - cut.left for cut in cuts],
        "from arrival to silence": [cut.silent - cut.arrived for cut in cuts],
        "from asking to silence": [cut.silent - cut.asked for cut in cuts],
    }.items():
        ms = np.array(spans) * 1000
        over = int(np.sum(ms > 30))
        print(f"{name}: median {np.median(ms):.1f}, max {ms.max():.1f} ms; {over} of {len(cuts)} over 30")
    assert max(cut.silent - cut.arrived for cut in cuts) <= SILENT_S
