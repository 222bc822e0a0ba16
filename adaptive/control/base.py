"""The face of a controller: five kinds of facts in, one plan out. An entry point of `legato.controllers`."""

from typing import Protocol

from .plan import Carrier, Plan
from .reports import ComputeReport, ContentReport, HeardReport, NetworkReport


class Controller(Protocol):
    """Decides for one listener. Pure: time comes in with the reports and with `plan`.

    A controller is made with keyword argument `profile` (a `Profile`). The same object runs in the server, in the
    simulator and in a notebook; reports may come in any order and at any rate, and any of them may never come.
    """

    def on_network(self, report: NetworkReport) -> None:
        """Facts of the path."""

    def on_compute(self, report: ComputeReport) -> None:
        """Cost of rendering and how much speech is ready."""

    def on_content(self, report: ContentReport) -> None:
        """Pauses ahead and what remains."""

    def on_heard(self, report: HeardReport) -> None:
        """What came out at the listener."""

    def on_carrier(self, carrier: Carrier, *, red: bool = True, nack: bool = True) -> None:
        """The carrier that takes the speech from now on; whether the listener takes copies (RED, RFC 2198), and
        whether it asks for lost packets again (NACK, RFC 4585)."""

    def plan(self, now: float) -> Plan:
        """The plan from `now` (monotonic seconds) on."""
        ...
