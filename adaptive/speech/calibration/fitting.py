"""A voice made to fit this machine: the tiers that are not cheaper here than a better one are left out."""

import logging

from ..voice import Progress, Voice
from .figures import Calibration
from .files import calibrated, fingerprint_of
from .measure import measure_quickly

_log = logging.getLogger(__name__)


def fitted(voice: Voice, *, progress: Progress) -> Calibration | None:
    """Lets go of tiers that are not worth having, and says so in the log; None for a voice that cannot.

    The first time on a machine they are measured, which takes a few seconds; then the figures are kept.
    """
    leave_out = getattr(voice, "leave_out", None)
    if leave_out is None or len(voice.info.tiers) < 2 or fingerprint_of(voice) is None:
        return None
    calibration = calibrated(voice, lambda: measure_quickly(voice, progress=progress), whole=False, progress=progress)
    worth, why_not = calibration.ladder()
    gone = [tier for tier in voice.info.tiers if tier not in worth]
    if gone and len(gone) < len(voice.info.tiers):
        leave_out(gone)
        for tier in gone:
            _log.warning("the voice %s: %s", voice.info.name, why_not.get(tier, f"{tier} was not measured."))
    return calibration
