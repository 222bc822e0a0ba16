"""A page whose connection dies takes its speech up again by itself, on either carrier."""

import time
from collections.abc import Callable

import numpy as np
import pytest
from bare import everything

pytestmark = pytest.mark.browser

COUNT = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
DEAD = {"down": {"loss": 1}, "up": {"loss": 1}}


def sounding_s(samples: np.ndarray) -> float:
    """How long something sounded: the tone, between the pauses of its words."""
    blocks = np.abs(samples[: len(samples) // 480 * 480]).reshape(-1, 480).max(axis=1)
    return float(np.sum(blocks > 0.03)) / 100


@pytest.mark.parametrize("carrier", ["data", "audio"])
def test_a_dead_path_is_left_for_another_and_the_speech_goes_on(server, listen: Callable, carrier: str) -> None:
    ear = listen(server)
    ear.open(f"voice=tone&profile=narration&carrier={carrier}")
    ear.begin()
    utterance = ear.say(COUNT, voice="tone")
    ear.page.wait_for_selector("#transcript .spoken")
    ear.rest(0.4)
    server.ask("PUT", f"{ear.listener}/network", DEAD)
    ear.page.wait_for_selector("#state[data-state=reconnecting]", timeout=8000)
    ear.rest(2.5)
    assert len(ear.listeners) > 1, "it tries while the network is away"
    server.ask("PUT", f"{ear.listener}/network", {"preset": "clean"})
    back = time.monotonic()
    ear.page.wait_for_selector("#state[data-state=connected]", timeout=8000)
    took_s = time.monotonic() - back
    ear.wait("finished", within_s=40)
    ear.rest(0.5)
    heard = ear.end()
    assert took_s < 4
    assert len(set(ear.listeners)) == 1, "it is the same listener all along"
    words = [event["text"] for event in everything(server, ear.listener) if event["event"] == "word"]
    assert list(dict.fromkeys(words)) == COUNT.split()
    again = len(words) - len(COUNT.split())
    ticks = ear.told("finished", utterance)[0]["position"]
    whole_s, sounded_s = ticks / 48_000, sounding_s(heard.samples)
    print(f"{carrier}: back after {took_s:.2f} s, {again} words again, {sounded_s:.2f} s sounded of {whole_s:.2f}")
    assert again <= 1
    assert ear.page.is_hidden("#problem")
