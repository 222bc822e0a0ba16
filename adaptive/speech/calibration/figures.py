"""Figures of a voice's tiers, and which of them are worth having."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ..voice import Samples

CHEAPER = 0.9
"""A tier is cheaper than another where it costs less than this share of it: measuring varies, and a step must pay."""
SAME = frozenset({"fp32"})
"""Tiers that sound as the best does: the same precision, computed by another library."""


@dataclass(frozen=True, kw_only=True)
class TierQuality:
    """How a tier sounds against the voice's best; None where no judge was there to say."""

    visqol: float | None = None
    """ViSQOL in audio mode, 1..4.75."""
    mel_lsd: float | None = None
    """Log-spectral distance of mel spectra in active speech, dB."""
    wer: float | None = None
    """Share of words that an ASR reads otherwise."""


TierJudge = Callable[[Sequence[tuple[str, Samples, Samples]], int], TierQuality]
"""Called with texts, each as the best tier says it and as the tier in question does, and their rate in Hz."""


@dataclass(frozen=True, kw_only=True)
class TierFigures:
    """One tier's."""

    name: str
    cost: Mapping[int, float]
    """By the model frames of a chunk: CPU seconds per second of speech, from text to samples of the voice's rate."""
    decoder: Mapping[int, float]
    """The share of it that moves with the tier."""
    quality: TierQuality = field(default_factory=TierQuality)


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """A voice's, on one machine."""

    tiers: tuple[TierFigures, ...]
    """Every tier that was measured, best first."""
    whole: bool
    """Every tier was measured at every length and judged; else only what the start of a worker has time for."""

    def ladder(self) -> tuple[tuple[str, ...], Mapping[str, str]]:
        """The tiers worth having, best first, and for each of the others a sentence that says why not: one that sounds
        no worse costs no more. What sounds better is the order of the tiers, and ViSQOL's to say where it was asked."""
        kept: list[TierFigures] = []
        out: dict[str, str] = {}
        for tier in self.tiers:
            better = min(kept, key=_usual_cost, default=None)
            if better is not None and not _cheaper(tier, better):
                out[tier.name] = (
                    f"{tier.name} is left out: it costs {_told(tier)} here and {better.name} {_told(better)}."
                )
                continue
            for worse in [other for other in kept if _no_worse(tier, other) and _cheaper(tier, other)]:
                kept.remove(worse)
                out[worse.name] = (
                    f"{worse.name} is left out: {tier.name} sounds no worse and costs {_told(tier)} here, not"
                    f" {_told(worse)}."
                )
            kept.append(tier)
        return tuple(tier.name for tier in kept), out

    def costs(self) -> Mapping[str, Mapping[int, float]]:
        """Tier → model frames of a chunk → CPU seconds per second of speech."""
        return {tier.name: tier.cost for tier in self.tiers}

    def losses(self) -> Mapping[str, float]:
        """Tier → points of opinion that it sounds worse than the best; nothing where it was not judged."""
        judged = {tier.name: tier.quality.visqol for tier in self.tiers}
        best = max((score for score in judged.values() if score is not None), default=0.0)
        return {name: best - score for name, score in judged.items() if score is not None}


def _cheaper(tier: TierFigures, other: TierFigures) -> bool:
    return _usual_cost(tier) < CHEAPER * _usual_cost(other)


def _no_worse(tier: TierFigures, better: TierFigures) -> bool:
    """Whether a tier sounds as well as one that stands before it."""
    own, other = tier.quality.visqol, better.quality.visqol
    return tier.name in SAME or (own is not None and other is not None and own >= other)


def _usual_cost(tier: TierFigures) -> float:
    """At the length by which tiers are compared."""
    return tier.cost[usual_length(tier.cost)]


def usual_length(cost: Mapping[int, float]) -> int:
    """The middle one of the measured lengths."""
    return sorted(cost)[len(cost) // 2]


def _told(tier: TierFigures) -> str:
    return f"{_usual_cost(tier):.3f} s a second of speech"
