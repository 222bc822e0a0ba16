"""The face of whatever watches all listeners of a server, so that a listener need not know what is counted."""

from typing import Any, Protocol

from adaptive.control.plan import Plan
from adaptive.control.reports import NetworkReport


class Observer(Protocol):
    """Counts what happens to listeners."""

    def plan_changed(self, plan: Plan) -> None:
        """A plan came to hold."""

    def event(self, listener: str, event: dict[str, Any]) -> None:
        """An event was told."""

    def network(self, report: NetworkReport) -> None:
        """A report came."""

    def forget(self, listener: str) -> None:
        """The listener is gone."""
