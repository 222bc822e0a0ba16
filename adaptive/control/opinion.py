"""What a listener is expected to think of a plan: a mean opinion 1..4.5 on the fullband scale of ITU-T G.107.2.

The codec's constants (Ie, and Bpl for random loss and for bursts) are those of `opinion_table.json`, measured on this
project's own voices and rungs by `python -m quality.opinion_table`, which says how well they fit. Between and beyond
the bitrates measured they are interpolated over the bitrate's logarithm. They are a planning model: good for comparing
plans, not for stating what anyone heard. The precision of the speech model is not in them.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from . import emodel
from .plan import Bandwidth, Plan, Protection, Rung

TABLE = Path(__file__).with_name("opinion_table.json")
_MEASURED_RATIO = 2.85
"""BurstR at which the table's `bpl_bursts` holds: bursts of 3 at 5 % of loss. Its `bpl` holds for random loss, 1."""
_LACKS = {
    Bandwidth.NB: emodel.WIDEBAND.base - emodel.NARROWBAND.base,
    Bandwidth.MB: (emodel.WIDEBAND.base - emodel.NARROWBAND.base) / 2,
}
"""R that a narrower band lacks of wideband, of which alone the table knows: the scales share one axis."""
_LEAST_BPL = 1.0
_FEC_PRIMARY = 0.55
"""Share of the bitrate left for the speech itself while copies travel with it, so that 32 kb/s sounds like 17 to 18."""


@dataclass(frozen=True)
class _Codec:
    """Constants of one operating point."""

    ie: float
    bpl: float
    bpl_bursts: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """Constants of the operating points measured, as `opinion_table.json` holds them."""

    rungs: Sequence[Mapping[str, Any]]
    """Over all voices measured."""
    voices: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """Of each alone: what a rung takes away depends on the voice. One that has nothing above 8 kHz loses nothing by a
    wideband rung."""

    def of(self, voice: str | None) -> Sequence[Mapping[str, Any]]:
        """Those of a voice, or of all where it was not measured or is not known."""
        return self.rungs if voice is None else self.voices.get(voice, self.rungs)


def expected(
    plan_or_rung: Plan | Rung,
    *,
    loss: float = 0.0,
    burst: float = 1.0,
    delay_s: float = 0.0,
    voice: str | None = None,
    table: Table | None = None,
) -> float:
    """Expected opinion, 1..4.5; of speech by any voice, or by `voice`, by the table that is shipped or by `table`.

    `loss` is the share of packets lost before any repair, `burst` their mean number in a row (1 or more; random loss
    has 1 / (1 − loss)), `delay_s` mouth to ear. A bare rung is taken as unprotected.
    """
    rung = plan_or_rung if isinstance(plan_or_rung, Rung) else plan_or_rung.rung
    protection = Protection() if isinstance(plan_or_rung, Rung) else plan_or_rung.protection
    if protection.fec:
        rung = replace(rung, bitrate=round(rung.bitrate * _FEC_PRIMARY))
    loss = min(1.0, max(0.0, loss))
    left = residual_loss(loss, burst, protection)
    codec, ratio = _codec(rung, voice, table or shipped()), emodel.burst_ratio(left, burst)
    bursty = min(1.0, (ratio - 1) / (_MEASURED_RATIO - 1))
    bpl = codec.bpl + (codec.bpl_bursts - codec.bpl) * bursty
    scale = emodel.FULLBAND
    return scale.opinion(scale.rating(ie=codec.ie, bpl=bpl, loss=left, burst=ratio, delay_s=delay_s))


def residual_loss(loss: float, burst: float, protection: Protection) -> float:
    """What is still lost after repair, 0..1, on a Gilbert channel of this loss and mean burst.

    A copy at distance d is lost too with p + (1 − p)·r^d, r being the channel's memory; in-band FEC is a copy at
    distance 1, and what is sent again on request is lost again with the loss of the channel.
    """
    if loss <= 0.0:
        return 0.0
    recover = 1 / max(1.0, burst, 1 / (1 - loss) if loss < 1 else math.inf)
    memory = max(0.0, 1 - recover - recover * loss / (1 - loss)) if loss < 1 else 1.0
    left, before = loss, 0
    for distance in sorted({*protection.copies, *((1,) if protection.fec else ())}):
        left *= loss + (1 - loss) * memory ** (distance - before)
        before = distance
    return left * loss if protection.nack else left


@cache
def _codec(rung: Rung, voice: str | None, table: Table) -> _Codec:
    """Of this rung: straight over log2 of the bitrate, the outer stretches prolonged, the nearest frame length."""
    wide = rung.bandwidth in (Bandwidth.SWB, Bandwidth.FB)
    known = [entry for entry in table.of(voice) if entry["bandwidth"] == ("FB" if wide else "WB")]
    frame_ms = min({entry["frame_ms"] for entry in known}, key=lambda ms: abs(ms - rung.frame_ms))
    points = sorted((e["bitrate"], e["ie"], e["bpl"], e["bpl_bursts"]) for e in known if e["frame_ms"] == frame_ms)
    upper = next((n for n in range(1, len(points) - 1) if rung.bitrate <= points[n][0]), len(points) - 1)
    (low, *below), (high, *above) = points[upper - 1], points[upper]
    share = math.log2(rung.bitrate / low) / math.log2(high / low)
    ie, *bpl = (a + (b - a) * share for a, b in zip(below, above, strict=True))
    return _Codec(max(0.0, ie) + _LACKS.get(rung.bandwidth, 0.0), *(max(_LEAST_BPL, value) for value in bpl))


@cache
def shipped() -> Table:
    """The one that controllers use."""
    found = json.loads(TABLE.read_text(encoding="utf-8"))
    return Table(rungs=found["rungs"], voices=found.get("voices", {}))
