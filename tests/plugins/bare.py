"""A page without controls that hears through legato.js, and what its player rendered."""

import base64
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from recordings import Samples
from scipy.ndimage import median_filter

SCRIPT = Path(__file__).parents[1] / "browser" / "played.js"
AROUND = 41
"""Rows of the clock: 2 s."""
JOIN = """async (options) => {
  const {connect} = await import(options.url + "static/legato.js");
  globalThis.told = [];
  globalThis.listener = connect(options);
  for (const name of ["event", "state", "carrier", "audible"]) {
    listener.addEventListener(name, ({detail}) => told.push({kind: name, ...detail, at: performance.now()}));
  }
  await listener.connected;
}"""


@dataclass(frozen=True, kw_only=True)
class Played:
    """What the player of the data track rendered."""

    begin: int
    """Frame of the player's context of the first sample."""
    samples: Samples
    """48 kHz."""
    clock: Any
    """Rows of (frame, `performance.now()`): when frames leave the loudspeaker, as the browser says."""

    def at(self, times_ms: Any) -> Any:
        """Places in `samples` that leave the loudspeaker at times of `performance.now()`."""
        frames, times = np.asarray(self.clock, float).T
        rate, offset = np.polyfit(times - times[0], frames, 1)
        asked = np.asarray(times_ms, float)
        # What the browser says of a moment is early or late by a few of its buffers, and a busy machine's clock slips.
        slipped = median_filter(frames - offset - rate * (times - times[0]), AROUND, mode="nearest")
        return offset + rate * (asked - times[0]) + np.interp(asked, times, slipped) - self.begin


def everything(server: Any, listener: str) -> list[dict[str, Any]]:
    """All events so far, by HTTP: a channel leaves some out where the network is bad."""
    headers, events = {"Last-Event-ID": "0"}, []
    with httpx.stream("GET", f"{server.url}{listener}/events", headers=headers, timeout=10) as response:
        for line in response.iter_lines():
            if line.startswith("data:"):
                events.append(json.loads(line[5:]))
                if events[-1]["event"] == "finished":
                    break
    return events


class Bare:
    """A page that listens, from `join` on; `ear` is the window. A voice of no language speaks only what names it."""

    def __init__(self, ear: Any, *, voice: str = "tone") -> None:
        self.ear, self.page, self.voice = ear, ear.page, voice
        self.page.add_init_script(path=SCRIPT)

    def join(self, **options: str) -> "Bare":
        """Connects, and waits until it stands."""
        self.page.goto(f"{self.ear.server.url}static/style.css")
        self.page.evaluate(JOIN, {"url": self.ear.server.url, **options})
        return self

    def say(self, text: str, **options: Any) -> str:
        """The id of the utterance."""
        return self.page.evaluate(
            "([text, options]) => listener.say(text, options)", [text, {"voice": self.voice, **options}]
        )

    def told(self, name: str, id: str) -> list[Mapping[str, Any]]:
        """Events of that name about an utterance, each with the time `at` of its arrival."""
        return [e for e in self.page.evaluate("told") if e.get("event") == name and e["id"] == id]

    def wait(self, name: str, id: str, *, within_s: float = 15) -> None:
        """Until an event of that name came."""
        self.page.wait_for_function(
            "([name, id]) => told.some((e) => e.event === name && e.id === id)", arg=[name, id], timeout=within_s * 1000
        )

    def reach(self, id: str, position: int, *, within_s: float = 15) -> None:
        """Until something was told of a place of the utterance from that tick on."""
        self.page.wait_for_function(
            "([id, position]) => told.some((e) => e.id === id && e.position >= position)",
            arg=[id, position],
            timeout=within_s * 1000,
        )

    def player(self) -> dict[str, Any]:
        """The player's counters."""
        return self.page.evaluate("listener.stats().then(({player}) => player)")

    def begin(self) -> None:
        """What was rendered before is let go."""
        self.page.evaluate("played.take().begin")

    def played(self) -> Played:
        """All that was rendered since."""
        got = self.page.evaluate("played.take()")
        samples = np.frombuffer(base64.b64decode(got["samples"]), np.float32)
        return Played(begin=got["begin"], samples=samples, clock=got["clock"])

    def clock_ms(self) -> float:
        """`performance.now()` at 0 of `time.monotonic()`, ms, by the promptest of some questions."""
        asked = []
        for _ in range(20):
            before = time.monotonic()
            now = self.page.evaluate("performance.now()")
            after = time.monotonic()
            asked.append((after - before, now - (before + after) * 500))
        return min(asked)[1]
