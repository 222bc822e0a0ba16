"""Legato itself: `legato serve` in the server's namespace, and its own client in the page."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ..chromium import Chromium
from ..clip import Clip
from .names import SenderName

START_S = 300.0
"""A first start builds the voice's files."""
LEAVING_MS = 5_000
PROGRAM = "from transport_webrtc.cli import main; main()"
PINNED = "from transport_webrtc.bench.network.senders.lead import pin; pin({lead_s!r}); " + PROGRAM


class LegatoServer:
    """A warm server."""

    def __init__(
        self, namespace: str, origin: str, *, voice: str, controller: str, lead_s: float | None = None
    ) -> None:
        """`lead_s` instead of the profile's. Raises RuntimeError where it does not become ready."""
        host, port = origin.split("//")[1].split(":")
        self._folder = tempfile.TemporaryDirectory(prefix="legato-serve-")
        self._log = Path(self._folder.name) / "log.txt"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("LEGATO_")}
        arguments = ["serve", "--host", host, "--port", port, "--voices", voice, "--controller", controller]
        program = PROGRAM if lead_s is None else PINNED.format(lead_s=lead_s)
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                ["ip", "netns", "exec", namespace, sys.executable, "-c", program, *arguments],
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._wait()

    def _wait(self) -> None:
        deadline = time.monotonic() + START_S
        while "It is warm" not in self._log.read_text():
            if self._process.poll() is not None or time.monotonic() > deadline:
                said = self._log.read_text()[-2000:]
                self.close()
                raise RuntimeError(f"legato serve did not start: {said}")
            time.sleep(0.2)

    def close(self) -> None:
        """Ends it."""
        self._process.terminate()
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()


class LegatoSender:
    """One listener after the other of the server that runs at the pages' origin."""

    def __init__(self, name: SenderName, *, clip: Clip, listener: Chromium, profile: str) -> None:
        self._name, self._clip, self._listener, self._profile = name, clip, listener, profile
        self._page: Any = None
        self._lingers = False

    def connect(self) -> Any:
        """A page with Legato's client, joined; its buffer is what the server asks for unless the name pins it."""
        if self._lingers:
            raise RuntimeError("The listener before is still being sent to, which would disturb this one")
        self._page = self._listener.open("legato.html", script="ear.js")
        self._page.wait_for_function("globalThis.ready")
        options = {
            "voice": self._clip.voice,
            "profile": self._profile,
            "carrier": self._name.options[0],
            "jitterBufferTarget": self._name.delay_ms,
        }
        self._page.evaluate("o => join(o)", {name: value for name, value in options.items() if value is not None})
        return self._page

    def go(self) -> float:
        """Hands the text over on the control channel."""
        at_ms: float = self._page.evaluate("text => say(text)", self._clip.text)
        return at_ms / 1000

    def told(self, spoken_at: float) -> dict[str, Any]:
        """The events of the utterance and the plans that held (`at` in seconds from `spoken_at`), and the snapshot."""
        asked = self._page.evaluate("ear.now()") / 1000
        snapshot = self._page.evaluate("snapshot()")
        came = self._page.evaluate("ear.now()") / 1000
        connected = (asked + came) / 2 - snapshot["connected_s"] - spoken_at
        events, plans = self._page.evaluate("told()"), snapshot.pop("plans")
        return {
            "events": [{**event, "at": event["at"] + connected} for event in events],
            "plans": [{**plan, "at": plan["at"] + connected} for plan in plans],
            "snapshot": snapshot,
        }

    def leave(self) -> None:
        """Says goodbye, and waits until the server has heard it."""
        from playwright.sync_api import Error

        if self._page is None:
            return
        try:
            with self._page.expect_response(lambda answer: answer.request.method == "DELETE", timeout=LEAVING_MS):
                self._page.evaluate("leave()")
        except Error:
            self._lingers = True
        self._page.context.close()
        self._page = None

    def close(self) -> None:
        """The server is the stage's."""
