"""Measures a voice's tiers: CPU time by the length of a chunk, and how each sounds against the best.

The tiers take turns within each round, so that whatever else the machine does meets all of them; figures are medians.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from statistics import median
from time import process_time
from typing import Any

from ..clause import seam_frames
from ..voice import PreparedClause, Progress, SwitchPoint, Voice
from .figures import Calibration, TierFigures, TierJudge, TierQuality

CLAUSES = (
    "The lights along the harbour went out one after another.",
    "Nobody on the last train could say why it had stopped in the middle of the bridge.",
    "Keep to the left of the fountain and follow the narrow street down to the market.",
)
"""Words that an ASR writes as they are said: no numbers, no names."""
LENGTHS_S = (0.104, 0.209, 0.418, 0.836, 1.672)
"""Speech in a chunk: from the first one of a stream (`stream.FIRST_CHUNK_S`) in doublings."""
ROUNDS = 3
COSTS_SHARE = 2 / 3
"""Of the time that measuring takes with a judge."""
QUICK_LENGTHS_S = (0.209, 0.418)
QUICK_ROUNDS = 3


@dataclass(frozen=True, kw_only=True)
class _Run:
    """CPU seconds of one clause."""

    once: float
    """What is spent whatever the tier is."""
    decoder: float


def measure(voice: Voice, *, judge: TierJudge | None, progress: Progress) -> Calibration:
    """All there is to know of the voice. Takes a minute for a voice of three tiers, with a judge half a minute more."""
    if judge is None:
        return _calibration(voice, _costs(voice, CLAUSES[:2], LENGTHS_S, ROUNDS, progress), {}, whole=True)
    costs = _costs(voice, CLAUSES[:2], LENGTHS_S, ROUNDS, lambda what, done: progress(what, COSTS_SHARE * done))
    qualities = _qualities(voice, judge, lambda what, done: progress(what, COSTS_SHARE + (1 - COSTS_SHARE) * done))
    return _calibration(voice, costs, qualities, whole=True)


def measure_quickly(voice: Voice, *, progress: Progress) -> Calibration:
    """What each tier costs in chunks of the usual length and of half of it: enough to know which ones are cheaper."""
    return _calibration(voice, _costs(voice, CLAUSES[:1], QUICK_LENGTHS_S, QUICK_ROUNDS, progress), {}, whole=False)


_Costs = dict[tuple[str, int], tuple[float, float]]
"""Tier and frames of a chunk → seconds per second of speech, in all and of the decoder."""


def _calibration(voice: Voice, costs: _Costs, qualities: dict[str, TierQuality], *, whole: bool) -> Calibration:
    lengths = sorted({frames for _, frames in costs})
    return Calibration(
        whole=whole,
        tiers=tuple(
            TierFigures(
                name=tier,
                cost={frames: round(costs[tier, frames][0], 4) for frames in lengths},
                decoder={frames: round(costs[tier, frames][1], 4) for frames in lengths},
                quality=qualities.get(tier, TierQuality()),
            )
            for tier in voice.info.tiers
        ),
    )


def _costs(voice: Voice, texts: Sequence[str], lengths_s: Sequence[float], rounds: int, progress: Progress) -> _Costs:
    frame_s = voice.info.frame_samples / voice.info.rate
    lengths = [max(1, round(length_s / frame_s)) for length_s in lengths_s]
    speech_s = sum(voice.prepare(text).frames for text in texts) * frame_s
    spent: dict[tuple[str, int], list[tuple[float, float]]] = defaultdict(list)
    work = list(product(range(rounds), lengths))
    for done, (_, frames) in enumerate(work):
        progress(f"{voice.info.name}: what its tiers cost", done / len(work))
        runs = [_run(voice, text, frames) for text in texts]
        for tier in voice.info.tiers:
            decoder = sum(run[tier].decoder for run in runs)
            spent[tier, frames].append((decoder + sum(run[tier].once for run in runs), decoder))
    return {
        key: (median(whole for whole, _ in runs) / speech_s, median(decoder for _, decoder in runs) / speech_s)
        for key, runs in spent.items()
    }


def _run(voice: Voice, text: str, frames: int) -> dict[str, _Run]:
    """A clause in chunks of so many frames at every tier. What a clause computes on the way and keeps (a flow) is
    computed by its first decoding, which is done twice where tiers share a clause: the second time it is not there."""
    tiers = voice.info.tiers
    if voice.info.switch is not SwitchPoint.CHUNK:
        runs = {}
        for tier in tiers:
            once, prepared = _timed(_prepare, voice, text, tier)
            runs[tier] = _Run(once=once, decoder=_timed(_decode, voice, prepared, frames, tier)[0])
        return runs
    once, prepared = _timed(_prepare, voice, text, tiers[0])
    first, _ = _timed(_decode, voice, prepared, frames, tiers[0])
    decoders = {tier: _timed(_decode, voice, prepared, frames, tier)[0] for tier in tiers}
    once += max(0.0, first - decoders[tiers[0]])
    return {tier: _Run(once=once, decoder=decoder) for tier, decoder in decoders.items()}


def _timed(call: Any, *arguments: Any) -> tuple[float, Any]:
    begun = process_time()
    made = call(*arguments)
    return process_time() - begun, made


def _prepare(voice: Voice, text: str, tier: str) -> PreparedClause:
    return voice.prepare(text, tier=tier)


def _decode(voice: Voice, prepared: PreparedClause, frames: int, tier: str) -> None:
    tail = seam_frames(voice.info)
    for start in range(0, prepared.frames, frames):
        prepared.decode(start, min(frames, prepared.frames - start), tier=tier, tail=tail)


def _qualities(voice: Voice, judge: TierJudge, progress: Progress) -> dict[str, TierQuality]:
    def say(text: str, tier: str) -> Any:
        prepared = _prepare(voice, text, tier)
        return prepared.decode(0, prepared.frames, tier=tier)

    tiers = voice.info.tiers
    best = [say(text, tiers[0]) for text in CLAUSES]
    found = {}
    for done, tier in enumerate(tiers):
        progress(f"{voice.info.name}: how {tier} sounds", done / len(tiers))
        said = [say(text, tier) for text in CLAUSES]
        found[tier] = judge(list(zip(CLAUSES, best, said, strict=True)), voice.info.rate)
    return found
