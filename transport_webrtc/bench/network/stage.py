"""Everything that stays up from run to run: the rig, the listener's browser, and the senders asked for so far."""

from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from quality.lab.tun import SERVER_ADDRESS, TunRig

from .chromium import Chromium
from .clip import Clip
from .senders import Sender, SenderName

if TYPE_CHECKING:
    from .senders.legato import LegatoServer

PORT = 8080
ORIGIN = f"http://{SERVER_ADDRESS}:{PORT}"
"""Of every page, whether a server is there or not."""


class Stage:
    """Two namespaces with a browser in each; use it as `with Stage(…) as stage`."""

    def __init__(self, clip: Clip, *, profile: str, controller: str, lead_s: float | None) -> None:
        self._clip, self._profile, self._controller, self._lead_s = clip, profile, controller, lead_s
        self._senders: dict[str, Sender] = {}
        self._speaker: Chromium | None = None
        self._server: LegatoServer | None = None
        self._close = ExitStack()

    def __enter__(self) -> Self:
        from playwright.sync_api import sync_playwright

        with ExitStack() as stack:
            self.rig = stack.enter_context(TunRig())
            self._playwright: Any = stack.enter_context(sync_playwright())
            self.listener = stack.enter_context(
                Chromium(self._playwright, namespace=self.rig.client, origin=ORIGIN),
            )
            self._close = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close.close()

    def sender(self, name: SenderName) -> Sender:
        """The sender of that name, started if it is new. Raises RuntimeError where it cannot be."""
        if name.text not in self._senders:
            self._senders[name.text] = sender = self._make(name)
            self._close.callback(sender.close)
        return self._senders[name.text]

    def _make(self, name: SenderName) -> Sender:
        common: dict[str, Any] = {"clip": self._clip, "listener": self.listener}
        if name.kind == "browser":
            from .senders.browser import BrowserSender

            return BrowserSender(name, speaker=self._speaking_browser(), **common)
        if name.kind == "legato":
            from .senders.legato import LegatoSender

            self._start_server()
            return LegatoSender(name, profile=self._profile, **common)
        from .senders.native import NativeSender

        return NativeSender(name, namespace=self.rig.server, **common)

    def _start_server(self) -> None:
        from .senders.legato import LegatoServer

        if self._server is None:
            voice = self._clip.voice
            self._server = LegatoServer(
                self.rig.server, ORIGIN, voice=voice, controller=self._controller, lead_s=self._lead_s
            )
            self._close.callback(self._server.close)

    def _speaking_browser(self) -> Chromium:
        if self._speaker is None:
            self._speaker = Chromium(self._playwright, namespace=self.rig.server, origin=ORIGIN)
            self._close.callback(self._speaker.close)
        return self._speaker
