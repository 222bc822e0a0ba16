"""A browser as the sender: libwebrtc at both ends, as in a call between two pages."""

import base64
from typing import Any

from ..chromium import Chromium
from ..clip import Clip
from .names import SenderName
from .native import pinned


class BrowserSender:
    """Signalled by the two pages, which never meet but over the link."""

    def __init__(self, name: SenderName, *, clip: Clip, listener: Chromium, speaker: Chromium) -> None:
        self._name, self._clip, self._listener, self._speaker = name, clip, listener, speaker
        self._page: Any = None
        self._far: Any = None

    def connect(self) -> Any:
        """A page that hears near silence: a browser without a source sends nothing at all."""
        self._far = self._speaker.open("sender.html")
        self._far.evaluate("clip => load(clip)", base64.b64encode(self._clip.wav).decode())
        self._page = self._listener.open("listener.html", script="ear.js", before=pinned(self._name))
        options = {
            "nack": "nack" in self._name.options,
            "red": "red" in self._name.options,
            "encoding": {"adaptivePtime": True} if "ptime" in self._name.options else None,
        }
        answer = self._far.evaluate(
            "([sdp, options]) => answer(sdp, options)", [self._page.evaluate("makeOffer()"), options]
        )
        self._page.evaluate("sdp => takeAnswer(sdp)", answer)
        return self._page

    def go(self) -> float:
        """Plays the clip."""
        at_ms: float = self._far.evaluate("go()")
        return at_ms / 1000

    def told(self, spoken_at: float) -> dict[str, Any]:
        """It has nothing to say."""
        return {}

    def leave(self) -> None:
        """Closes both pages."""
        for page in (self._page, self._far):
            if page is not None:
                page.context.close()
        self._page = self._far = None

    def close(self) -> None:
        """The browsers are the stage's."""
