"""The link model on real time: what is offered comes out by a timer of an event loop.

The in-process filter, the relay and the TUN device all carry their packets through `Live`, and all three make their
links from one seed by `seeds`, as the simulator does: the same seed gives the same drop list in each of them.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from .link import Fate, Flow, Link
from .settings import LinkSettings

T = TypeVar("T")

EARLY_S = 0.0005
"""A timer counts as due this early: loops round times to milliseconds, and waiting again would spin."""


class Live(Generic[T]):
    """One direction in real time. Not safe across threads: it belongs to its loop."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        deliver: Callable[[T], None],
        *,
        settings: LinkSettings | None = None,
        seed: int = 0,
    ) -> None:
        """`deliver` is called with each item when it arrives; what it raises goes to the caller of the timer."""
        self._loop, self._deliver = loop, deliver
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._open = True
        self.restart(settings, seed=seed)

    def restart(self, settings: LinkSettings | None = None, *, seed: int) -> None:
        """A new link with nothing counted; what was on its way is lost."""
        self.link: Link[T] = Link(settings, seed=seed, start=self._loop.time())

    def set(self, **changes: Any) -> None:
        """Changes settings from now on. Raises ValueError with a sentence."""
        self.link.set(now=self._loop.time(), **changes)
        self._pump()

    def become(self, settings: LinkSettings) -> None:
        """Takes `settings` on; a trace or steps that stay the same go on undisturbed."""
        old = self.link.settings
        self.set(**{name: value for name, value in vars(settings).items() if value != getattr(old, name)})

    def offer(self, size: int, item: T) -> Fate:
        """A packet of `size` bytes enters now."""
        fate = self.link.offer(self._loop.time(), size, item)
        self._pump()
        return fate

    def flow(self) -> Flow:
        """The account up to now."""
        return self.link.flow(self._loop.time())

    def close(self) -> None:
        """Delivers nothing any more."""
        self._open = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _pump(self) -> None:
        """Delivers what is due and sets the timer for the rest."""
        for item in self.link.due(self._loop.time() + EARLY_S):
            self._deliver(item)
        at = self.link.next_time()
        if self._timer is not None and (at is None or at != self._timer_at):
            self._timer.cancel()
            self._timer = None
        if self._timer is None and at is not None and self._open:
            self._timer, self._timer_at = self._loop.call_at(at, self._fire), at

    def _fire(self) -> None:
        self._timer = None
        self._pump()
