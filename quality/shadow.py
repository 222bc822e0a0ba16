"""What a listener must have heard: the packets that were sent, less those lost or late, decoded as a receiver would.

A shadow is of one stretch of speech whose packets' fates are known. It works in slices, as whoever owns it finds time.
What a receiver does beyond the decoder, stretching and fading, is not in it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from adaptive.codec.opus import OpusDecoder
from adaptive.codec.toc import describe
from adaptive.control.fates import Fate
from adaptive.ticks import TICK_RATE, to_seconds, to_ticks

from .estimate import Compared, Comparison, Samples
from .scale import Scale, Summary, calibrated, summary

WARM = to_ticks(0.2)
"""Ticks decoded and not judged, until a decoder that begins in mid-speech is where the listener's was."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Frame:
    """A frame of speech as it was sent."""

    timestamp: int
    """RTP time of its first sample."""
    samples: Samples
    """What was encoded, 48 kHz."""
    packet: bytes
    """The Opus packet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Carried:
    """A packet on the wire."""

    timestamp: int
    """Of its own frame."""
    copies: tuple[int, ...] = ()
    """Of earlier frames that were in it."""
    fate: Fate


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a stretch of speech was worth to who heard it."""

    opinion: float
    """1..4.5, G.107.2; delay is not in it."""
    distance_db: float
    """Of the median frame's spectrum: coding and bandwidth."""
    damage: float
    """Share of the speech that was damaged."""
    missing: float
    """Share of the frames that were not there in time, neither themselves nor a copy."""
    seconds: float
    """Of speech that was compared."""


def waits(carried: Iterable[Carried]) -> dict[int, float]:
    """By timestamp, how long a frame has to be waited for after it was due on the fastest way, s; what never came is
    not in it. A packet of unknown fate counts as having come."""
    found: dict[int, float] = {}
    for packet in carried:
        if packet.fate.known and packet.fate.delay_s is None:
            continue
        for timestamp in (packet.timestamp, *packet.copies):
            wait_s = to_seconds(packet.timestamp - timestamp) + (packet.fate.delay_s or 0.0)
            found[timestamp] = min(wait_s, found.get(timestamp, wait_s))
    return found


class ShadowDecoder:
    """Decodes a stretch of speech as it was heard, and compares it with what was said."""

    def __init__(
        self,
        frames: Sequence[Frame],
        carried: Sequence[Carried],
        *,
        allowance_s: float,
        lookahead: int,
        scale: Scale | None = None,
    ) -> None:
        """`frames` without gaps, and the packets that held them or copies of them. `allowance_s` is how long the
        listener waits for a frame after it was due on the fastest way, `lookahead` the encoder's, in ticks."""
        self._frames = frames
        self._allowance_s = allowance_s
        self._waits = waits(carried)
        own = (packet for packet in carried if not packet.fate.known or packet.fate.delay_s is not None)
        self._own = {packet.timestamp: packet.fate.delay_s or 0.0 for packet in own}
        self._scale = scale or calibrated()
        self._decoder = OpusDecoder()
        self._comparison = Comparison()
        self._pieces: list[Compared] = []
        self._behind = np.zeros(lookahead, np.float32)
        """Of what was said, what is yet to come out of the decoder."""
        self._next = 0
        self._decoded = 0
        """Ticks so far."""
        self._lost: list[tuple[int, int]] = []
        """What was made up, in ticks of what is compared."""

    def work(self, ticks: int) -> bool:
        """Decodes that much more, in whole frames; False once all of it is."""
        until = self._decoded + ticks
        heard, said = [], [self._behind]
        while self._decoded < until and self._next < len(self._frames):
            frame = self._frames[self._next]
            said.append(frame.samples)
            heard.append(self._heard(frame, self._decoded - WARM))
            self._decoded += len(frame.samples)
            self._next += 1
        self._compare(np.concatenate(said), np.concatenate(heard))
        if self._next < len(self._frames):
            return True
        self._decoder.close()
        return False

    def summary(self) -> Summary | None:
        """How far what was decoded is from what was said; None where there was too little speech in it."""
        return summary(self._pieces, self._lost)

    def estimate(self) -> Estimate | None:
        """Of all that was decoded; None where there was too little speech in it."""
        found = self.summary()
        if found is None:
            return None
        return Estimate(
            opinion=self._scale.opinion(found),
            distance_db=found.distance_db,
            damage=found.damage,
            missing=len(self._lost) / self._next,
            seconds=max(0, self._decoded - WARM) / TICK_RATE,
        )

    def _compare(self, said: Samples, heard: Samples) -> None:
        """Of what was said the end is left over until it is heard."""
        self._behind = said[len(heard) :]
        skipped = min(len(heard), max(0, WARM - (self._decoded - len(heard))))
        self._pieces.append(self._comparison.push(said[skipped : len(heard)], heard[skipped:]))

    def _heard(self, frame: Frame, at: int) -> Samples:
        """The frame as it was heard, `at` ticks of what is compared."""
        length = len(frame.samples)
        if self._in_time(self._waits.get(frame.timestamp)):
            return self._decoder.decode(frame.packet, length)
        self._lost.append((at, at + length))
        after = self._frames[self._next + 1] if self._next + 1 < len(self._frames) else None
        if after is not None and after.timestamp in self._own and describe(after.packet).fec:
            wait_s = to_seconds(after.timestamp - frame.timestamp) + self._own[after.timestamp]
            if self._in_time(wait_s):
                return self._decoder.decode_fec(after.packet, length)
        return self._decoder.decode(None, length)

    def _in_time(self, wait_s: float | None) -> bool:
        return wait_s is not None and wait_s <= self._allowance_s
