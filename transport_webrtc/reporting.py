"""What comes back from a listener goes to its controller, as far as the carrier has the speech, and is counted."""

import dataclasses
from collections.abc import Callable

from adaptive.control.plan import Carrier
from adaptive.control.reports import HeardReport, NetworkReport

from .observer import Observer
from .speaker import Speaker
from .steering import Steering

HURRY_S = 0.02
"""A queue that is answered with a plan at once."""
HEARD_AFTER_S = 0.06
"""Buffering that is assumed of a receiver that reports none (what libwebrtc's NetEq starts with)."""


class Reporting:
    """One listener's."""

    def __init__(
        self,
        steering: Steering,
        speaker: Speaker,
        observer: Observer,
        *,
        hurry: Callable[[float], None],
    ) -> None:
        """`hurry(at)` is called where a plan is wanted at once."""
        self._steering = steering
        self._speaker = speaker
        self._observer = observer
        self._hurry = hurry

    def network(self, report: NetworkReport) -> None:
        """From the audio track, or from the pings beside it."""
        if self._steering.carrier is Carrier.DATA:  # the audio track rests, and little of the path is seen there
            self._steering.note_loss(report)
            if report.rtt_s is not None:
                self.ahead(NetworkReport(at=report.at, source=report.source, rtt_s=report.rtt_s))
            return
        self.ahead(report)
        if (one_way_s := self._steering.one_way_s) is not None:
            buffered = self._steering.heard.buffered_s if self._steering.heard else None
            self._speaker.heard(one_way_s + (HEARD_AFTER_S if buffered is None else buffered))
        if report.queue_delay_s is not None and report.queue_delay_s > HURRY_S:
            self._hurry(report.at)

    def ahead(self, report: NetworkReport) -> None:
        """From the data track; a lead bridges what a plan at once would save, but for a path that stands still."""
        self._steering.on_network(report)
        self._observer.network(report)
        if report.standing_s is not None:
            self._hurry(report.at)

    def heard(self, report: HeardReport) -> None:
        """From the audio track."""
        if self._steering.carrier is Carrier.AUDIO:
            self._steering.on_heard(dataclasses.replace(report, position=self._speaker.position()))
