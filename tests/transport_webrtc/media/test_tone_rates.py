"""Voices of any rate through renderer, speaker and track: the pitch, the length, and no hole at a chunk's border."""

import asyncio

import numpy as np
import pytest

from adaptive.codec.opus import OpusDecoder
from adaptive.control.profiles import PROFILES
from adaptive.speech.local import LocalRenderer
from transport_webrtc.media.audio_track import OpusAudioTrack
from transport_webrtc.messages import SayMessage
from transport_webrtc.speaker import Speaker

RATES = (8_000, 16_000, 22_050, 24_000, 44_100, 48_000)


@pytest.mark.parametrize("rate", RATES)
async def test_a_tone_of_any_rate_arrives_as_it_is(rate):
    renderer = LocalRenderer((f"tone-{rate}",))
    await renderer.start()
    finished = asyncio.Event()
    now = 0.0
    speaker = Speaker(
        renderer=renderer,
        profile=PROFILES["voice_chat"],
        voice=f"tone-{rate}",
        emit=lambda name, id, data: finished.set() if name == "finished" else None,
        clock=lambda: now,
    )
    track = OpusAudioTrack(speaker.take, clock=lambda: now)
    speaker.connected()
    speaker.say(SayMessage(say="a" * 40))
    packets = []
    async with asyncio.timeout(10):
        while (report := speaker.compute_report(now)).ready_s is not None:
            if report.rendering and report.ready_s < 0.1:
                await asyncio.sleep(0.002)
                continue
            packets.append(bytes(await track.recv()))
            now += 0.02
        await finished.wait()
    for _ in range(2):
        packets.append(bytes(await track.recv()))
        now += 0.02
    assert speaker.snapshot()["underruns"]["count"] == 0
    track.stop()
    speaker.close()
    await renderer.close()

    decoder = OpusDecoder()
    sound = np.concatenate([decoder.decode(packet, 2_880) for packet in packets])
    level = np.sqrt(np.convolve(sound**2, np.ones(240) / 240, mode="same"))
    sounding = np.flatnonzero(level > 0.1)
    first, last = sounding[0], sounding[-1]
    assert (last - first) / 48_000 == pytest.approx(40 * 0.06, rel=0.01)
    assert level[first:last].min() > 0.1
    middle = sound[first + 2_400 : last - 2_400]
    spectrum = np.abs(np.fft.rfft(middle * np.hanning(len(middle)), 2**20))
    assert spectrum.argmax() * 48_000 / 2**20 == pytest.approx(440, abs=2)
