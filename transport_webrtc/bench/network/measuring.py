"""A row of the table from what a run left behind."""

from typing import Any

import numpy as np

from adaptive.speech.voice import Samples
from adaptive.ticks import TICK_RATE
from quality import perceptual
from quality.continuity import Continuity
from quality.following import Followed, follow
from quality.lab.scenarios import Scenario

from .clip import Clip, Phrase, as_spoken
from .counters import Counters
from .taken import Taken
from .wire import Wire, under_capacity_after

MAX_SLIP = 0.003
"""An audio clock further from the wall clock says that the listener was starved, not what it heard."""
MAX_LATE_S = 0.2
"""Of a step on the link."""
MIN_IDLE = 0.1
"""Of the machine, on average while the clip is spoken."""
AUDIBLE = 10 ** (-45 / 20)
"""First audio is the first 20 ms whose level is above −45 dBFS."""
AUDIBLE_TICKS = TICK_RATE // 50
REACH_S = 0.25
"""Around the lag at which a phrase was found: speech correlates with itself a word away."""
MOST_LAG_S = 3.0
"""Of the whole clip."""
UNHEARD = 1.0
"""MOS of a phrase that was not heard."""


def row(taken: Taken, clip: Clip, scenario: Scenario) -> dict[str, Any]:
    """One row. What cannot be measured is None. Needs the extra `judge`; raises ImportError that says so."""
    spoken, tiers = _as_spoken(taken, clip)
    reference = spoken.samples
    latest = max(0.5, (len(taken.heard) - len(reference)) / TICK_RATE)
    followed = follow(taken.heard, reference, rate=TICK_RATE, latest_s=latest)
    found = followed.continuity
    onset = _onset(taken.heard)
    start = found.start_s or 0.0
    end = start + len(reference) / TICK_RATE
    counters, down = Counters(taken.ticks), Wire.of(taken.wire["down"])
    pesq, visqol = _whole(taken.heard, reference, found)
    squeeze = scenario.squeeze
    delays = [delay for _, delay in counters.delays_s(0.0, end)]
    return {
        "sender": taken.sender,
        "scenario": taken.scenario,
        "seed": taken.seed,
        "pesq": _rounded(pesq, 3),
        "pesq_phrase": _rounded(_by_phrase(taken.heard, reference, spoken.phrases, found), 3),
        "pesq_followed": _rounded(_followed(followed), 3),
        "problem": followed.problem,
        "visqol": _rounded(visqol, 3),
        "concealed_share": _rounded(counters.concealed_share(start, end), 5),
        "silence_added_s": _rounded(found.silence_added_s, 2),
        "lost_speech_s": _rounded(found.lost_speech_s, 2),
        "largest_gap_ms": _ms(found.largest_gap_s),
        "first_audio_ms": _ms(onset),
        "delay_mean_ms": _ms(counters.delay_s(start, end)),
        "buffer_max_ms": _ms(max(delays, default=None)),
        "under_capacity_ms": _ms(under_capacity_after(down, *squeeze)) if squeeze else None,
        "peak_queue_ms": _rounded(taken.queue_max_ms, 1),
        "wire_kbps": _rounded(Wire.of(*taken.wire.values()).kbps(0.0, clip.seconds), 1),
        "down_kbps": _rounded(down.kbps(0.0, clip.seconds), 1),
        "lost_packets_share": _rounded(_lost(taken.speech, clip.seconds), 4),
        "clock_slip": _rounded(taken.slip, 5),
        "cpu_idle": _rounded(taken.idle, 3),
        "cpu_idle_min": _rounded(taken.idle_lowest, 3),
        "late_ms": _ms(taken.late_s),
        "valid": valid(taken),
        "tiers": tiers,
        "tier_pesq": _rounded(_tier_pesq(spoken, clip), 3),
    }


def valid(taken: Taken) -> bool:
    """Whether the machine left the listener enough time to say anything about the network."""
    clock = taken.slip is not None and abs(taken.slip) <= MAX_SLIP
    return clock and taken.late_s <= MAX_LATE_S and (taken.idle is None or taken.idle >= MIN_IDLE)


