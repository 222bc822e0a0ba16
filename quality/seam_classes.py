"""Seams whose faults are known, made from speech, to judge the seam judge by.

`GOOD` classes are seams that nobody hears, `FAULTY` ones are heard, and `HIDDEN` ones are faults that a smooth fade
hides from `Seam.r`, which `Seam.lag_samples` must tell. Signals are 48 kHz, float32 `[n]`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adaptive.audio.resampling import resample
from adaptive.audio.seams import crossfade
from adaptive.ticks import TICK_RATE, to_ticks

from .seam_judge import Seam, judge_seam

Samples = NDArray[np.float32]

AROUND = to_ticks(0.15)
FADE = to_ticks(0.01)
FRAME = to_ticks(0.02)
HALF_MS = to_ticks(0.0005)
IMPULSE = 0.3
"""Of the loudest sample within 20 ms."""
NARROW_HZ = 16_000


@dataclass(frozen=True, kw_only=True)
class Switch:
    """What was heard around a switch, and both branches."""

    heard: Samples
    old: Samples
    new: Samples
    fade: int = 0
    lag: int = 0
    """By how much the branches are apart, in samples."""


@dataclass(frozen=True)
class Speech:
    """A voice's speech, and the same as other branches would have it."""

    samples: Samples
    narrow: Samples
    """With nothing above 8 kHz, as from a model of 16 kHz."""
    noisy: Samples
    """With noise 20 dB under it, as from a lower tier."""

    @classmethod
    def of(cls, samples: Samples) -> "Speech":
        narrow = resample(resample(samples, TICK_RATE, NARROW_HZ), NARROW_HZ, TICK_RATE)[: len(samples)]
        noise = np.random.default_rng(1).standard_normal(len(samples)) * 0.1
        level = np.sqrt(np.convolve(samples**2, np.ones(480) / 480, mode="same"))
        return cls(
            samples, np.pad(narrow, (0, len(samples) - len(narrow))), (samples + level * noise).astype(np.float32)
        )


Make = Callable[[Speech, int, np.random.Generator], Switch]


def active(samples: Samples) -> NDArray[np.int_]:
    """Places in speech, far enough from the ends to be judged."""
    level = np.sqrt(np.convolve(samples**2, np.ones(960) / 960, mode="same"))
    found = np.flatnonzero(level > level.max() * 10 ** (-30 / 20))
    return found[(found > 2 * AROUND) & (found < len(samples) - 2 * AROUND)]


def by_chance(samples: Samples, count: int, chance: np.random.Generator) -> list[int]:
    """Places anywhere in speech."""
    return [int(place) for place in chance.choice(active(samples), count, replace=False)]


def plosives(samples: Samples, count: int) -> list[int]:
    """The sharpest jumps that speech has by itself: where a good judge must hold its peace."""
    places = active(samples)
    found: list[int] = []
    for place in places[np.argsort(-np.abs(np.diff(samples, 2))[places - 1])]:
        if len(found) == count:
            break
        if all(abs(int(place) - other) > FADE for other in found):
            found.append(int(place))
    return found


def judged(switch: Switch, place: int) -> Seam:
    """The judge's word on a switch at `place`."""
    part = slice(place - AROUND, place + AROUND)
    signals = (signal[part] for signal in (switch.heard, switch.old, switch.new))
    return judge_seam(*signals, at=AROUND, fade=switch.fade, rate=TICK_RATE)


def untouched(speech: Speech, _place: int, _chance: np.random.Generator) -> Switch:
    return Switch(heard=speech.samples, old=speech.samples, new=speech.samples)


def crossfaded(speech: Speech, place: int, chance: np.random.Generator) -> Switch:
    """Aligned branches of another bandwidth or tier, equal gain."""
    new = speech.narrow if chance.random() < 0.5 else speech.noisy
    return Switch(heard=_faded(speech.samples, new, place), old=speech.samples, new=new, fade=FADE)


def phase_cut(speech: Speech, place: int, chance: np.random.Generator) -> Switch:
    """Cut to a branch 2 to 12 ms late, without a fade."""
    return _cut_late(speech.samples, speech.samples, place, int(chance.integers(to_ticks(0.002), to_ticks(0.012))))


def misaligned(speech: Speech, place: int, _chance: np.random.Generator) -> Switch:
    """Cut to a narrower branch half a millisecond late."""
    return _cut_late(speech.samples, speech.narrow, place, HALF_MS)


def dropped(speech: Speech, place: int, _chance: np.random.Generator) -> Switch:
    """A frame of 20 ms left out; what follows should have gone on from there."""
    new = np.concatenate([speech.samples[FRAME:], np.zeros(FRAME, np.float32)])
    return Switch(heard=_cut(speech.samples, new, place), old=speech.samples, new=new)


def impulse(speech: Speech, place: int, _chance: np.random.Generator) -> Switch:
    heard = speech.samples.copy()
    heard[place] += IMPULSE * np.abs(heard[place - FRAME : place + FRAME]).max()
    return Switch(heard=heard, old=speech.samples, new=speech.samples)


def faded_misaligned(speech: Speech, place: int, chance: np.random.Generator) -> Switch:
    """A proper fade between branches that are .5, 2 or 10 ms apart."""
    lag = int(chance.choice([HALF_MS, to_ticks(0.002), to_ticks(0.01)]))
    new = _late(speech.samples, lag)
    return Switch(heard=_faded(speech.samples, new, place), old=speech.samples, new=new, fade=FADE, lag=lag)


GOOD: dict[str, Make] = {"untouched": untouched, "plosives": untouched, "crossfades": crossfaded}
FAULTY: dict[str, Make] = {
    "phase cuts": phase_cut,
    "0.5 ms misalignments": misaligned,
    "dropped frames": dropped,
    "30 % impulses": impulse,
}
HIDDEN: dict[str, Make] = {"misaligned crossfades": faded_misaligned}


def _late(samples: Samples, lag: int) -> Samples:
    return np.concatenate([np.zeros(lag, np.float32), samples[:-lag]])


def _cut(old: Samples, new: Samples, place: int) -> Samples:
    return np.concatenate([old[:place], new[place:]])


def _cut_late(old: Samples, new: Samples, place: int, lag: int) -> Switch:
    new = _late(new, lag)
    return Switch(heard=_cut(old, new, place), old=old, new=new, lag=lag)


def _faded(old: Samples, new: Samples, place: int) -> Samples:
    end = place + FADE
    return np.concatenate([old[:place], crossfade(old[place:end], new[place:end]), new[end:]])
