"""What a person hears on a clean network, judged against the server's own rendering of the same text."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adaptive.speech.registry import load_voice
from adaptive.speech.renderer import Chunk
from adaptive.speech.stream import SpeechStream
from quality import perceptual

pytestmark = [pytest.mark.browser, pytest.mark.voices, pytest.mark.judge]

TEXT = "The lights of the other shore came up, one after another, and then the knocking at the door stopped."
BUFFER_MS = 150
MIN_PESQ = 3.8
MAX_WER = 0.1


def as_spoken(text: str, tier: str, switches: list[dict]):
    """The server's own rendering, with the tiers at which it was spoken: a busy machine lowers them on the way."""
    stream = SpeechStream(load_voice("joe"))
    stream.feed(text, final=True)
    chunks = []
    while not stream.done:
        tier = next((e["to"] for e in reversed(switches) if e["position"] <= stream.position), tier)
        chunks += [e.samples for e in stream.next(tier=tier, chunk_frames=None) if isinstance(e, Chunk)]
    return np.concatenate(chunks)


def test_a_page_hears_a_sentence_as_it_was_rendered(server, listen: Callable, undisturbed) -> None:
    ear = listen(server)
    ear.open(f"voice=joe&buffer={BUFFER_MS}")
    # The receiver's buffer grows to what it was asked for by stretching the first speech.
    ear.say("Are you there? We begin now.", voice="joe")
    ear.wait("finished", within_s=20)
    said: dict[str, Any] = {}
    concealed: list[int] = []

    def once():
        ear.rest(1)
        said["tier"] = server.get(ear.listener)["plan"]["tier"]
        before = ear.stats()
        ear.begin()
        utterance = ear.say(TEXT, voice="joe")
        ear.wait("finished", within_s=20)
        ear.rest(0.7)
        concealed.append(ear.stats()["concealedSamples"] - before["concealedSamples"])
        said["switches"] = [e for e in ear.told("switched", utterance) if e["kind"] == "tier"]
        return ear.end()

    heard = undisturbed(once)
    if said["switches"]:
        said["tier"] = said["switches"][0]["from"]
    reference = as_spoken(TEXT, **said)
    found = perceptual.align(heard.samples, reference, rate=48_000, latest_s=5)
    pesq = perceptual.pesq_wb(reference, found.samples, rate=48_000)
    wer = perceptual.word_error_rate(TEXT, heard.samples, rate=48_000)
    print(f"PESQ-WB {pesq:.2f}, word error rate {wer:.2f}, audio clock {heard.slip:+.2%}")
    print(f"concealed samples {concealed[-1]}, {said}, runs {len(concealed)}")
    assert pesq >= MIN_PESQ
    assert wer <= MAX_WER
    assert ear.complaints == []
