"""The face of whatever watches all listeners of a server, so that a listener need not know what is counted."""

from typing import Any, Protocol

from adaptive.control.plan import Plan
from adaptive.control.reports import NetworkReport

from .media.sending import Sending


class Observer(Protocol):
    """Counts what happens to listeners."""

    def plan_changed(self, plan: Plan) -> None:
        """A plan came to hold."""

    def event(self, listener: str, event: dict[str, Any]) -> None:
        """An event was told."""

    def network(self, report: NetworkReport) -> None:
        """A report came."""

    def round_trip(self, seconds: float) -> None:
        """One was measured."""

    def taken_over(self) -> None:
        """A listener that was away, or believed to be there, hears again over another connection."""

    def forget(self, listener: str, sent: Sending) -> None:
        """The listener is gone; `sent` is what it was sent."""
