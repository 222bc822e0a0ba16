"""The E-model in the short form used for packet speech, on its three scales: never mix the ratings of two scales.

Everything that a packet network does not touch (noise, loudness, echo) stands at its default value. Delays are mouth to
ear in seconds, losses shares 0..1, and `burst` is the burst ratio BurstR of ITU-T G.107 clause 7.4: 1 for random loss.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Scale:
    """One of the three scales."""

    base: float
    """R without any impairment: R0 − Is + A at default values."""
    worst: float
    """What Ie,eff tends to when everything is lost."""
    factor: float
    """R divided by this is on the narrowband axis, where the formula for MOS is defined."""

    def rating(self, *, ie: float, bpl: float, loss: float = 0.0, burst: float = 1.0, delay_s: float = 0.0) -> float:
        """R = base − Id − Ie,eff (G.107 equation 7-1; G.107.1 and G.107.2 likewise)."""
        impairment = effective_impairment(ie, bpl, loss=loss, burst=burst, worst=self.worst)
        return self.base - self.factor * delay_impairment(delay_s) - impairment

    def opinion(self, rating: float) -> float:
        """MOS of a rating on this scale (G.107.1 and G.107.2 Annex A divide it by `factor` first)."""
        return mos(rating / self.factor)


NARROWBAND = Scale(base=93.2, worst=95.0, factor=1.0)
"""ITU-T G.107: R at default values; Ie,eff by equation 7-29."""
WIDEBAND = Scale(base=129.0, worst=95.0, factor=1.29)
"""ITU-T G.107.1: R0 = 129, Ie,eff,WB with 95."""
FULLBAND = Scale(base=148.0, worst=132.0, factor=1.48)
"""ITU-T G.107.2: R0 = 148 (its own equation gives 147.5), Ie,eff,FB with 132."""

DELAY_FREE_S = 0.1
"""No impairment up to here (G.107 equation 7-27)."""


def delay_impairment(delay_s: float) -> float:
    """Idd on the narrowband axis (G.107 equations 7-27 and 7-28 with sT = 1, mT = 100 ms); a scale multiplies it."""
    if delay_s <= DELAY_FREE_S:
        return 0.0
    x = math.log2(delay_s / DELAY_FREE_S)
    return 25 * ((1 + x**6) ** (1 / 6) - 3 * (1 + (x / 3) ** 6) ** (1 / 6) + 2)


def effective_impairment(ie: float, bpl: float, *, loss: float, burst: float, worst: float) -> float:
    """Ie,eff = Ie + (worst − Ie) · Ppl / (Ppl / BurstR + Bpl), Ppl in percent (G.107 equation 7-29)."""
    percent = 100 * loss
    return ie + (worst - ie) * percent / (percent / burst + bpl)


def burst_ratio(loss: float, mean_burst: float) -> float:
    """BurstR, 1 or more: `mean_burst` lost in a row over what random loss of this share has (G.107 clause 7.4)."""
    return max(1.0, mean_burst * (1 - loss))


def mos(rating: float) -> float:
    """Mean opinion of a rating on the narrowband axis (G.107 equation B-4), 1..4.5."""
    if rating <= 0:
        return 1.0
    if rating >= 100:
        return 4.5
    return max(1.0, 1 + 0.035 * rating + rating * (rating - 60) * (100 - rating) * 7e-6)
