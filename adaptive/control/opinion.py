"""What a listener is expected to think of a plan: a mean opinion 1..4.5 on the fullband scale of ITU-T G.107.2.

Codec constants are those of Alahmadi, Pocta and Melvin, "An Adaptive Bitrate Switching Algorithm for Speech
Applications in Context of WebRTC", ACM TOMM 17(4), 2021, where they give one for Opus; between and beyond them they
are interpolated over the logarithm of the bitrate, and the two marked ones are assumed. They are a planning model: good
for comparing plans, not for stating what anyone heard. The precision of the speech model is not in them.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from . import emodel
from .plan import Bandwidth, Plan, Protection, Rung

_FULLBAND_IE = ((16_000, 30.2), (25_000, 20.2), (40_000, 10.7))
"""(bit/s, Ie) of superwideband Opus on the fullband scale; fullband is taken to be as good."""
_FULLBAND_BPL = ((16_000, 11.8), (25_000, 11.3), (40_000, 9.8))
_WIDEBAND_IE = ((12_000, 23.3), (16_000, 12.0), (24_000, 6.0))
"""The same of wideband Opus on the wideband scale; 16 and 24 kb/s are assumed."""
_WIDEBAND_BPL = ((12_000, 22.2),)
_CEILING = {
    Bandwidth.NB: emodel.NARROWBAND.base,
    Bandwidth.MB: (emodel.NARROWBAND.base + emodel.WIDEBAND.base) / 2,
    Bandwidth.WB: emodel.WIDEBAND.base,
}
"""R of a perfect codec of this bandwidth: the scales share one axis, and what a band lacks is missing from 148."""
_BPL_FRAME_MS = 20
"""The frame length at which the Bpl hold: a lost packet of 60 ms is a burst of three."""
_FEC_PRIMARY = 0.55
"""Share of the bitrate left for the speech itself while copies travel with it, so that 32 kb/s sounds like 17 to 18."""


def expected(plan_or_rung: Plan | Rung, *, loss: float = 0.0, burst: float = 1.0, delay_s: float = 0.0) -> float:
    """Expected opinion, 1..4.5.

    `loss` is the share of packets lost before any repair, `burst` their mean number in a row (1 or more; random loss
    has 1 / (1 − loss)), `delay_s` mouth to ear. A bare rung is taken as unprotected.
    """
    rung = plan_or_rung if isinstance(plan_or_rung, Rung) else plan_or_rung.rung
    protection = Protection() if isinstance(plan_or_rung, Rung) else plan_or_rung.protection
    if protection.fec:
        rung = replace(rung, bitrate=round(rung.bitrate * _FEC_PRIMARY))
    loss = min(1.0, max(0.0, loss))
    left = residual_loss(loss, burst, protection)
    ratio = emodel.burst_ratio(left, burst) * max(1.0, rung.frame_ms / _BPL_FRAME_MS)
    ceiling = _CEILING.get(rung.bandwidth)
    scale = emodel.FULLBAND if ceiling is None else emodel.WIDEBAND
    ie = _interpolate(_FULLBAND_IE if ceiling is None else _WIDEBAND_IE, rung.bitrate)
    bpl = _interpolate(_FULLBAND_BPL if ceiling is None else _WIDEBAND_BPL, rung.bitrate)
    impairment = emodel.effective_impairment(ie, bpl, loss=left, burst=ratio, worst=scale.worst)
    delay = emodel.FULLBAND.factor * emodel.delay_impairment(delay_s)
    return emodel.FULLBAND.opinion((ceiling or emodel.FULLBAND.base) - impairment - delay)


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


def _interpolate(table: Sequence[tuple[int, float]], bitrate: int) -> float:
    """Straight over log2 of the bitrate, the outer stretches prolonged, never negative."""
    if len(table) == 1:
        return table[0][1]
    upper = next((n for n in range(1, len(table) - 1) if bitrate <= table[n][0]), len(table) - 1)
    (x0, y0), (x1, y1) = table[upper - 1], table[upper]
    return max(0.0, y0 + (y1 - y0) * math.log2(bitrate / x0) / math.log2(x1 / x0))
