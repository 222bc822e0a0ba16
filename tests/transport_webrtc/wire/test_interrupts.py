"""Fifty interrupts of the audio track at random places, captured as packets leave: nothing old follows."""

import asyncio
import contextlib
import random

from adaptive.control.plan import Protection
from transport_webrtc import aiortc_private
from transport_webrtc.messages import SayMessage

LONG = "a" * 200
"""Twelve seconds."""
EACH = 10


async def ask_again(far):
    """Asks for the last packets over and over, as a receiver does that lost them all."""
    with contextlib.suppress(asyncio.CancelledError):
        while True:
            await asyncio.sleep(0.015)
            if far.packets:
                newest = int.from_bytes(far.packets[-1][2:4], "big")
                await far.ask_again([newest - back for back in range(12)])


async def interrupt(scene, left, seed):
    """Interrupts `EACH` times; returns for each what left after it, and the tick of the next frame then."""
    dice, loop, listener = random.Random(seed), asyncio.get_running_loop(), scene.listener
    what, leaving = left(listener, loop.time), []

    def see(data):
        leaving.extend([data] if not 192 <= data[1] < 224 else [])
        return data

    aiortc_private.rewrite_leaving(listener.line._peer.sender, see)
    scene.controller.protection = Protection(nack=True, copies=(1, 3))
    asking = asyncio.create_task(ask_again(scene.far))
    listener.say(SayMessage(say=LONG, id="0"))
    cuts = []
    for number in range(1, EACH + 1):
        frames = listener.sent.frames
        await scene.server.until(lambda frames=frames: listener.sent.frames > frames)
        await asyncio.sleep(dice.uniform(0.03, 0.45))
        _, tick, _, block = what.packets[-1]
        cuts.append((len(leaving), tick + (960 if block is None else len(block.samples))))
        if dice.random() < 0.5:
            listener.say(SayMessage(say=LONG, id=str(number), interrupt=True))
        else:
            listener._speaker.stop()
            listener.say(SayMessage(say=LONG, id=str(number)))
    await asyncio.sleep(0.3)
    asking.cancel()
    await asyncio.gather(asking)
    return what.within(leaving), cuts, scene.listener.sent.repeats


async def test_nothing_old_follows_but_the_frame_in_which_it_fades(meet, left):
    scenes = [await meet(asks=False) for _ in range(5)]
    results = await asyncio.gather(*(interrupt(scene, left, seed) for seed, scene in enumerate(scenes)))
    assert sum(repeats for _, _, repeats in results) > 50, "what is not cut off is sent again"
    for packets, cuts, _ in results:
        assert sum(any(block.utterance == "0" for _, block in blocks) for blocks in packets) > 0
        for number, (index, following) in enumerate(cuts):
            old = [
                (tick, place)
                for place, blocks in enumerate(packets[index:])
                for tick, block in blocks
                if block.utterance == str(number)
            ]
            assert len(old) <= 1, "one frame, no copy of it, no copy of an older one, none sent again"
            assert all(tick <= following for tick, _ in old), "it is the very next one"
