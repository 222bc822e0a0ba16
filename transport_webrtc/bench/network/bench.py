"""The whole bench: every sender meets every scenario under every seed, taking turns; what fails is tried again."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import count
from statistics import median
from typing import Any

from quality.lab.scenarios import Scenario

from .asked import Asked
from .clip import Clip
from .measuring import row
from .rows import Folder, Key
from .run import run
from .senders import SenderName
from .stage import Stage
from .taken import Taken

FAILURES = 2
"""Of one run, with new processes after each; a third one ends the bench."""
MEDIANS = (
    "pesq",
    "pesq_phrase",
    "visqol",
    "tier_pesq",
    "concealed_share",
    "silence_added_s",
    "lost_speech_s",
    "largest_gap_ms",
    "first_audio_ms",
    "delay_mean_ms",
    "buffer_max_ms",
    "under_capacity_ms",
    "peak_queue_ms",
    "wire_kbps",
    "cpu_idle",
)

Say = Callable[[str], None]


class Bench:
    """Goes through the runs; those that its folder has already are not made again."""

    def __init__(self, asked: Asked, *, clip: Clip, folder: Folder) -> None:
        self._asked, self._clip, self._folder = asked, clip, folder
        self._stage: Stage | None = None
        self._standing = ExitStack()

    def _runs(self) -> Iterator[tuple[SenderName, Scenario, int, Key]]:
        """Alternating: all contenders meet one network before the next one comes."""
        for seed in range(1, self._asked.seeds + 1):
            for scenario in self._asked.scenarios:
                for sender in self._asked.senders:
                    yield sender, scenario, seed, (sender.text, scenario.name, seed)

    def rows(self, *, say: Say, done: Callable[[], None]) -> list[dict[str, Any]]:
        """Every row; `say` is told what happens, `done` called after each run, made now or before.

        Raises RuntimeError where a run fails again and again.
        """
        rows = []
        with self._standing:
            for sender, scenario, seed, key in self._runs():
                say(f"{sender.text} on {scenario.name}, seed {seed}")
                rows.append(self._row(sender, scenario, seed, key, say))
                done()
        return rows

    def _row(self, sender: SenderName, scenario: Scenario, seed: int, key: Key, say: Say) -> dict[str, Any]:
        while (best := self._folder.best(key)) is None or not best["valid"]:
            attempts = len(self._folder.attempts(key))
            if best is not None and attempts > self._asked.repeats:
                break
            taken = self._taken(sender, scenario, seed, say)
            taken.save(self._folder.run(key, attempts))
            made = row(taken, self._clip, scenario) | {"attempt": attempts}
            self._folder.add(made)
            if not made["valid"]:
                say(f"{sender.text} on {scenario.name} is not valid: {why_invalid(made)}")
        return best

    def _taken(self, sender: SenderName, scenario: Scenario, seed: int, say: Say) -> Taken:
        """One run, with new processes after each failure."""
        for failures in count(1):
            try:
                return run(self._staged(), sender, scenario, seed, clip_s=self._clip.seconds)
            except self._failures() as error:
                say(f"{sender.text} on {scenario.name} failed: {error}")
                self._strike(say)
                if failures > FAILURES:
                    raise RuntimeError(f"{sender.text} on {scenario.name} fails again and again: {error}") from error
        raise AssertionError

    def _staged(self) -> Stage:
        if self._stage is None:
            asked = self._asked
            stage = Stage(self._clip, profile=asked.profile, controller=asked.controller, lead_s=asked.lead_s)
            self._stage = self._standing.enter_context(stage)
        return self._stage

    def _strike(self, say: Say) -> None:
        """Takes everything down, so that the next run begins with new processes."""
        self._stage = None
        try:
            self._standing.close()
        except self._failures() as error:
            say(f"Something did not end as it should: {error}")

    @staticmethod
    def _failures() -> tuple[type[Exception], ...]:
        from playwright.sync_api import Error

        return RuntimeError, OSError, Error


def why_invalid(made: dict[str, Any]) -> str:
    """A short reason."""
    slip, idle = made["clock_slip"], made["cpu_idle"]
    known = f"the audio clock slipped by {slip:+.2%}" if slip is not None else "no audio clock"
    idle_too = "" if idle is None else f", {idle:.0%} of the machine was idle"
    return f"{known}{idle_too}, the bench was held up for {made['late_ms']:.0f} ms"


def summary(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Medians over the valid seeds of each sender and scenario; `n` is how many those are, `invalid` the others.

    None where nothing was measured.
    """
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for made in rows:
        groups.setdefault((made["scenario"], made["sender"]), []).append(made)
    found = []
    for (scenario, sender), group in groups.items():
        good = [made for made in group if made["valid"]]
        medians: dict[str, float | None] = {}
        for name in MEDIANS:
            known = [made[name] for made in good if made[name] is not None]
            medians[name] = round(median(known), 4) if known else None
        found.append(
            {"scenario": scenario, "sender": sender, "n": len(good), "invalid": len(group) - len(good), **medians}
        )
    return found
