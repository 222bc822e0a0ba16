"""A connection dies for good, and HTTP with it; when HTTP is back, the speech goes on over another connection."""

import dataclasses
import itertools
import time
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import numpy as np
import pytest
from bare import Bare, everything
from inside import Inside
from recordings import FLOOR, RATE
from tunnel import Tunnel

from transport_webrtc.datagram_filter import LabNetwork

pytestmark = [pytest.mark.browser, pytest.mark.long]

NUMBERS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
COUNT = f"{NUMBERS} {NUMBERS} {NUMBERS}"
AWAY_S = 9.0
"""Longer than what was sent ahead lasts, and than the page waits for a path to heal."""
BACK_S = 4.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Behind:
    """The same server at another address."""

    url: str
    token: None = None


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch) -> Iterator[Inside]:
    """A server where a later connection of a listener has a path of its own, as behind another address."""
    monkeypatch.setattr(LabNetwork, "be_like", lambda self, other: None)
    server = Inside("tone")
    yield server
    server.close()


@pytest.mark.parametrize("way", ["unanswered", "offline"])
@pytest.mark.parametrize("carrier", ["data", "audio"])
def test_a_network_that_was_gone_is_spoken_over_again(inside: Inside, listen: Callable, carrier: str, way: str) -> None:
    with Tunnel(urlsplit(inside.url).port) as tunnel:
        bare = Bare(listen(Behind(url=f"http://127.0.0.1:{tunnel.port}/")))
        bare.join(carrier=carrier, profile="voice_chat")
        clock_ms = bare.clock_ms()
        bare.ear.begin()
        utterance = bare.say(COUNT)
        bare.reach(utterance, RATE)
        inside.network(down={"loss": 1}, up={"loss": 1})
        gone(bare, tunnel, way)
        bare.ear.rest(AWAY_S)
        returned(bare, tunnel, way)
        back_ms = time.monotonic() * 1000 + clock_ms
        bare.wait("finished", utterance, within_s=60)
        bare.ear.rest(0.3)
        heard = bare.ear.end()
        words = [e["text"] for e in everything(inside, bare.ear.listener) if e["event"] == "word"]
        states = [(round(e["at"] - back_ms), e["state"]) for e in bare.page.evaluate("told") if e["kind"] == "state"]
        bare.page.close()
    sounding = np.flatnonzero(np.abs(heard.samples) > FLOOR)
    back = (back_ms - heard.begun_ms) / 1000 * RATE
    assert not np.any((sounding > back - RATE) & (sounding < back)), "it was not silent, so nothing is shown"
    silent_s = (sounding[sounding > back][0] - back) / RATE
    again = len(words) - len(COUNT.split())
    print(f"{carrier}, {way}: speech again after {silent_s:.2f} s, {again} words again; {states}")
    assert len(set(bare.ear.listeners)) == 1, "it is the same listener all along"
    assert len(bare.ear.listeners) > 1, "it is the same connection all along"
    assert [word for word, _ in itertools.groupby(words)] == COUNT.split()
    assert 0 <= again <= 1
    assert silent_s <= BACK_S


def gone(bare: Bare, tunnel: Tunnel, way: str) -> None:
    """HTTP ends: without an answer, or so that the browser knows."""
    if way == "offline":
        bare.page.context.set_offline(True)
    else:
        tunnel.die()


def returned(bare: Bare, tunnel: Tunnel, way: str) -> None:
    """HTTP is there again."""
    if way == "offline":
        bare.page.context.set_offline(False)
    else:
        tunnel.live()
