"""What estimating costs, of one core: python -m quality.shadow_cost --help

`comparison_percent`: comparing two streams without end, 200 ms at a time. `shadow_percent`: decoding and comparing one
stretch of speech every ten seconds, as is done for each listener; `slice_ms` is the longest that the loop is held up.
"""

import json
import time
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import typer

from adaptive.codec.opus import OpusEncoder
from adaptive.control.fates import Fate
from adaptive.control.ladder import RUNGS
from adaptive.control.plan import Rung
from adaptive.speech.voice import Samples
from adaptive.ticks import TICK_RATE, to_seconds, to_ticks

from .estimate import Comparison
from .shadow import WARM, Carried, Frame, ShadowDecoder

TEXT = "The night train left the old station at a quarter past nine, and nobody on the platform waved."
PUSH = to_ticks(0.2)
STRETCH = WARM + to_ticks(2.0)
EVERY_S = 10.0
LOSS_EVERY = 10
"""Every tenth frame is lost, since concealing costs too."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Of one stretch."""

    seconds: float
    """Of processor time."""
    slices_ms: tuple[float, ...]


def comparison_percent(said: Samples, rounds: int) -> float:
    """Of one core."""
    heard = (said + 0.01 * np.random.default_rng(1).standard_normal(len(said))).astype(np.float32)
    begun = time.process_time()
    for _ in range(rounds):
        comparison = Comparison()
        for at in range(0, len(said), PUSH):
            comparison.push(said[at : at + PUSH], heard[at : at + PUSH])
    return 100 * (time.process_time() - begun) / (rounds * to_seconds(len(said)))


def stretch(said: Samples, rung: Rung) -> Cost:
    """One stretch at a rung."""
    encoder, length = OpusEncoder(), rung.frame_ms * TICK_RATE // 1000
    encoder.configure(bitrate=rung.bitrate, bandwidth=rung.bandwidth)
    frames, carried = [], []
    for number, at in enumerate(range(0, STRETCH - length + 1, length)):
        samples = said[at : at + length]
        frames.append(Frame(timestamp=at, samples=samples, packet=encoder.encode(samples)))
        fate = Fate(known=True, delay_s=None if number % LOSS_EVERY == 0 else 0.0)
        carried.append(Carried(timestamp=at, fate=fate))
    slices, more, begun = [], True, time.process_time()
    shadow = ShadowDecoder(frames, carried, allowance_s=0.1, lookahead=encoder.lookahead)
    while more:
        before = time.process_time()
        more = shadow.work(PUSH)
        slices.append(1000 * (time.process_time() - before))
    shadow.estimate()
    return Cost(seconds=time.process_time() - begun, slices_ms=tuple(slices))


def measure(rounds: int, voice: str) -> dict[str, Any]:
    """All figures."""
    import adaptive

    said = adaptive.render(TEXT, voice=voice).samples
    rows = []
    for rung in RUNGS:
        costs = [stretch(said, rung) for _ in range(rounds)]
        slices = np.concatenate([cost.slices_ms for cost in costs])
        seconds = float(np.median([cost.seconds for cost in costs]))
        rows.append(
            {
                "rung": str(rung),
                "shadow_percent": round(100 * seconds / EVERY_S, 3),
                "slice_p50_ms": round(float(np.median(slices)), 2),
                "slice_p99_ms": round(float(np.percentile(slices, 99)), 2),
            }
        )
    return {"comparison_percent": round(comparison_percent(said, rounds), 3), "rungs": rows}


def main(
    rounds: Annotated[int, typer.Option(help="How often everything is measured; medians are told.")] = 10,
    voice: Annotated[str, typer.Option(help="Whose speech.")] = "heart",
) -> None:
    """Measures, in this process, on one thread as far as numpy lets it, and prints one JSON object."""
    typer.echo(json.dumps(measure(rounds, voice)))


if __name__ == "__main__":
    typer.run(main)
