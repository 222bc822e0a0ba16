"""Senders in Python without any control: aiortc as it comes, and a fixed Opus stream; a process in the namespace."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from ..chromium import Chromium
from ..clip import Clip
from .names import SenderName

MODULE = "transport_webrtc.bench.network.senders.native_process"


class NativeSender:
    """Signalled through the page's `makeOffer` and `takeAnswer`."""

    def __init__(self, name: SenderName, *, clip: Clip, listener: Chromium, namespace: str) -> None:
        self._name, self._listener = name, listener
        self._page: Any = None
        self._folder = tempfile.TemporaryDirectory(prefix="legato-clip-")
        wav = Path(self._folder.name) / "clip.wav"
        wav.write_bytes(clip.wav)
        self._process = subprocess.Popen(
            ["ip", "netns", "exec", namespace, sys.executable, "-m", MODULE, name.kind, str(wav)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._ask({"ready": True})

    def connect(self) -> Any:
        """A page that hears silence."""
        self._page = self._listener.open("listener.html", script="ear.js", before=pinned(self._name))
        answer = self._ask({"offer": self._page.evaluate("makeOffer()")})
        self._page.evaluate("sdp => takeAnswer(sdp)", answer["answer"])
        return self._page

    def go(self) -> float:
        """Starts the clip with the next frame."""
        return float(self._ask({"go": True})["at"])

    def told(self, spoken_at: float) -> dict[str, Any]:
        """It has nothing to say."""
        return {}

    def leave(self) -> None:
        """Closes both ends."""
        if self._page is not None:
            self._ask({"leave": True})
            self._page.context.close()
            self._page = None

    def close(self) -> None:
        """Ends the process."""
        self._process.terminate()
        self._process.communicate(timeout=10)
        self._folder.cleanup()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"The sender {self._name.text} ended; what it said is above.")
        answer: dict[str, Any] = json.loads(line)
        return answer


def pinned(name: SenderName) -> str:
    """What a page is told before its scripts about the buffer of its receiver."""
    return "" if name.delay_ms is None else f"ear.target = {name.delay_ms};"
