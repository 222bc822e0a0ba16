"""Models of networks fitted to recordings of them: python -m quality.lab.fitting --help

What a model keeps of its recordings is quantiles and time constants, no sample. Capacity is fitted as one process,
whose outages are where it is lowest; round trips above `OUTAGE_MS` are fitted as waits for the network, whose packets
arrive together. `statistics` says what a trace is like, recorded or generated, so that the two can be compared.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from adaptive.control.loss import Gilbert

from .capacity import OPPORTUNITY_BYTES
from .generated import Model, Quantiles, written
from .traces import Trace, load

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

OUTAGE_KBPS = 64.0
"""A capacity below carries no speech worth the name with its overhead, and counts as an outage."""
OUTAGE_MS = 400.0
"""A round trip above is a wait for the network to come back, which began so much earlier than it shows."""
CAPACITY_STEP_S, RTT_STEP_S = 0.5, 0.05
"""Finer steps would count single opportunities, or outrun the recordings' 20 pings a second."""
SHARES = (0, 0.01, 0.025, 0.05, *(n / 20 for n in range(2, 19)), 0.95, 0.975, 0.99, 0.995, 0.998, 1)
LENGTH_SHARES = (0, 0.1, 0.25, 0.5, 0.75, 0.9, 1)
TIME_CONSTANTS_S = (0.0, 0.1, 0.3, 1.0, 3.0, 8.0, 20.0, 60.0)
LAGS_S = (1.0, 2.0, 5.0, 10.0)
"""Of the autocorrelation in `statistics`."""
TOLD_SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
LEAST_KBPS = 10.0
"""Capacities below count as this in logarithms."""
LONGEST_LAG_S = 30.0


@dataclass(frozen=True, kw_only=True)
class Series:
    """A trace at equal steps; NaN where nothing was recorded."""

    of: str
    step_s: float
    values: Floats

    @property
    def out(self) -> Flags:
        """Where there is an outage."""
        return self.values < OUTAGE_KBPS if self.of == "capacity" else self.values > OUTAGE_MS

    @property
    def logarithms(self) -> Floats:
        """Natural, of the values."""
        return np.log(np.maximum(self.values, LEAST_KBPS if self.of == "capacity" else 1.0))


def series(trace: Trace) -> Series:
    """Capacity where the trace knows it, else round trips. Raises ValueError where it knows neither."""
    if trace.opportunities:
        step = CAPACITY_STEP_S
        edges = np.arange(0, trace.seconds + step / 2, step) * 1000
        counts, _ = np.histogram(trace.opportunities, edges)
        return Series(of="capacity", step_s=step, values=counts * OPPORTUNITY_BYTES * 8 / 1000 / step)
    known, step, of = (trace.kbps, CAPACITY_STEP_S, "capacity") if trace.kbps else (trace.rtt_ms, RTT_STEP_S, "rtt")
    if not known:
        raise ValueError(f"{trace.name} knows neither capacity nor round trips, so there is nothing to fit.")
    times, values = np.array(known).T
    grid = np.arange(times[0], trace.seconds, step) + 1e-6
    found = values[np.searchsorted(times, grid, side="right") - 1]
    for since, until in trace.gaps:
        found[(grid > since) & (grid < until)] = np.nan
    return Series(of=of, step_s=step, values=found)


def statistics(parts: Sequence[Series]) -> dict[str, Any]:
    """What recordings of one kind are like together: mean and quantiles of the values (kbit/s or ms), autocorrelation
    of their logarithms at `LAGS_S`, share of the time in outages, how many a minute, and quantiles of their lengths."""
    values = np.concatenate([part.values[~np.isnan(part.values)] for part in parts])
    out = np.concatenate([part.out[~np.isnan(part.values)] for part in parts])
    lengths = np.concatenate([_runs(part.out) * part.step_s for part in parts])
    told = np.quantile(values, TOLD_SHARES)
    return {
        "mean": round(float(values.mean()), 2),
        "quantiles": {str(share): round(float(value), 2) for share, value in zip(TOLD_SHARES, told, strict=True)},
        "autocorrelation": {
            str(lag): round(_correlation([part.logarithms for part in parts], round(lag / parts[0].step_s)), 3)
            for lag in LAGS_S
        },
        "outage_share": round(float(out.mean()), 4),
        "outages_a_minute": round(60 * len(lengths) / (len(values) * parts[0].step_s), 3),
        "outage_s": {
            str(share): round(float(np.quantile(lengths, share)), 2) if len(lengths) else None for share in (0.5, 0.9)
        },
    }


