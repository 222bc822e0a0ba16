"""A controller that fails must not take the sound with it: the last plan holds."""

import inspect
import logging
from collections.abc import Callable
from dataclasses import replace

from .base import Controller
from .plan import Carrier, Plan, Reason
from .reports import ComputeReport, ContentReport, HeardReport, NetworkReport

log = logging.getLogger(__name__)


class Guarded:
    """A `Controller` around another. What the inner one raises is logged, once for as long as it goes on."""

    def __init__(self, inner: Controller, *, safe: Plan) -> None:
        """`safe` holds where there is no plan yet."""
        self._inner = inner
        self._last = safe
        self._failing: dict[str, str] = {}

    def on_network(self, report: NetworkReport) -> None:
        self._try("on_network", lambda: self._inner.on_network(report))

    def on_compute(self, report: ComputeReport) -> None:
        self._try("on_compute", lambda: self._inner.on_compute(report))

    def on_content(self, report: ContentReport) -> None:
        self._try("on_content", lambda: self._inner.on_content(report))

    def on_heard(self, report: HeardReport) -> None:
        self._try("on_heard", lambda: self._inner.on_heard(report))

    def on_carrier(self, carrier: Carrier, *, red: bool = True, nack: bool = True) -> None:
        self._try("on_carrier", lambda: self._inner.on_carrier(carrier, **self._taken(red=red, nack=nack)))

    def plan(self, now: float) -> Plan:
        """The inner controller's plan, or the last one with the reason `error`."""

        def decide() -> None:
            self._last = self._inner.plan(now)

        if not self._try("plan", decide):
            self._last = replace(self._last, reason=Reason.ERROR)
        return self._last

    def _taken(self, **repairs: bool) -> dict[str, bool]:
        """Those that the inner controller's `on_carrier` has names for; it need not care."""
        takes = inspect.signature(self._inner.on_carrier).parameters
        every = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in takes.values())
        return {name: repair for name, repair in repairs.items() if every or name in takes}

    def _try(self, what: str, act: Callable[[], None]) -> bool:
        try:
            act()
        except Exception as error:  # whatever it is: the sound goes on, and the log has the trace
            if self._failing.get(what) != repr(error):
                log.exception("The controller failed in %s; the last plan holds.", what)
            self._failing[what] = repr(error)
            return False
        self._failing.pop(what, None)
        return True
