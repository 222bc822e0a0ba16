"""Speech through Opus and back, without a network: one encoder and one decoder, whatever changes on the way."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..codec.opus import OpusDecoder, OpusEncoder
from ..control.plan import Rung
from ..ticks import TICK_RATE
from .voice import Samples


@dataclass(frozen=True, kw_only=True)
class RungChange:
    """Where one operating point follows another."""

    at: int
    """Tick of the decoded speech with which the new one begins."""
    before: Rung
    after: Rung


def through_opus(
    samples: Samples, rungs: Sequence[Rung], every: int | None = None
) -> tuple[Samples, tuple[RungChange, ...]]:
    """48 kHz samples encoded and decoded, as long as before and not later: the encoder's look-ahead is taken out.

    `rungs` take turns, each for `every` ticks rounded up to whole frames; None stays at the first. Raises ValueError
    for no rung, OpusError for one that Opus refuses.
    """
    if not rungs:
        raise ValueError("At least one rung is needed.")
    encoder, decoder = OpusEncoder(), OpusDecoder()
    late = encoder.lookahead
    decoded: list[Samples] = []
    changes: list[RungChange] = []
    at, rung = 0, rungs[0]
    while at < len(samples) + late:
        due = rungs[at // every % len(rungs)] if every else rungs[0]
        if due != rung:
            changes.append(RungChange(at=at - late, before=rung, after=due))
            rung = due
        encoder.configure(bitrate=rung.bitrate, bandwidth=rung.bandwidth)
        length = rung.frame_ms * TICK_RATE // 1000
        frame = samples[at : at + length]
        packet = encoder.encode(np.pad(frame, (0, length - len(frame))))
        decoded.append(decoder.decode(packet, length))
        at += length
    encoder.close()
    decoder.close()
    return np.concatenate(decoded)[late : late + len(samples)] if decoded else samples, tuple(changes)
