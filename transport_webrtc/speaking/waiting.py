"""The order in which utterances wait for their turn."""

from collections.abc import Iterator

from .utterance import Utterance

_FIRST = -1_000
"""Ranks before every priority."""


class Waiting:
    """Those with `interrupt` go first, then by priority, then as they came; none before its time."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, Utterance]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Utterance]:
        return (utterance for _, _, utterance in self._rows)

    def add(self, utterance: Utterance, *, first: bool) -> None:
        """Lets it wait, `first` before all others."""
        self._count += 1
        rank, count = (_FIRST, -self._count) if first else (-utterance.priority, self._count)
        utterance.rank = rank, count
        self.put_back(utterance)

    def put_back(self, utterance: Utterance) -> None:
        """Lets one wait again that had its turn, where it was."""
        self._rows.append((*utterance.rank, utterance))
        self._rows.sort(key=lambda row: row[:2])

    def place(self, priority: int) -> int:
        """How many are before a newcomer of that priority."""
        return sum(rank <= -priority for rank, _, _ in self._rows)

    def next(self, now: float) -> Utterance | None:
        """The one whose turn it is at `now`."""
        return next((utterance for utterance in self if utterance.not_before <= now), None)

    def soonest(self, now: float) -> Utterance | None:
        """Of those whose time is still to come the first, where it may be sent ahead of it."""
        return min(
            (one for one in self if now < one.not_before <= now + one.profile.lead_s),
            key=lambda one: one.not_before,
            default=None,
        )

    def remove(self, utterance: Utterance) -> None:
        """It waits no more."""
        self._rows = [row for row in self._rows if row[2] is not utterance]
