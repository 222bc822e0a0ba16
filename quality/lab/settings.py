"""What a link does to packets, as data that is checked: a wrong value is a ValueError with a sentence for people."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from .losses import bad_share, enter_bad

MOST_ENTRIES = 1_000_000
"""Of a list, a trace or steps: a day of Mahimahi opportunities at 139 kb/s."""


class Jitter(StrEnum):
    """How `jitter_ms` varies the delay: standard deviation, ± bound, or scale of a tail of late packets (shape 2.5)."""

    NORMAL = "normal"
    UNIFORM = "uniform"
    PARETO = "pareto"


_RANGES: Mapping[str, tuple[float, float, str]] = {
    "delay_ms": (0, 60_000, "milliseconds"),
    "jitter_ms": (0, 10_000, "milliseconds"),
    "loss": (0, 1, "a share, where 0.05 is 5 %"),
    "burst": (1, 1_000, "packets"),
    "bad_loss": (0, 1, "a share, where 0.05 is 5 %"),
    "good_loss": (0, 1, "a share, where 0.05 is 5 %"),
    "duplicate": (0, 1, "a share, where 0.05 is 5 %"),
    "rate_kbps": (0, 10_000_000, "kbit/s, where 0 means no limit"),
    "queue_bytes": (1_504, 1_000_000_000, "bytes"),
    "overhead_bytes": (0, 1_000, "bytes a packet"),
}
_WHOLE = frozenset({"queue_bytes", "overhead_bytes"})


@dataclass(frozen=True, kw_only=True)
class LinkSettings:
    """One direction of a path. The default does nothing at all to a packet.

    A packet is lost or not, then waits in the bottleneck's queue, then travels for the delay. Capacity is that of
    `trace` if given, else of `steps`, else `rate_kbps`. Raises ValueError for a value that cannot be.
    """

    delay_ms: float = 0.0
    """One way."""
    jitter_ms: float = 0.0
    jitter: Jitter = Jitter.NORMAL
    """A delay never becomes negative, so jitter near the delay or above it raises the mean."""
    reorder: bool = False
    """False: a packet that would overtake another arrives with it."""
    loss: float = 0.0
    """Share of packets lost before the queue, 0..1."""
    burst: float = 1.0
    """Mean length of a bad time, packets; 1: each loss is independent."""
    bad_loss: float = 1.0
    """Share lost in a bad time, above `loss`; 1: `burst` is the mean length of a run of losses (Gilbert's model)."""
    good_loss: float = 0.0
    """Share lost between bad times, below `loss` (Elliott's model)."""
    loss_list: tuple[bool, ...] = ()
    """Packet by packet, repeated; used instead of `loss` where not empty."""
    duplicate: float = 0.0
    """Share of packets that arrive twice, 0..1."""
    rate_kbps: float | None = None
    """Capacity; None and 0 are unlimited."""
    queue_bytes: int = 30_000
    """What the queue holds, the packet on the wire included; a packet beyond it is dropped."""
    overhead_bytes: int = 0
    """Added to the size of every packet, for capacity, queue and counts: 28 where sizes lack IP and UDP headers."""
    trace: tuple[int, ...] = ()
    """Milliseconds at which 1504 bytes may pass (Mahimahi); repeats after its last entry."""
    steps: tuple[tuple[float, float], ...] = ()
    """(seconds since the steps were set, kbit/s from then on); 0 lets nothing pass; the last holds."""
    delay_trace: tuple[tuple[float, float], ...] = ()
    """(seconds since it was set, delay in ms from then on) instead of `delay_ms`; the last holds."""

    def __post_init__(self) -> None:
        for name, (low, high, unit) in _RANGES.items():
            value = getattr(self, name)
            if name == "rate_kbps" and value is None:
                continue
            if not _is_number(value) or not low <= value <= high:
                raise ValueError(f"{name} must be {low:,} to {high:,} {unit}, not {_shown(value)}.")
            if name in _WHOLE and value != int(value):
                raise ValueError(f"{name} must be a whole number of bytes, not {_shown(value)}.")
        if not isinstance(self.reorder, bool):
            raise ValueError(f"reorder must be true or false, not {_shown(self.reorder)}.")
        try:
            object.__setattr__(self, "jitter", Jitter(self.jitter))
        except ValueError:
            raise ValueError(f"jitter must be normal, uniform or pareto, not {_shown(self.jitter)}.") from None
        if self.burst > 1 and 0 < self.loss < 1:
            self._check_bursts()
        object.__setattr__(self, "loss_list", _loss_list(self.loss_list))
        object.__setattr__(self, "trace", _trace(self.trace))
        object.__setattr__(self, "steps", _timed("steps", self.steps, "kbit/s", _RANGES["rate_kbps"][1]))
        delays = _timed("delay_trace", self.delay_trace, "milliseconds", _RANGES["delay_ms"][1])
        object.__setattr__(self, "delay_trace", delays)

    def _check_bursts(self) -> None:
        if not self.good_loss <= self.loss < self.bad_loss:
            raise ValueError(
                f"loss ({self.loss:g}) lies between good_loss ({self.good_loss:g}) and bad_loss ({self.bad_loss:g})."
            )
        bad = bad_share(self.loss, bad_loss=self.bad_loss, good_loss=self.good_loss)
        if enter_bad(bad, self.burst) > 1:
            most = self.good_loss + (self.bad_loss - self.good_loss) * self.burst / (self.burst + 1)
            raise ValueError(f"With bursts of {self.burst:g} packets at most {most:.0%} can be lost, or everything.")

    def changed(self, changes: Mapping[str, Any]) -> "LinkSettings":
        """These settings with `changes` made. Raises ValueError for a name or a value that cannot be."""
        names = [f.name for f in fields(self)]
        for name in changes:
            if name not in names:
                raise ValueError(f"A link has no setting {_shown(name)}; it has {', '.join(names)}.")
        return replace(self, **changes)


def _is_number(value: object) -> bool:
    """Finite, and small enough to be a float: JSON's integers know no limit."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -1e300 < value < 1e300


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _entries(name: str, value: object) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"{name} must be a list, not {_shown(value)}.")
    if len(value) > MOST_ENTRIES:
        raise ValueError(f"{name} may have {MOST_ENTRIES:,} entries, not {len(value):,}.")
    return tuple(value)


def _loss_list(value: object) -> tuple[bool, ...]:
    entries = _entries("loss_list", value)
    if any(entry not in (0, 1) for entry in entries):
        raise ValueError("loss_list holds only true (lost) and false, or 1 and 0.")
    return tuple(bool(entry) for entry in entries)


def _trace(value: object) -> tuple[int, ...]:
    entries = _entries("trace", value)
    if not entries:
        return ()
    ordered = all(_is_number(entry) and entry == int(entry) for entry in entries) and list(entries) == sorted(entries)
    if not ordered or entries[0] < 0 or entries[-1] < 1:
        raise ValueError("trace holds whole milliseconds in rising order, and its last, the period, is at least 1.")
    return tuple(int(entry) for entry in entries)


def _timed(name: str, value: object, unit: str, most: float) -> tuple[tuple[float, float], ...]:
    entries = _entries(name, value)
    for entry in entries:
        pair = isinstance(entry, list | tuple) and len(entry) == 2 and all(map(_is_number, entry))
        if not pair or entry[0] < 0 or not 0 <= entry[1] <= most:
            raise ValueError(f"{name} holds pairs of seconds and {unit} (0 to {most:,}), not {_shown(entry)}.")
    times = [entry[0] for entry in entries]
    if times != sorted(times):
        raise ValueError(f"{name} must be in the order of time.")
    return tuple((float(at), float(what)) for at, what in entries)
