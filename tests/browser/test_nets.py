"""A browser behind a TURN server alone, and behind a reverse proxy with a prefix."""

import dataclasses
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

pytestmark = pytest.mark.browser

RELAY_ONLY = """(() => {
  const Native = RTCPeerConnection.prototype.setConfiguration;
  RTCPeerConnection.prototype.setConfiguration = function (configuration) {
    globalThis.pcs = [...(globalThis.pcs ?? []), this];
    return Native.call(this, {...configuration, iceTransportPolicy: "relay"});
  };
})();"""
PAIR = """async () => {
  const stats = await pcs.at(-1).getStats();
  const all = [...stats.values()];
  const pair = all.find((entry) => entry.type === "candidate-pair" && entry.nominated && entry.state === "succeeded");
  return [stats.get(pair.localCandidateId).candidateType, stats.get(pair.localCandidateId).relayProtocol];
}"""


def hears_and_interrupts(ear: Any) -> None:
    """Through the page, as a person does."""
    ear.begin()
    first = ear.say("m" * 200, voice="tone")
    ear.wait("sounding", within_s=10)
    ear.rest(1.5)
    ear.page.fill("#text", "ee")
    second = ear.press("#interrupt")
    ear.wait("finished", within_s=10)
    assert ear.told("interrupted", first)
    assert ear.told("finished", second)
    samples = ear.end().samples
    assert np.sqrt(np.mean(samples**2)) > 0.02


@pytest.mark.parametrize("way", [pytest.param("udp", marks=pytest.mark.long), "tcp"])
def test_a_page_below_a_prefix_and_behind_turn_alone(
    turn: Any, nginx: Callable[[int], str], serve: Callable, listen: Callable, way: str
) -> None:
    ice = json.dumps([{"urls": turn.url(way), "secret": turn.secret}])
    server = serve(voices="tone", voice="tone", ice_servers=ice)
    behind = dataclasses.replace(server, url=f"{nginx(urlsplit(server.url).port)}/")
    ear = listen(behind)
    ear.page.add_init_script(RELAY_ONLY)
    ear.open()
    hears_and_interrupts(ear)
    assert behind.get(ear.listener)["carrier"] == "data"
    assert ear.page.evaluate(PAIR) == ["relay", way]
    assert not ear.complaints
    ear.page.goto("about:blank")  # goodbye, as long as there is a way to say it
    ear.rest(0.5)
