"""How much of the machine was idle while somebody listened: a starved browser hears holes that no network made."""

from pathlib import Path

STAT = Path("/proc/stat")


class Idle:
    """Share of all cores' time that nobody wanted, stretch by stretch, from when it was made."""

    def __init__(self) -> None:
        self._last = self._first = _read()
        self.lowest: float | None = None
        """Of the stretches so far; None before the first."""

    def stretch(self) -> None:
        """Ends a stretch and begins the next."""
        now = _read()
        share = _share(self._last, now)
        self._last = now
        if share is not None:
            self.lowest = share if self.lowest is None else min(self.lowest, share)

    @property
    def share(self) -> float | None:
        """Until the last stretch's end; None where the system does not tell."""
        return _share(self._first, self._last)


def _read() -> tuple[int, int]:
    """(idle, all), in ticks; what a hypervisor took is not idle, what somebody nicer used would have been free."""
    if not STAT.exists():
        return 0, 0
    ticks = [int(value) for value in STAT.read_text().splitlines()[0].split()[1:9]]
    return ticks[1] + ticks[3], sum(ticks)


def _share(before: tuple[int, int], after: tuple[int, int]) -> float | None:
    return (after[0] - before[0]) / (after[1] - before[1]) if after[1] > before[1] else None
