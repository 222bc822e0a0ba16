"""What voices are doing before they can speak: a bar for each on a terminal, a line for each step elsewhere."""

from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

BUILT, WARMING = 0.8, 0.9
"""Of a voice's bar: at the end of building its files, and while it is run for the first time."""


class VoiceProgress:
    """Bars on standard error from `start` to `close`, which takes them away; a `Progress` of voices.

    What is told names its voice as `joe: …` or `… joe`, or goes on with the voice that was named last.
    """

    def __init__(self, voices: Sequence[str], console: Console | None = None) -> None:
        """`voices` in the order in which they are loaded."""
        self._console = console or Console(stderr=True)
        self._progress = Progress(
            SpinnerColumn(finished_text="✓"),
            TextColumn("{task.fields[voice]}"),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=self._console,
            transient=True,
            redirect_stdout=False,
            disable=not self._console.is_terminal,
        )
        self._voices = tuple(dict.fromkeys(voices))
        self._tasks: dict[str, TaskID] = {
            voice: self._progress.add_task("waits", total=None, start=False, voice=voice) for voice in self._voices
        }
        self._done: dict[str, float] = dict.fromkeys(voices, 0.0)
        self._said: set[tuple[str, str]] = set()
        self._now = self._voices[0]

    def start(self) -> None:
        """Shows all voices at once, before anything is known of them."""
        self._show(self._now, "is being loaded")
        self._progress.start()

    def __call__(self, what: str, share: float) -> None:
        """`share` of `what` is done, 0..1."""
        voice = self._voice_of(what)
        if self._voices.index(voice) < self._voices.index(self._now):
            return  # a slower worker is where another one has been
        if voice != self._now:
            self.ready(self._now)
            self._now = voice
        if self._done[voice] < 1:
            warming = what == f"warming {voice}"
            done = WARMING if warming else BUILT * share
            self._done[voice] = max(self._done[voice], done)
            self._show(voice, "is warming up" if warming else what.removeprefix(f"{voice}: "))

    def ready(self, voice: str) -> None:
        """It can speak: its bar is full."""
        self._done[voice] = 1.0
        self._show(voice, "is ready")

    def share(self, voice: str) -> float:
        """How far its bar is, 0..1."""
        return self._done[voice]

    def close(self) -> None:
        """Leaves the terminal as it was; safe to repeat."""
        self._progress.stop()

    def _voice_of(self, what: str) -> str:
        named = (voice for voice in self._voices if what.startswith(f"{voice}:") or what == f"warming {voice}")
        return next(named, self._now)

    def _show(self, voice: str, description: str) -> None:
        if (voice, description) in self._said and self._progress.disable:
            return
        self._said.add((voice, description))
        if self._progress.disable:
            self._console.print(f"{voice}: {description}", markup=False, highlight=False)
            return
        task, done = self._tasks[voice], self._done[voice]
        if not self._progress.tasks[self._voices.index(voice)].started:
            self._progress.start_task(task)
        self._progress.update(task, description=description, completed=done, total=1.0 if done else None)
