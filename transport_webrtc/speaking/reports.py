"""What a speaker knows that a controller wants to know."""

from collections.abc import Mapping

from adaptive.control.reports import ComputeReport, ContentReport
from adaptive.speech.renderer import RendererStatus
from adaptive.ticks import to_seconds

from .utterance import Utterance

_NO_COST: Mapping[str, float] = {}


def compute_report(
    now: float, utterance: Utterance | None, status: RendererStatus, voice: str, *, lead_s: float = 0.0
) -> ComputeReport:
    """What rendering `utterance`, or else the listener's `voice`, costs; a lead that the listener has is as good as
    ready."""
    name = utterance.voice if utterance else voice
    info = (utterance.info if utterance else None) or next((v for v in status.voices if v.name == name), None)
    calibration = status.calibrations.get(name)
    making = utterance is not None and utterance.begun
    return ComputeReport(
        at=now,
        tiers=info.tiers if info else (),
        cost=status.cost.get(name, _NO_COST),
        ready_s=to_seconds(utterance.pipeline.ready) + lead_s if utterance and making else None,
        target_s=utterance.profile.ready_s if utterance and making else None,
        rendering=utterance.rendering if utterance else False,
        queue_s=status.queue_s,
        frame_s=info.frame_samples / info.rate if info else None,
        lengths=calibration.costs() if calibration else {},
        losses=calibration.losses() if calibration else {},
    )


def content_report(now: float, utterance: Utterance | None) -> ContentReport:
    """What the speech ahead of the carrier looks like, as far as it is rendered."""
    if utterance is None or not utterance.pipeline.begun:
        return ContentReport(at=now, sounding=False)
    taken = utterance.pipeline.taken
    ahead = tuple(
        (max(to_seconds(start - taken), 0.0), to_seconds(end - taken)) for start, end in utterance.pauses if end > taken
    )
    sounding = not utterance.pipeline.paused
    return ContentReport(at=now, sounding=sounding, pauses=ahead, remaining_s=utterance.remaining_s)
