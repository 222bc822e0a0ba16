"""Where utterances wait for their turn: one chunk at a time, the one that needs it most first.

The same desk works in a render worker and in the thread of the in-process renderer.
"""

import logging
from collections.abc import Callable, Mapping

from .judge import ChunkJudge
from .renderer import Rendered, RenderFailed
from .running import Running, StreamMaker
from .voice import Voice
from .worker_messages import Cancel, Made, Open, ToDesk

_log = logging.getLogger(__name__)


class Desk:
    """Renders any number of utterances side by side.

    Those that sound and may soon be silent go first, then those that have not begun or have little, by how long they
    have waited, then those with plenty. So a
    newcomer waits for the chunk in work and not for the whole of another's text, and a crowd of newcomers cannot
    silence those who speak. `clock` gives monotonic seconds.
    """

    def __init__(
        self,
        voices: Mapping[str, Voice],
        make: StreamMaker,
        *,
        clock: Callable[[], float],
        judge: ChunkJudge | None = None,
    ) -> None:
        """`judge` looks at every chunk before it goes out."""
        self._voices = voices
        self._make = make
        self._clock = clock
        self._judge = judge
        self._running: dict[int, Running] = {}

    def handle(self, message: ToDesk) -> None:
        """Takes what was asked for. What concerns an utterance that has ended is out of date and ignored."""
        now = self._clock()
        match message:
            case Open():
                voice = self._voices[message.job.voice]
                others = [other for other in self._voices.values() if other is not voice]
                self._running[message.number] = Running(
                    message, voice, self._make, now=now, judge=self._judge, others=others
                )
            case Cancel():
                self._running.pop(message.number, None)
            case _:
                running = self._running.get(message.number)
                if running is not None:
                    running.handle(message, now)

    def pick(self) -> int | None:
        """The number of the utterance whose turn it is; None when all have to wait."""
        now = self._clock()
        ready = [running for running in self._running.values() if running.ready]
        if not ready:
            return None
        return min(ready, key=lambda running: running.need(now)).number

    def turn(self, number: int) -> Made | None:
        """Renders at most one chunk of utterance `number`, and says what came of it."""
        running = self._running[number]
        try:
            made = running.turn(self._clock)
        except Exception as error:  # whatever a voice raises ends at most its own utterance
            _log.warning("voice %s failed on utterance %s", running.job.voice, running.job.id, exc_info=True)
            if running.give_up_tier():
                return None
            made = Made(number, (RenderFailed(message=_sentence(running.job.voice, error)),), None, 0.0)
        if made is not None and isinstance(made.events[-1], Rendered | RenderFailed):
            del self._running[number]
        return made


def _sentence(voice: str, error: Exception) -> str:
    reason = str(error).strip().rstrip(".") or type(error).__name__
    return f"The voice {voice} could not speak this text: {reason}."
