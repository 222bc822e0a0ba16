"""Windows of a trace as scenarios, and which of them hurt: where a fixed sender would be heard to fail."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from . import generated
from .scenarios import LEAD_IN_S, TRACE_QUEUE_BYTES, Scenario, Step, cut
from .scenarios import load as load_scenario
from .scenarios import names as scenario_names
from .traces import GAP_S, LOSS_PACKET_S, Kind, Trace, base_rtt_ms, load, load_all, value_at

WINDOW_S = 60
HURTING_KBPS = 100.0
HURTING_LOSS = 0.02
HURTING_RTT_MS = 400.0
"""Above the usual round trip of a trace that knows nothing else."""
TAIL_S = 10.0
"""After a window the trace goes on, for speech that comes late."""


@dataclass(frozen=True, kw_only=True)
class Window:
    """A part of a trace."""

    trace: Trace
    start_s: float
    seconds: int

    @property
    def name(self) -> str:
        """As the command line takes it, without the folder."""
        return f"{self.trace.name}@{self.start_s:g}"

    def scenario(self) -> Scenario:
        """The path as it was, on the base path where the trace says nothing; the speech begins at `start_s`."""
        return Scenario(name=self.name, says=_SAYS[self.trace.kind].format(self), steps=_steps(self))


_SAYS = {
    Kind.OPPORTUNITIES: "The capacity of {0.trace.name} from second {0.start_s:g}, with a queue of 60 kB.",
    Kind.CAPACITY: "The capacity of {0.trace.name} from second {0.start_s:g}, with a queue of 60 kB.",
    Kind.ROUND_TRIPS: "The delays and outages of {0.trace.name} from second {0.start_s:g}.",
    Kind.PHONE: "Delay and loss of {0.trace.name} from second {0.start_s:g}, as its pings saw them.",
    Kind.LOSSES: "The losses of {0.trace.name} from second {0.start_s:g}.",
    Kind.GENERATED: "The generated trace {0.trace.name} from second {0.start_s:g}.",
}


def find(name: str, *, seconds: int) -> Scenario:
    """A scenario by name, or a `.toml` file of one; a generated trace by name, or a `.json` file of its model; or a
    recorded trace by its file. Traces may say where the speech begins, NAME@SECONDS. Raises ValueError."""
    if name in scenario_names() or name.endswith(".toml"):
        return load_scenario(name)
    found, at, offset = name.rpartition("@")
    if not at:
        found, offset = name, "0"
    try:
        start_s = float(offset)
    except ValueError:
        raise ValueError(f"{name} names no second of a trace: write {found}@SECONDS.") from None
    if found in generated.names() or found.endswith(generated.SUFFIX):
        trace = generated.trace(found)
    elif Path(found).is_file():
        trace = load(found)
    else:
        raise ValueError(
            f"There is neither a scenario nor a trace {found!r}; scenarios are {', '.join(scenario_names())}; generated"
            f" traces are {', '.join(generated.names())}."
        )
    return Window(trace=trace, start_s=start_s, seconds=seconds).scenario()


def hurting_windows(trace: Trace, *, seconds: int = WINDOW_S) -> list[Window]:
    """The windows, side by side from its start and one that ends with it, in which capacity falls below 100 kb/s for a
    second, more than 2 % of the packets are lost, or the round trip is more than 400 ms above its usual."""
    last = int(trace.seconds) - seconds
    starts = list(range(0, last + 1, seconds))
    if starts and last - starts[-1] >= seconds / 2:
        starts.append(last)
    windows = [Window(trace=trace, start_s=float(start), seconds=seconds) for start in starts]
    return [window for window in windows if _recorded(window) and _hurts(window)]


def all_hurting(folder: str | Path, *, seconds: int = WINDOW_S) -> list[Window]:
    """Those of every trace under a folder."""
    return [window for trace in load_all(folder) for window in hurting_windows(trace, seconds=seconds)]


def _recorded(window: Window) -> bool:
    end_s = window.start_s + window.seconds
    return not any(since < end_s and until > window.start_s for since, until in window.trace.gaps)


def _hurts(window: Window) -> bool:
    trace, start, end = window.trace, int(window.start_s), int(window.start_s) + window.seconds
    if any(rate < HURTING_KBPS for rate in trace.capacity_kbps()[start:end]):
        return True
    if trace.losses:
        part = _losses(window)[: round(window.seconds / LOSS_PACKET_S)]
        return sum(part) > HURTING_LOSS * len(part)
    if any(share > HURTING_LOSS and start - GAP_S <= at < end for at, share in trace.loss):
        return True
    limit = base_rtt_ms(trace) + HURTING_RTT_MS if trace.rtt_ms else 0.0
    return any(rtt > limit and start <= at < end for at, rtt in trace.rtt_ms)


def _steps(window: Window) -> tuple[Step, ...]:
    trace, start = window.trace, window.start_s - LEAD_IN_S
    length_s = LEAD_IN_S + window.seconds + TAIL_S
    down: dict[str, Any] = {}
    if trace.opportunities:
        down |= {
            "trace": cut(trace.opportunities, round(start * 1000), round(length_s * 1000)),
            "queue_bytes": TRACE_QUEUE_BYTES,
        }
    if trace.kbps:
        down |= {"steps": tuple(_shifted(trace.kbps, start, length_s)), "queue_bytes": TRACE_QUEUE_BYTES}
    if trace.losses:
        down["loss_list"] = _losses(window)
    steps = []
    if trace.rtt_ms:
        half = base_rtt_ms(trace) / 2
        down["delay_trace"] = tuple((at, max(0.0, rtt - half)) for at, rtt in _shifted(trace.rtt_ms, start, length_s))
        steps.append(_step(-LEAD_IN_S, "up", {"delay_ms": half}))
    if trace.loss:
        changes = list(_shifted(trace.loss, start, length_s))
        down["loss"] = changes[0][1]
        steps += [_step(at - LEAD_IN_S, "down", {"loss": share}) for at, share in changes[1:]]
    return tuple(sorted([_step(-LEAD_IN_S, "down", down), *steps], key=lambda step: step.at_s))


def _step(at_s: float, direction: str, settings: dict[str, Any]) -> Step:
    return Step(at_s=at_s, direction=direction, settings=MappingProxyType(settings))


def _shifted(series: tuple[tuple[float, float], ...], start_s: float, length_s: float) -> Iterator[tuple[float, float]]:
    """The part of a series from `start_s` on, in its own time; before the recording its first value holds."""
    yield 0.0, value_at(series, start_s)
    for at, value in series:
        if start_s < at < start_s + length_s:
            yield at - start_s, value


def _losses(window: Window) -> tuple[bool, ...]:
    """From the start of the speech on, what comes before it in its place in front, so that the lead-in has its own."""
    losses = window.trace.losses
    first = round(window.start_s / LOSS_PACKET_S) % len(losses)
    return losses[first:] + losses[:first]
