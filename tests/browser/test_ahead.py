"""Speech sent ahead, from the server's own sender to what the page renders."""

from collections.abc import Callable

import numpy as np
import pytest

pytestmark = pytest.mark.browser

TEXT = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"


def level(samples) -> float:
    """RMS."""
    return float(np.sqrt(np.mean(np.square(samples), dtype=float)))


def test_what_is_said_is_heard_and_each_word_told_when_it_sounds(server, listen: Callable) -> None:
    ear = listen(server)
    ear.open("voice=tone&carrier=data")
    ear.begin()
    utterance = ear.say(TEXT, voice="tone")
    ear.wait("sounding", within_s=10)
    ear.page.wait_for_selector("#plan :text('data track')")
    ear.wait("finished", within_s=20)
    ear.rest(0.3)
    heard = ear.end()
    assert level(heard.samples) > 0.01
    sounding = np.flatnonzero(np.abs(heard.samples) > 1e-3)
    words = ear.told("word", utterance)
    assert [word["text"].strip(".,") for word in words] == TEXT.split()
    finished = ear.told("finished", utterance)[0]
    assert (sounding[-1] - sounding[0]) / 48_000 == pytest.approx(finished["position"] / 48_000, abs=0.3)
    assert server.get(ear.listener)["carrier"] == "data"
    assert ear.complaints == []


def test_an_interruption_throws_away_what_was_sent_ahead(server, listen: Callable) -> None:
    ear = listen(server)
    ear.open("voice=tone&carrier=data")
    first = ear.say(TEXT, voice="tone")
    ear.wait("sounding", within_s=10)
    ear.rest(1.0)
    ear.begin()
    ear.page.click("#stop")
    ear.wait("interrupted", within_s=3)
    ear.rest(0.6)
    heard = ear.end()
    interrupted = ear.told("interrupted", first)[0]
    assert 0.8 * 48_000 < interrupted["position"] < 2.5 * 48_000
    sounding = np.flatnonzero(np.abs(heard.samples) > 1e-3)
    assert sounding[-1] / 48_000 < 0.35, "it sounded on"
    assert server.get(ear.listener)["lead_s"] == 0

    ear.say("Back again.", voice="tone")
    ear.wait("finished", within_s=10)
    assert ear.complaints == []


def test_an_outage_shorter_than_the_lead_is_not_heard(server, listen: Callable) -> None:
    ear = listen(server)
    ear.open("voice=tone&carrier=data")
    utterance = ear.say(f"{TEXT} {TEXT}", voice="tone")
    ear.wait("sounding", within_s=10)
    ear.begin()
    ear.rest(1.5)
    server.ask("PUT", f"{ear.listener}/network", {"down": {"loss": 1}, "up": {"loss": 1}})
    ear.rest(1.5)
    server.ask("PUT", f"{ear.listener}/network", {"preset": "clean"})
    ear.wait("finished", within_s=20)
    heard = ear.end()
    texts = [word["text"].strip(".,") for word in ear.told("word", utterance)]
    assert texts == TEXT.split() * 2
    ear.page.wait_for_function("document.querySelector('#state').dataset.state === 'connected'")
    blocks = np.abs(heard.samples[: len(heard.samples) // 4800 * 4800]).reshape(-1, 4800).max(axis=1) > 1e-3
    speech = np.flatnonzero(blocks)
    assert blocks[speech[0] : speech[-1] + 1].all(), "a gap of a tenth of a second was heard"