def _as_spoken(taken: Taken, clip: Clip) -> tuple[Clip, list[str]]:
    """What was sent, and at which tiers of the voice: Legato may have lowered it on the way."""
    switches = [e for e in taken.told.get("events", ()) if e["event"] == "switched" and e.get("kind") == "tier"]
    if switches:
        tier = switches[0]["from"]
    elif taken.told:
        tier = taken.told["snapshot"]["plan"]["tier"]
    else:
        return clip, []
    tiers = [tier, *(switch["to"] for switch in switches)]
    return (clip if set(tiers) == {clip.tier} else as_spoken(clip, tier, switches)), tiers


def _tier_pesq(spoken: Clip, clip: Clip) -> float | None:
    """PESQ of what was sent against the voice's best, phrase by phrase: what lower tiers cost, before any network. None
    where it was the best."""
    if spoken is clip:
        return None
    scores, lengths = [], []
    for mine, best in zip(spoken.phrases, clip.phrases, strict=True):
        scores.append(_phrase(spoken.samples, clip.samples[best.start : best.end], mine.start / TICK_RATE))
        lengths.append(best.end - best.start)
    return float(np.average(scores, weights=lengths))


def _onset(heard: Samples) -> float | None:
    blocks = heard[: len(heard) // AUDIBLE_TICKS * AUDIBLE_TICKS].reshape(-1, AUDIBLE_TICKS)
    loud = np.flatnonzero(np.sqrt((blocks.astype(np.float64) ** 2).mean(axis=1)) > AUDIBLE)
    return float(loud[0] + 1) * AUDIBLE_TICKS / TICK_RATE if len(loud) else None


def _whole(heard: Samples, reference: Samples, found: Continuity) -> tuple[float | None, float | None]:
    """PESQ and ViSQOL of the clip at the one lag that fits best."""
    if found.start_s is None:
        return None, None
    earliest = max(0.0, found.start_s - REACH_S)
    aligned = perceptual.align(
        heard, reference, rate=TICK_RATE, earliest_s=earliest, latest_s=found.start_s + MOST_LAG_S
    ).samples
    return (
        perceptual.pesq_wb(reference, aligned, rate=TICK_RATE),
        perceptual.visqol_audio(reference, aligned, rate=TICK_RATE),
    )


def _followed(followed: Followed) -> float | None:
    """PESQ of the clip with what the receiver did to time taken out; None where it would mean nothing."""
    if followed.problem is not None:
        return None
    return perceptual.pesq_wb(followed.reference, followed.samples, rate=TICK_RATE)


def _by_phrase(heard: Samples, reference: Samples, phrases: tuple[Phrase, ...], found: Continuity) -> float:
    """Mean PESQ of the phrases, each at its own lag, by their lengths."""
    scores, lengths = [], []
    for phrase in phrases:
        part = reference[phrase.start : phrase.end]
        steps = slice(*(round(tick * len(found.lags_s) / len(reference)) for tick in (phrase.start, phrase.end)))
        lags = found.lags_s[steps][np.isfinite(found.lags_s[steps])]
        scores.append(_phrase(heard, part, phrase.start / TICK_RATE + float(np.median(lags))) if len(lags) else UNHEARD)
        lengths.append(len(part))
    return float(np.average(scores, weights=lengths))


def _phrase(heard: Samples, part: Samples, at_s: float) -> float:
    aligned = perceptual.align(
        heard, part, rate=TICK_RATE, earliest_s=max(0.0, at_s - REACH_S), latest_s=at_s + REACH_S
    ).samples
    try:
        return perceptual.pesq_wb(part, aligned, rate=TICK_RATE)
    except ValueError:
        return UNHEARD


def _lost(speech: list[list[float]], seconds: float) -> float | None:
    arrived = [here for at, here in speech if 0 <= at < seconds]
    return 1 - sum(arrived) / len(arrived) if arrived else None


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(float(value), digits)


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 1)
