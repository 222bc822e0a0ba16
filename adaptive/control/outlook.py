"""What every way of sending would be worth on the path as it is known: rung × protection × playout delay, enumerated.

What a way is worth for a chunk of speech is the opinion expected of it, less its weighted delay and its bits; weights
are the profile's. Ways that cost more of the wire or more delay and are worth no more are left out. All is a function
of a few numbers, rounded, so that it is worked out once for all listeners on such paths.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from .ladder import FEC_FROM, RUNGS, wire_rate, with_fec
from .loss import Gilbert
from .opinion import expected
from .plan import Protection, Rung
from .profiles import Weights
from .residual import LBRR_DISTANCE, MOST_TRIES, again_wait_s, copy_wait_s, residual

COPIES_MS = ((20,), (60,), (120,), (200,), (40, 100), (60, 140))
"""Ages of copies, of which whole frames are made; Chromium takes two of them, to 340 ms (measured)."""
HINTS = (10, 15, 20)
"""Percent told to the encoder: below 10 it makes no copies at 24 kb/s; 20 is libwebrtc's ceiling."""
FEC_PRIMARY = 0.55
"""Share of the bitrate left for the speech itself while in-band copies travel with it: 32 kb/s sounds like 17 to 18."""
ASKING_S, ASKING_MORE_S = 0.14, 0.35
"""Chromium holds so much by itself where it gets what it asks for again, and so much more per share lost (the simulated
receiver's delay at 5, 10 and 20 % loss)."""
DELAY_STEP_S = 0.04
"""Playout delays lie so far apart, from the profile's clean one on."""
LOSSES = (0.0, 0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.055, 0.075, 0.1, 0.13, 0.17, 0.22, 0.3, 0.4, 0.6, 1.0)
BURSTS = (1.0, 1.5, 2.0, 3.0, 4.5, 7.0, 12.0)
ROUND_TRIPS_S = (0.03, 0.06, 0.08, 0.1, 0.12, 0.15, 0.19, 0.24, 0.3, 0.4, 0.6, 1.0, 3.0)
"""What estimates are rounded to: the nearest, a round trip the next higher."""


LEAST_LEFT, GRID = 1e-4, 0.14
"""Of what is left after repair: less is nothing; steps of its logarithm."""


