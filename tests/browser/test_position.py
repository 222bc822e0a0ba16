"""Where the server says a listener is, against what was heard there, by a voice that tells where it is.

What the data track's player renders is kept in frames of its own context, so the recorder adds nothing; when each frame
leaves the loudspeaker is what the browser says (`getOutputTimestamp`), which knows it to one buffer of the sound card
(`baseLatency`). The audio track is recorded behind the receiver
in a context of its own: a sample is taken to be heard when the promptest message of the recorder says so, which is some
20 ms after it left the receiver.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sweep_voice
from bare import Bare
from inside import Inside
from recordings import RATE, pitch, sweep_ticks

pytestmark = [pytest.mark.browser, pytest.mark.long]

TEXT = "m" * 190
"""One clause of 11.4 s: its pitch tells the place in the utterance."""
SPOKEN, EACH, EVERY_S = 4, 52, 0.2
PATH = {"delay_ms": 50, "loss": 0.05}
SHARE = 0.95
STOCK = """async (url) => {
  const pc = new RTCPeerConnection();
  const stream = new MediaStream([pc.addTransceiver("audio", {direction: "recvonly"}).receiver.track]);
  globalThis.player = Object.assign(new Audio(), {srcObject: stream, autoplay: true});
  await pc.setLocalDescription(await pc.createOffer());
  const headers = {"Content-Type": "application/sdp"};
  const answer = await fetch(`${url}v1/listen?voice=sweep`, {method: "POST", headers, body: pc.localDescription.sdp});
  await pc.setRemoteDescription({type: "answer", sdp: await answer.text()});
}"""


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Inside]:
    """A server with the voice `sweep`."""
    monkeypatch.syspath_prepend(sweep_voice.installed(tmp_path))
    server = Inside("sweep", "tone")
    yield server
    server.close()


@pytest.fixture
def bare(inside: Inside, listen: Callable) -> Iterator[Bare]:
    """A page that leaves before the server does."""
    page = Bare(listen(inside), voice="sweep")
    yield page
    page.page.close()


def asked(inside: Inside, bare: Bare, say: Callable[[], Any]) -> list[tuple[float, int]]:
    """Positions told while it speaks, with `performance.now()`."""
    found, clock_ms = [], bare.clock_ms()

    def look() -> tuple[float, dict[str, Any] | None]:
        return time.monotonic(), inside.listener.snapshot()["speaking"]

    for _ in range(SPOKEN):
        say()
        taken, until = 0, time.monotonic() + 30
        while taken < EACH and time.monotonic() < until:
            at, speaking = inside.do(look)
            if speaking is not None and speaking["position"]:
                found.append((at * 1000 + clock_ms, speaking["position"]))
                taken += 1
            elif taken:
                break
            bare.ear.rest(EVERY_S)
        while inside.do(look)[1] is not None:
            bare.ear.rest(0.05)
        bare.ear.rest(0.5)
    drift_ms = bare.clock_ms() - clock_ms
    assert abs(drift_ms) < 1, f"the clocks of page and server drifted apart by {drift_ms:.1f} ms"
    return found


def judged(name: str, told: list[tuple[float, int]], places: Any, samples: Any) -> Any:
    """How far from the truth, s, each position was: more than what was heard is positive."""
    places = np.round(places).astype(int)
    inside = (places >= 0) & (places < len(samples))
    truth = np.full(len(places), np.nan)
    truth[inside] = sweep_ticks(pitch(samples))[places[inside]]
    errors = (np.array([position for _, position in told]) - truth) / RATE
    errors = errors[np.isfinite(errors)]
    quantiles = np.quantile(errors * 1000, [0, 0.025, 0.25, 0.5, 0.75, 0.975, 1]).round(1)
    print(f"{name}: {len(errors)} positions, ms off at 0, 2.5, 25, 50, 75, 97.5, 100 %: {quantiles}")
    assert len(errors) >= 180, "in too many places nothing clear was heard"
    return np.quantile(np.abs(errors), SHARE)


def test_the_data_tracks_position_is_what_sounds(inside: Inside, bare: Bare) -> None:
    bare.join(carrier="data")
    inside.network(down=PATH, up=PATH)
    bare.begin()
    told = asked(inside, bare, lambda: bare.say(TEXT))
    heard = bare.played()
    buffer_s, output_s = bare.page.evaluate("[played.context.baseLatency, played.context.outputLatency]")
    print(f"a buffer of the sound card is {buffer_s * 1000:.1f} ms, its output takes {output_s * 1000:.1f} ms")
    assert judged("data track", told, heard.at([at for at, _ in told]), heard.samples) <= 0.005 + buffer_s


def test_the_audio_tracks_position_is_what_sounds(inside: Inside, bare: Bare) -> None:
    bare.join(carrier="audio")
    inside.network(down=PATH, up=PATH)
    bare.ear.begin()
    told = asked(inside, bare, lambda: bare.say(TEXT))
    heard = bare.ear.end()
    places = (np.array([at for at, _ in told]) - heard.begun_ms) / 1000 * RATE
    assert judged("audio track", told, places, heard.samples) <= 0.06


def test_a_stock_players_position_is_about_what_sounds(inside: Inside, bare: Bare) -> None:
    bare.page.goto(f"{inside.url}static/style.css")
    bare.page.evaluate(STOCK, inside.url)
    bare.page.wait_for_function("player.currentTime > 0")
    inside.network(down=PATH, up=PATH)
    bare.ear.begin()

    def say() -> None:
        body = {"say": TEXT, "voice": "sweep"}
        bare.page.request.post(f"{inside.url}v1/listen/{bare.ear.listeners[-1]}/speak", data=body)

    told = asked(inside, bare, say)
    heard = bare.ear.end()
    places = (np.array([at for at, _ in told]) - heard.begun_ms) / 1000 * RATE
    assert judged("stock player", told, places, heard.samples) <= 0.25
