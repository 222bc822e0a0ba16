"""The constants of the opinion table from its rows, and how far what they tell is from what was measured."""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from adaptive.control import emodel
from adaptive.control.opinion import Table, expected
from adaptive.control.plan import Plan, Reason, Rung

from .opinion_measuring import BURSTS, Row

VISQOL_BEST = 4.75
"""MOS-LQO of audio mode for a reference against itself, rounded up."""
PESQ_BEST = 4.644
"""MOS-LQO of a reference against itself (ITU-T P.862.2)."""


def rating(opinion: float) -> float:
    """R on the narrowband axis of a mean opinion: the inverse of `emodel.mos`, 0..100."""
    low, high = 6.5, 100.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if emodel.mos(middle) < opinion else (low, middle)
    return (low + high) / 2


def fitted(rows: Sequence[Row]) -> dict[str, Any]:
    """The entry of one rung: Ie, both Bpl, and how well they tell the ratings they were fitted to (RMSE, opinion).

    `rows` are those without protection; those of several voices are averaged first.
    """
    scale = emodel.FULLBAND
    clean, *others = _over_voices(rows)
    assert clean.visqol is not None
    judged = [(clean.visqol, VISQOL_BEST), (clean.pesq, PESQ_BEST)]
    ratings = [rating(1 + (score - 1) * 3.5 / (best - 1)) for score, best in judged]
    ie = max(0.0, scale.base - scale.factor * float(np.mean(ratings)))
    entry: dict[str, Any] = {**_rung(clean.condition.rung), "ie": round(ie, 2), "visqol": round(clean.visqol, 3)}
    entry["pesq"] = round(clean.pesq, 3)
    for burst, name in zip(BURSTS, ("bpl", "bpl_bursts"), strict=True):
        lossy = [row for row in others if row.condition.burst == burst and row.lost]
        drops = [scale.factor * (rating(clean.pesq) - rating(row.pesq)) for row in lossy]

        def error(bpl: float, lossy: list[Row] = lossy, drops: list[float] = drops, burst: float = burst) -> float:
            told = [scale.base - _impaired(ie, bpl, row.lost, burst) for row in lossy]
            heard = [scale.base - ie - drop for drop in drops]
            pairs = zip(told, heard, strict=True)
            return math.sqrt(float(np.mean([(scale.opinion(a) - scale.opinion(b)) ** 2 for a, b in pairs])))

        bpl = min(np.geomspace(0.5, 60, 400), key=error)
        entry[name], entry[f"{name}_rmse"] = round(float(bpl), 2), round(error(float(bpl)), 3)
    return entry


def _impaired(ie: float, bpl: float, loss: float, burst: float) -> float:
    ratio = emodel.burst_ratio(loss, burst)
    return emodel.effective_impairment(ie, bpl, loss=loss, burst=ratio, worst=emodel.FULLBAND.worst)


def _rung(rung: Rung) -> dict[str, Any]:
    return {"bitrate": rung.bitrate, "bandwidth": str(rung.bandwidth), "frame_ms": rung.frame_ms}


def _over_voices(rows: Sequence[Row]) -> list[Row]:
    """One row of each condition, the one without loss first; the voice is that of the first."""
    kinds = sorted({(row.condition.loss, row.condition.burst) for row in rows})
    means = []
    for kind in kinds:
        same = [row for row in rows if (row.condition.loss, row.condition.burst) == kind]
        scores = [row.visqol for row in same if row.visqol is not None]
        means.append(
            Row(
                condition=same[0].condition,
                lost=fmean(row.lost for row in same),
                pesq=fmean(row.pesq for row in same),
                visqol=fmean(scores) if scores else None,
            )
        )
    return means


def points(rows: Sequence[Row], table: Table) -> Iterator[dict[str, Any]]:
    """Every row with the opinion that was measured (`heard`) and those that the table tells: `told` for all voices,
    `told_voice` for this one. Protected rows were not fitted to."""
    for row in rows:
        was = row.condition
        clean = next(
            r for r in rows if (r.condition.voice, r.condition.rung) == (was.voice, was.rung) and not r.condition.loss
        )
        plan = Plan(rung=was.rung, tier="full", reason=Reason.STEADY, protection=was.protection)
        told, told_voice = (
            expected(plan, loss=row.lost, burst=was.burst, voice=voice, table=table) for voice in (None, was.voice)
        )
        yield {
            "voice": was.voice,
            **_rung(was.rung),
            "protection": str(was.protection),
            "loss": was.loss,
            "burst": was.burst,
            "heard": round(_heard(row, clean), 3),
            "told": round(told, 3),
            "told_voice": round(told_voice, 3),
        }


def _heard(row: Row, clean: Row) -> float:
    assert clean.visqol is not None
    judged = [(clean.visqol, VISQOL_BEST), (clean.pesq, PESQ_BEST)]
    best = fmean(rating(1 + (score - 1) * 3.5 / (most - 1)) for score, most in judged)
    fall = max(0.0, rating(clean.pesq) - rating(row.pesq)) if row.lost else 0.0
    return emodel.mos(best - fall)


def residuals(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Root mean square of told less heard, by protection and by voice, with common constants and the voice's own."""
    kinds = {"protection": {p["protection"] for p in found}, "voice": {p["voice"] for p in found}}
    return {
        told: {
            "all": _rms(found, told),
            **{
                kind: {name: _rms([p for p in found if p[kind] == name], told) for name in sorted(names)}
                for kind, names in kinds.items()
            },
        }
        for told in ("told", "told_voice")
    }


def _rms(found: Sequence[dict[str, Any]], told: str) -> float:
    return round(math.sqrt(fmean((point[told] - point["heard"]) ** 2 for point in found)), 3)
