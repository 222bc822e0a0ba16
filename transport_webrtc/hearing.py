"""What a native listener's recording and its gaps say of one utterance. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from adaptive.speech.voice import Samples
from adaptive.ticks import TICK_RATE, to_seconds

from .playout import Gap

BLOCK = TICK_RATE // 50
"""20 ms: what is audible is judged in these."""
AUDIBLE = 10 ** (-45 / 20)
"""Root mean square of a block that counts as sound: −45 dB of full scale."""
TOGETHER_S = 0.025
"""Gaps this close are one: between them is a lone packet of silence."""


@dataclass(frozen=True, kw_only=True)
class Hearing:
    """One utterance as it came out. What was never heard has no times: None."""

    first_audio_s: float | None
    """From the start of the recording to the first audible sample of the first audible block."""
    duration_s: float | None
    """From there to the end of the last audible block."""
    largest_gap_s: float | None
    """The longest run of samples between the two that came out of no packet: lost, late, or never sent."""
    lost_s: float | None
    """Speech whose packets never came, or too late, and that no copy gave back."""
    concealed: float | None
    """Share of the samples between the two that the receiver made up, waiting for what was late included."""


def hearing(samples: Samples, gaps: Sequence[Gap], *, started: float) -> Hearing:
    """Judges a recording, 48 kHz, that began at `started` on the clock of `gaps`, which are in the order of time."""
    audible = np.flatnonzero(_levels(samples) > AUDIBLE)
    if not len(audible):
        return Hearing(first_audio_s=None, duration_s=None, largest_gap_s=None, lost_s=None, concealed=None)
    begins = int(audible[0]) * BLOCK
    begins += int(np.argmax(np.abs(samples[begins : begins + BLOCK]) > AUDIBLE))
    first, end = to_seconds(begins), to_seconds((int(audible[-1]) + 1) * BLOCK)
    within = [gap for gap in gaps if gap.at >= started + first - TOGETHER_S and gap.at < started + end]
    made_up = sum(gap.lost + gap.late for gap in within)
    return Hearing(
        first_audio_s=first,
        duration_s=end - first,
        largest_gap_s=_largest(within),
        lost_s=to_seconds(sum(gap.lost for gap in within)),
        concealed=min(1.0, to_seconds(made_up) / (end - first)),
    )


def _levels(samples: Samples) -> Samples:
    """Root mean square of each whole block."""
    blocks = samples[: len(samples) // BLOCK * BLOCK].reshape(-1, BLOCK)
    return np.sqrt(np.mean(blocks**2, axis=1))


def _largest(gaps: Sequence[Gap]) -> float:
    longest = at = end = 0.0
    for gap in gaps:
        at = at if gap.at - end <= TOGETHER_S else gap.at
        end = gap.end
        longest = max(longest, end - at)
    return longest
