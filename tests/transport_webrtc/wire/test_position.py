"""The position that the server tells, against what comes out at the listener at that moment, at 5 % loss."""

import asyncio
import bisect
import time

import numpy as np
import pytest
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription

from transport_webrtc.client import Client
from transport_webrtc.ear import Ear

TEXT = "word " * 45
NETWORK = {"down": {"delay_ms": 40, "jitter_ms": 5, "loss": 0.05}, "up": {"delay_ms": 40, "loss": 0.05}}


class Truth:
    """Which RTP timestamp comes out of a playout when."""

    def __init__(self, playout):
        self.playout, self.out, self.timestamps = playout, [], []
        decode = playout._decode

        def decoded(packet, missing, span):
            samples = decode(packet, missing, span)
            if len(samples):
                self.out.append(playout._out)
                self.timestamps.append(packet.timestamp % 2**32)
            return samples

        playout._decode = decoded

    def at(self, now):
        """The timestamp of the sample that comes out at `now`."""
        out = round((now - self.playout.start) * 48_000)
        place = bisect.bisect_right(self.out, out) - 1
        return None if place < 0 else self.timestamps[place] + out - self.out[place]


async def measure(server, listener, left, ear, samples):
    """How far the position was from the truth, s, at `samples` moments of speech."""
    what, truth = left(listener, time.monotonic), Truth(ear.playout)
    packets = []
    arrived = ear.playout.arrived

    def keep(now, sequence, timestamp, payload):
        packets.append((timestamp, payload))
        arrived(now, sequence, timestamp, payload)

    ear.playout.arrived = keep
    listener.network.set(**NETWORK)
    await asyncio.sleep(1.0)
    said = await server.client.post(f"/v1/listen/{listener.id}/speak", json={"say": TEXT})
    assert said.status_code == 202
    await server.until(lambda: listener.sent.frames > 50)
    told = []
    for _ in range(samples):
        await asyncio.sleep(0.05)
        now = time.monotonic()
        told.append((now, listener._speaker.position()))
    await asyncio.sleep(0.5)
    starts = {tick: block.start for _, tick, _, block in what.packets if block is not None and block.speech}
    by_payload = {}
    for _, tick, payload, _ in what.packets:
        by_payload.setdefault(payload, []).append(tick)
    votes = [(timestamp - tick) % 2**32 for timestamp, payload in packets for tick in by_payload.get(payload, ())]
    offset = max(set(votes), key=votes.count)
    errors = []
    for now, position in told:
        tick = (truth.at(now) - offset) % 2**32
        first = max(start for start in starts if start <= tick)
        errors.append((position - (starts[first] + tick - first)) / 48_000)
    return np.array(errors)


async def bare(server):
    """A listener without any data channel, and its ear."""
    pc = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    transceiver = pc.addTransceiver("audio", "recvonly")
    await pc.setLocalDescription(await pc.createOffer())
    made = await server.client.post(
        "/v1/listen", content=pc.localDescription.sdp, headers={"Content-Type": "application/sdp"}
    )
    await pc.setRemoteDescription(RTCSessionDescription(sdp=made.text, type="answer"))
    ear = Ear(time.monotonic)
    ear.listen(transceiver.receiver)
    return pc, ear, server.listeners.get(made.headers["location"].rsplit("/", 1)[1])


@pytest.mark.alone
@pytest.mark.parametrize("samples", [40, pytest.param(200, marks=pytest.mark.long)])
async def test_the_position_is_what_comes_out(serve, left, samples):
    server = await serve(lab=True)
    pc, ear, stock = await bare(server)
    try:
        async with Client(server.url, carrier="audio") as client:
            listener = next(one for one in server.listeners if one is not stock)
            await server.until(lambda: stock.state == "connected")
            errors = await asyncio.gather(
                measure(server, listener, left, client.ear, samples), measure(server, stock, left, ear, samples)
            )
    finally:
        await ear.close()
        await pc.close()
    limit = 95 if samples >= 200 else 80  # of few, more than a twentieth may fall to one change of the playout delay
    with_channels, without = (float(np.percentile(np.abs(found), limit)) for found in errors)
    assert with_channels <= 0.06
    assert without <= 0.25