@dataclass(frozen=True, kw_only=True)
class Path:
    """What is known of the path, rounded."""

    loss: float
    burst: float
    rtt_s: float | None
    jitter_s: float
    """How late packets come without being lost, beyond what the clean delay holds."""
    red: bool
    nack: bool
    repair: bool
    """Anything may be done against loss; not where the carrier repairs by itself."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What may be asked for."""

    top: Rung
    wire: float
    """bit/s, whatever the capacity."""
    clean_s: float
    """Playout delay without need; others lie in steps above it."""
    least_s: float
    """That holds anyway."""
    most_s: float


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way of sending."""

    rung: Rung
    protection: Protection
    delay_s: float
    """Held by the listener."""
    needs_s: float
    """The least that it must hold for the repair to come in time."""
    wire: float
    """bit/s, with what is sent again."""
    left: float
    """Share lost after repair."""
    opinion: float
    """Expected, delay aside."""
    delay_cost: float
    """Points a chunk for all that lies between leaving and sounding."""
    worth: float
    """Points a chunk: opinion less delay and bits."""


def rounded(
    *,
    loss: Gilbert,
    careful: Gilbert,
    rtt_s: float | None,
    jitter_s: float,
    red: bool,
    nack: bool,
    repair: bool = True,
    before: Path | None = None,
) -> Path:
    """The path as the table knows it. Loss is `loss`, but falls below what was taken for it `before` only with
    `careful`, which is what it may well be."""
    share = _nearest(LOSSES, loss.share) if repair else 0.0
    if before is not None and repair and share < before.loss:
        share = min(before.loss, _nearest(LOSSES, careful.share))
    return Path(
        loss=share,
        burst=_nearest(BURSTS, loss.burst) if share else 1.0,
        rtt_s=None if rtt_s is None else next((r for r in ROUND_TRIPS_S if rtt_s <= r), ROUND_TRIPS_S[-1]),
        jitter_s=round(jitter_s, 2),
        red=red,
        nack=nack,
        repair=repair,
    )


def _nearest(grid: tuple[float, ...], value: float) -> float:
    return min(grid, key=lambda known: abs(known - value))


@lru_cache(maxsize=1024)
def ways(path: Path, limits: Limits, weights: Weights) -> tuple[Way, ...]:
    """All that are worth considering, cheapest on the wire first."""
    kept: list[Way] = []
    for plain in RUNGS:
        if plain.bitrate > limits.top.bitrate:
            continue
        found = [
            way(rung, protection, max(needs_s, limits.least_s), path, weights, needs_s=needs_s)
            for rung, protection, needs_s in _repairs(plain, path, limits)
            if wire_rate(rung, protection, loss=path.loss) <= limits.wire
        ]
        found.sort(key=lambda w: (w.wire, w.delay_s, -w.worth))
        best: list[Way] = []
        for w in found:
            if not any(b.worth >= w.worth and b.delay_s <= w.delay_s for b in best):
                best.append(w)
        kept += best
    return tuple(sorted(kept, key=lambda w: w.wire))


@lru_cache(maxsize=8192)
def way(rung: Rung, protection: Protection, delay_s: float, path: Path, weights: Weights, *, needs_s: float) -> Way:
    """One way, worked out."""
    left = residual(
        protection,
        loss=Gilbert(share=path.loss, burst=path.burst),
        frame_ms=rung.frame_ms,
        playout_delay_s=delay_s,
        rtt_s=path.rtt_s,
        jitter_s=path.jitter_s,
    )
    sounding = replace(rung, bitrate=round(rung.bitrate * FEC_PRIMARY)) if protection.fec else rung
    asks = protection.nack and path.loss
    held_s = max(delay_s, ASKING_S + ASKING_MORE_S * path.loss) if asks else delay_s
    total_s = (path.rtt_s or 0.0) / 2 + held_s + rung.frame_ms / 1000
    share = _on_grid(left.share)
    opinion, delayed = (_expected(sounding, share, left.burst, seconds) for seconds in (0.0, round(total_s, 2)))
    wire = wire_rate(rung, protection, loss=path.loss)
    delay_cost = weights.delay * (opinion - delayed) + weights.wait * total_s
    return Way(
        rung=rung,
        protection=protection,
        delay_s=delay_s,
        needs_s=needs_s,
        wire=wire,
        left=left.share,
        opinion=opinion,
        delay_cost=delay_cost,
        worth=opinion - delay_cost - weights.kilobit * wire / 1000,
    )


@lru_cache(maxsize=65_536)
def _expected(rung: Rung, loss: float, burst: float, delay_s: float) -> float:
    return expected(rung, loss=loss, burst=burst, delay_s=delay_s)


def _on_grid(share: float) -> float:
    """Within 7 %, so that few opinions are ever asked for."""
    return 0.0 if share < LEAST_LEFT else math.exp(round(math.log(share) / GRID) * GRID)


def _repairs(rung: Rung, path: Path, limits: Limits) -> Iterator[tuple[Rung, Protection, float]]:
    """Protections that are possible for a rung, each with the delays at which it begins to help."""
    yield rung, Protection(), limits.clean_s
    if not path.loss or not path.repair:
        return
    lbrr = not path.red and rung.bitrate >= FEC_FROM
    hint = next((hint for hint in HINTS if hint >= 100 * path.loss), HINTS[-1])
    bare = [(rung, Protection(), 0.0)]
    bare += [(rung, Protection(copies=d), copy_wait_s(max(d), rung.frame_ms)) for d in _distances(rung) if path.red]
    if lbrr:
        fec = Protection(fec=True, loss_hint=hint)
        bare.append((with_fec(rung), fec, copy_wait_s(LBRR_DISTANCE, rung.frame_ms)))
    for sounding, protection, wait_s in bare:
        needed = delay_for(path.jitter_s + wait_s, limits)
        if needed > limits.most_s:
            continue
        if wait_s:
            yield sounding, protection, needed
        if path.nack and path.rtt_s is not None:
            again = [again_wait_s(tries, rung.frame_ms, path.rtt_s) for tries in range(1, MOST_TRIES + 1)]
            for needs_s in {max(needed, delay_for(path.jitter_s + wait, limits)) for wait in again}:
                if needs_s <= limits.most_s:
                    yield sounding, replace(protection, nack=True), needs_s


@lru_cache
def _distances(rung: Rung) -> tuple[tuple[int, ...], ...]:
    """Distances in frames of copies of about the ages in `COPIES_MS`, none twice."""
    distances = (tuple(max(1, round(age / rung.frame_ms)) for age in ages) for ages in COPIES_MS)
    return tuple(dict.fromkeys(d for d in distances if len(set(d)) == len(d)))


def delay_for(wait_s: float, limits: Limits) -> float:
    """The step of playout delay that holds `wait_s`; it may lie above the most."""
    steps = math.ceil(max(0.0, wait_s - limits.clean_s) / DELAY_STEP_S - 1e-6)
    return round(limits.clean_s + DELAY_STEP_S * steps, 3)
