"""What became of the utterances of a listener, in numbers."""

from typing import Any

from adaptive.utterance import State
from adaptive.utterance.pipeline import PipelineStats

_NONE = PipelineStats()


class Tally:
    """Counts utterances that are over, and the underruns in them."""

    def __init__(self) -> None:
        self._ended = {State.COMPLETED: 0, State.INTERRUPTED: 0, State.ERROR: 0}
        self._underruns = 0
        self._underrun_s = 0.0
        self._largest_s = 0.0

    def add(self, state: State, stats: PipelineStats) -> None:
        """An utterance ended in `state`."""
        self._ended[state] += 1
        self._underruns += stats.underruns
        self._underrun_s += stats.underrun_s
        self._largest_s = max(self._largest_s, stats.largest_underrun_s)

    def as_dict(self, current: PipelineStats | None) -> dict[str, Any]:
        """For the listener's snapshot, with what happened so far in the utterance that is not over."""
        now = current or _NONE
        return {
            "ended": {
                "finished": self._ended[State.COMPLETED],
                "interrupted": self._ended[State.INTERRUPTED],
                "failed": self._ended[State.ERROR],
            },
            "underruns": {
                "count": self._underruns + now.underruns,
                "seconds": round(self._underrun_s + now.underrun_s, 3),
                "largest_s": round(max(self._largest_s, now.largest_underrun_s), 3),
            },
        }
