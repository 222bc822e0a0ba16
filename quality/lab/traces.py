"""Traces of real networks, read from text that the caller has loaded, and what each kind of them can drive.

Mahimahi (mm-link: one millisecond a line) drives capacity, by opportunities of 1504 bytes. HSDPA logs
(`seconds<TAB>Mbit/s`, as cooked for Pensieve) drive capacity in the recording's steps; what happened within one is
not known. Neither knows delay or loss of its own. Round trips (`t_ms,rtt_ms,…`, CICV5G) drive delay and outages: all
that is above the usual, on the way down; not capacity, not loss. A phone's log (`t_s,…,ping_ms,…`, Irish 5G) drives
delay, and loss for as long as it pinged; not jitter, as its pings are a second apart, and not capacity, as its
bitrates are what an application used. Loss strings (`0` or `1` a packet of 20 ms) drive loss, packet by packet, and
nothing else.
"""

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from statistics import median

LOSS_PACKET_S = 0.02
"""A character of a loss string."""
PINGS_S = 5.0
"""A ping row of a phone's log speaks of so many seconds before it: five pings, one a second."""
GAP_S = 2.0
"""Between two samples of a round-trip trace: longer ones are a measurement that stopped, not an outage."""


class Kind(StrEnum):
    """What a trace knows."""

    OPPORTUNITIES = "mahimahi"
    CAPACITY = "hsdpa"
    ROUND_TRIPS = "round trips"
    PHONE = "phone"
    LOSSES = "losses"
    GENERATED = "generated"


@dataclass(frozen=True, kw_only=True)
class Trace:
    """One recording. Only the fields its kind knows are filled; times are seconds since its start."""

    name: str
    kind: Kind
    seconds: float
    opportunities: tuple[int, ...] = ()
    """Milliseconds at which 1504 bytes may pass."""
    kbps: tuple[tuple[float, float], ...] = ()
    """(s, capacity from then on)."""
    rtt_ms: tuple[tuple[float, float], ...] = ()
    loss: tuple[tuple[float, float], ...] = ()
    """(s, share from then on)."""
    losses: tuple[bool, ...] = ()
    """Per packet of 20 ms."""
    gaps: tuple[tuple[float, float], ...] = ()
    """From and to where nothing was recorded."""

    def capacity_kbps(self) -> list[float]:
        """Mean capacity of every whole second; empty where the trace knows none."""
        if self.opportunities:
            counts = [0] * int(self.seconds)
            for at in self.opportunities:
                if at // 1000 < len(counts):
                    counts[at // 1000] += 1
            return [count * 1504 * 8 / 1000 for count in counts]
        if not self.kbps:
            return []
        return [value_at(self.kbps, second) for second in range(int(self.seconds))]


def value_at(series: tuple[tuple[float, float], ...], at_s: float) -> float:
    """What a series of (s, value from then on) says at a time; its first value holds before."""
    value = series[0][1]
    for since, later in series:
        if since > at_s:
            break
        value = later
    return value


def parse_mahimahi(text: str) -> tuple[int, ...]:
    """Opportunities of a Mahimahi trace for `LinkSettings.trace`: one whole number of milliseconds a line.

    Raises ValueError naming the first line that is not one.
    """
    entries = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            entries.append(int(line))
        except ValueError:
            raise ValueError(
                f"Line {number} of the trace is not a whole number of milliseconds: {line[:40]!r}."
            ) from None
    return tuple(entries)


def parse(name: str, text: str) -> Trace:
    """A trace of whatever kind its text shows it to be. Raises ValueError with a sentence."""
    first = text.lstrip().partition("\n")[0].strip()
    columns = {column.strip() for column in first.split(",")}
    if {"t_ms", "rtt_ms"} <= columns:
        return _round_trips(name, _table(text))
    if {"t_s", "ping_ms"} <= columns:
        return _phone(name, _table(text))
    if "\t" in first:
        return _hsdpa(name, text)
    digits = "".join(text.split())
    if len(first) > 20 and set(digits) <= {"0", "1"}:
        losses = tuple(digit == "1" for digit in digits)
        return Trace(name=name, kind=Kind.LOSSES, seconds=len(losses) * LOSS_PACKET_S, losses=losses)
    opportunities = parse_mahimahi(text)
    if not opportunities or opportunities[-1] <= 0:
        raise ValueError(f"The trace {name} is empty.")
    return Trace(name=name, kind=Kind.OPPORTUNITIES, seconds=opportunities[-1] / 1000, opportunities=opportunities)


def load(path: str | Path) -> Trace:
    """A trace from its file. Raises ValueError with a sentence where there is none, or none that can be read."""
    file = Path(path)
    if not file.is_file():
        raise ValueError(f"There is no trace {path}.")
    try:
        return parse(file.name, file.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text.") from None


def load_all(folder: str | Path) -> list[Trace]:
    """Every trace under a folder, in the order of names; files that are no traces (licences, readmes) are left out."""
    traces = []
    for path in sorted(Path(folder).rglob("*")):
        if path.is_file() and not path.name.upper().startswith(("LICENSE", "README")):
            try:
                traces.append(load(path))
            except ValueError:
                continue
    return traces


def _table(text: str) -> list[Mapping[str, str]]:
    return list(csv.DictReader(io.StringIO(text.lstrip())))


def _hsdpa(name: str, text: str) -> Trace:
    kbps = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            at, rate = (float(part) for part in line.split())
        except ValueError:
            raise ValueError(f"Line {number} of {name} is not a time and Mbit/s: {line[:40]!r}.") from None
        kbps.append((at, rate * 1000))
    return Trace(name=name, kind=Kind.CAPACITY, seconds=kbps[-1][0], kbps=tuple(kbps))


def _round_trips(name: str, rows: Iterable[Mapping[str, str]]) -> Trace:
    rtt = [(float(row["t_ms"]) / 1000, float(row["rtt_ms"])) for row in rows if row["rtt_ms"]]
    times = [at for at, _ in rtt]
    gaps = tuple((a, b) for a, b in pairwise(times) if b - a > GAP_S)
    return Trace(name=name, kind=Kind.ROUND_TRIPS, seconds=times[-1], rtt_ms=tuple(rtt), gaps=gaps)


def _phone(name: str, rows: Iterable[Mapping[str, str]]) -> Trace:
    rtt, loss, end = [], [], 0.0
    for row in rows:
        end = at = float(row["t_s"])
        if not row["ping_ms"]:
            continue
        since = max(0.0, at - PINGS_S)
        rtt.append((since, float(row["ping_ms"])))
        loss += [(since, float(row["ping_loss_percent"] or 0) / 100), (at, 0.0)]
    if not rtt:
        raise ValueError(f"{name} has no pings, and its bitrates are those of an application.")
    return Trace(
        name=name,
        kind=Kind.PHONE,
        seconds=end,
        rtt_ms=_in_order(rtt),
        loss=_in_order(loss),
    )


def _in_order(series: list[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """Sorted by time, the later entry of a time winning."""
    return tuple(sorted(dict(series).items()))


def base_rtt_ms(trace: Trace) -> float:
    """The usual round trip of a trace that knows any: what is above it is a queue or an outage."""
    return median(value for _, value in trace.rtt_ms)
