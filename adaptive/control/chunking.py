"""How long chunks are: short where what is ready would run out first, long where computing is short and time is not.

A chunk is rendered with context on both sides, so that a second of speech costs more in short chunks than in long ones.
"""

from collections.abc import Mapping

from .reports import ComputeReport

USUAL_S = 0.6
SHORT_S = (0.4, 0.2, 0.1)
"""Speech in the chunks that a stream settles on by itself, and those it is held to where less is ready than the next
one takes; shorter ones cost more than they save."""
LOSING = 1.0
"""Seconds of rendering per second of speech at which a chunk no longer makes anything ready."""
SHORT_OF_COMPUTE = 0.6
ENOUGH_COMPUTE = 0.4
LONG_QUEUE_S = 0.2
"""Above the first cost, or a wait for a worker as long as this, longer chunks are worth that a change waits for their
end; below the second they are not any more."""
WORTH = 0.97
"""A longer chunk must cost less than this share of a shorter one."""


class ChunkLength:
    """For one listener; remembers whether computing is short."""

    def __init__(self) -> None:
        self._short = False

    def frames(
        self, report: ComputeReport, *, cost: float, lengths: Mapping[int, float], margin_s: float
    ) -> int | None:
        """Model frames of the next chunks, or None for those of the stream.

        `cost` is what the tier takes at present, in seconds of rendering per second of speech, `lengths` its
        calibrated cost by the frames of a chunk, and `margin_s` must be ready beyond the rendering of the next chunk.
        """
        if not report.frame_s or report.ready_s is None:
            return None
        queue_s, frame_s = report.queue_s or 0.0, report.frame_s
        spare_s = report.ready_s - queue_s - margin_s
        self._short = cost >= (ENOUGH_COMPUTE if self._short else SHORT_OF_COMPUTE) or queue_s >= LONG_QUEUE_S
        at_usual = _interpolated(lengths, USUAL_S / frame_s)

        def costs(frames: int) -> float:
            calibrated = _interpolated(lengths, frames)
            return cost * calibrated / at_usual if calibrated and at_usual else cost

        def fits(frames: int) -> bool:
            return frames * frame_s * costs(frames) <= spare_s

        if not fits(round(USUAL_S / frame_s)):
            short = [max(1, round(length_s / frame_s)) for length_s in SHORT_S]
            gaining = [frames for frames in short if costs(frames) < LOSING] or short[:1]
            return next((frames for frames in gaining if fits(frames)), gaining[-1])
        if not self._short:
            return None
        longest, least = None, cost
        for frames in sorted(frames for frames in lengths if frames * frame_s > USUAL_S):
            if fits(frames) and costs(frames) < WORTH * least:
                longest, least = frames, costs(frames)
        return longest


def usual(lengths: Mapping[int, float]) -> float:
    """The calibrated cost at a length in the middle."""
    return lengths[sorted(lengths)[len(lengths) // 2]] if lengths else 0.0


def _interpolated(lengths: Mapping[int, float], frames: float) -> float | None:
    """The calibrated cost at a length, by the reciprocal of it, in which it is linear: a constant a chunk, and what is
    in proportion; at its ends it is what was measured there."""
    known = sorted(lengths)
    if not known:
        return None
    if frames <= known[0] or frames >= known[-1]:
        return lengths[known[0] if frames <= known[0] else known[-1]]
    above = next(length for length in known if length >= frames)
    below = known[known.index(above) - 1]
    share = (1 / below - 1 / frames) / (1 / below - 1 / above)
    return lengths[below] + share * (lengths[above] - lengths[below])