def fit(traces: Sequence[Trace], *, name: str, says: str, source: str) -> Model:
    """The model of recordings of one kind. Raises ValueError where they are of several, or know nothing to fit."""
    parts = [series(trace) for trace in traces]
    if len({part.of for part in parts}) != 1:
        raise ValueError("Fit traces of one kind together: of capacity, or of round trips.")
    held = parts[0].of == "rtt"
    usable = [~np.isnan(part.values) & ~(part.out & held) for part in parts]
    values = np.concatenate([part.values[use] for part, use in zip(parts, usable, strict=True)])
    step, outages, between = parts[0].step_s, np.zeros(0), np.zeros(0)
    if held:
        outages = np.concatenate([_runs(part.out) for part in parts]) * step + OUTAGE_MS / 1000
        between = np.concatenate([_runs(~part.out) for part in parts]) * step - OUTAGE_MS / 1000
    return Model(
        name=name,
        says=says,
        source=source,
        of=parts[0].of,
        step_s=step,
        values=_quantiles(values, SHARES),
        memory=_memory(parts, usable, values),
        outages_s=_quantiles(outages, LENGTH_SHARES),
        between_s=_quantiles(np.maximum(step, between), LENGTH_SHARES) if len(outages) else (),
        traces=tuple(trace.name for trace in traces),
        statistics=statistics(parts),
    )


def fit_losses(losses: Sequence[bool]) -> Gilbert:
    """Gilbert's channel that a loss list most likely came from: maximum likelihood, which is counting. Raises
    ValueError for an empty list."""
    if not losses:
        raise ValueError("A channel cannot be fitted to no packets.")
    runs = _runs(np.array(losses, bool))
    return Gilbert(share=sum(losses) / len(losses), burst=float(runs.mean()) if len(runs) else 1.0)


def _runs(flags: Flags) -> Floats:
    """Lengths of the runs of true, in steps."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    return (edges[1::2] - edges[::2]).astype(float)


def _quantiles(values: Floats, shares: Sequence[float]) -> Quantiles:
    if not len(values):
        return ()
    return tuple((share, round(float(np.quantile(values, share)), 2)) for share in shares)


def _correlation(parts: Sequence[Floats], lag: int) -> float:
    """Of values with those `lag` steps later, around the mean of all; pairs with a NaN are left out."""
    mean, spread = np.nanmean(np.concatenate(parts)), np.nanvar(np.concatenate(parts))
    products = np.concatenate([(part[lag:] - mean) * (part[:-lag] - mean) for part in parts if len(part) > lag])
    return float(np.nanmean(products) / spread)


def _memory(parts: Sequence[Series], usable: Sequence[Flags], values: Floats) -> tuple[tuple[float, float], ...]:
    """Weights of exponentials whose sum has the autocorrelation of the normal scores of the usable values."""
    from scipy.optimize import nnls
    from scipy.stats import norm

    order = np.sort(values)
    scores = []
    for part, use in zip(parts, usable, strict=True):
        ranks = (np.searchsorted(order, part.values, "left") + np.searchsorted(order, part.values, "right")) / 2
        scores.append(norm.ppf(np.where(use, (ranks + 0.5) / (len(order) + 1), np.nan)))
    step = parts[0].step_s
    longest = min(LONGEST_LAG_S, min(len(part.values) for part in parts) * step / 3)
    lags = np.unique(np.round(np.geomspace(1, longest / step, 40)).astype(int))
    measured = np.array([_correlation(scores, int(lag)) for lag in lags])
    shapes = np.array([[np.exp(-lag * step / tau) if tau else 0.0 for tau in TIME_CONSTANTS_S] for lag in lags])
    whole = 100.0  # the weight of the equation that they sum to 1
    weights, _ = nnls(
        np.vstack([shapes, whole * np.ones(len(TIME_CONSTANTS_S))]), np.append(np.maximum(measured, 0), whole)
    )
    weights = np.round(weights / weights.sum(), 3)
    return tuple((float(w), tau) for w, tau in zip(weights, TIME_CONSTANTS_S, strict=True) if w)


def main(
    name: Annotated[str, typer.Argument(help="What the generated trace is called.")],
    recordings: Annotated[list[Path], typer.Argument(help="Traces of one kind: of capacity, or of round trips.")],
    out: Annotated[Path, typer.Option(help="Folder for NAME.json; `legato simulate --trace FILE` takes it.")] = Path(),
    says: Annotated[str, typer.Option(help="What it is like, in a sentence.")] = "Fitted to recordings.",
    source: Annotated[str, typer.Option(help="Whose recordings they are.")] = "Not said.",
) -> None:
    """Fits a model to recordings and writes it: quantiles and time constants, no sample of theirs."""
    try:
        model = fit([load(path) for path in recordings], name=name, says=says, source=source)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    (out / f"{name}.json").write_text(written(model), encoding="utf-8")
    typer.echo(json.dumps(model.statistics))


if __name__ == "__main__":
    typer.run(main)
