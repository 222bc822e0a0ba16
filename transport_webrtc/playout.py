"""A receiver's playout: packets in when they come, samples out on the wall clock. Pure: time is an argument.

It does what a browser's jitter buffer does, plainly: holds speech for a delay that jitter sets, repairs a lost packet
from the copy inside the next one, conceals it otherwise, waits in silence for what is late and plays it then, and goes
back to its delay where nobody hears it: in a pause of the packets, or by a quiet frame more or less.
"""

import math
import statistics
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from adaptive.codec import OpusDecoder, OpusError, describe
from adaptive.speech.voice import Samples
from adaptive.ticks import TICK_RATE, to_ticks

from .receive_counters import Extender, ReceiveCounters

STEP = TICK_RATE // 100
"""Ticks decided at once where nothing is to be decoded."""
TRANSIT_S = 2.0
"""How long the transit times are remembered by which the delay is chosen."""
SLACK_S = 0.06
"""In quiet speech a delay this far from the wanted one is mended."""
QUIET = 10 ** (-55 / 20)
"""Root mean square below which a frame may be left out or waited for."""
MOST_TICKS = TICK_RATE * 120 // 1000
"""The longest Opus packet (RFC 6716 section 3.2.5)."""


@dataclass(frozen=True, kw_only=True)
class Gap:
    """A run of samples that came out of no packet."""

    at: float
    """Seconds on the clock given, of its first sample."""
    ticks: int
    lost: int
    """Those of them that stand for lost packets."""
    late: int
    """Those of them in which the next packet was waited for. What is neither was a pause of the sender."""

    @property
    def end(self) -> float:
        """Seconds on the clock given."""
        return self.at + self.ticks / TICK_RATE


@dataclass(frozen=True, slots=True)
class _Packet:
    arrived: float
    sequence: int
    timestamp: int
    payload: bytes


@dataclass
class Playout:
    """Opus packets of one sender, one stream at a time. `start` is the time of the first sample that comes out."""

    start: float
    delay_s: float = 0.06
    """Wanted between the arrival of a packet and its playing; jitter may make it longer."""
    counters: ReceiveCounters = field(default_factory=ReceiveCounters)
    gaps: list[Gap] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._decoder = OpusDecoder()
        self._sequences, self._timestamps = Extender(16), Extender(32)
        self._buffer: dict[int, _Packet] = {}
        self._transits: deque[tuple[float, float]] = deque()
        self._next_sequence: int | None = None
        self._next_timestamp = 0
        self._frame_ticks = STEP * 2
        self._out = 0
        self._gap_from = 0
        """Where in what came out the samples of the last packet end."""
        self._filled = 0
        """Ticks of the sender's time that passed since then; a pause made longer or shorter counts as it was sent."""
        self._repaired = 0
        """Ticks since then that came out of copies."""

    @property
    def now(self) -> float:
        """The time of the next sample that comes out."""
        return self.start + self._out / TICK_RATE

    def arrived(self, now: float, sequence: int, timestamp: int, payload: bytes) -> None:
        """An RTP packet: sequence number of 16, timestamp of 32 bits, and what it carries."""
        packet = _Packet(now, self._sequences.extend(sequence), self._timestamps.extend(timestamp), payload)
        self.counters.arrived(now, packet.sequence, packet.timestamp, len(payload))
        self._transits.append((now, now - packet.timestamp / TICK_RATE))
        while self._transits[0][0] < now - TRANSIT_S:
            self._transits.popleft()
        if self._next_sequence is None:
            self._next_sequence = packet.sequence
            self._next_timestamp = packet.timestamp - to_ticks(self.delay_s)
        if packet.sequence < self._next_sequence or packet.sequence in self._buffer or not payload:
            self.counters.discarded += 1
        else:
            self._buffer[packet.sequence] = packet

    def play(self, until: float) -> Samples:
        """Everything that comes out up to `until`, float32 48 kHz, one sample a tick of the clock."""
        blocks = []
        while (wanted := to_ticks(until - self.start) - self._out) > 0:
            block = self._next_block(min(STEP, wanted))
            if self._next_sequence is not None:
                self.counters.total += len(block)
            self._out += len(block)
            blocks.append(block)
        return np.concatenate(blocks) if blocks else np.zeros(0, np.float32)

    def restart(self) -> None:
        """The sender goes on with another stream, as over another connection; what is left of this one is dropped."""
        self._sequences, self._timestamps = Extender(16), Extender(32)
        self._buffer.clear()
        self._transits.clear()
        self._next_sequence = None
        self.counters.restart()

    def close(self) -> None:
        """Frees the decoder."""
        self._decoder.close()

    def _next_block(self, most: int) -> Samples:
        packet = self._buffer[min(self._buffer)] if self._buffer else None
        if packet is None or self._next_sequence is None:
            return self._fill(np.zeros(most, np.float32))
        missing = packet.sequence - self._next_sequence
        span = max(0, packet.timestamp - self._next_timestamp)
        if not missing and span:
            self._return_to_delay(packet, span)
        if self._filled >= span:
            return self._decode(packet, missing, span)
        rest = span - self._filled
        if missing and rest <= self._frame_ticks and _has_copy(packet.payload):
            self._repaired += rest
            return self._fill(self._decoder.decode_fec(packet.payload, self._frame_ticks)[-rest:])
        if missing and self._filled < missing * self._frame_ticks:
            return self._fill(self._decoder.decode(None, STEP)[: min(rest, most)])
        return self._fill(np.zeros(min(rest, most), np.float32))

    def _fill(self, samples: Samples) -> Samples:
        self._filled += len(samples)
        return samples

    def _decode(self, packet: _Packet, missing: int, span: int) -> Samples:
        """Plays a packet whose time has come; what filled the time until then is now known for what it was."""
        late = self._filled - span
        lost = max(0, min(self._filled, span, missing * self._frame_ticks) - self._repaired)
        if ticks := self._out - self._gap_from - self._repaired:
            self.gaps.append(Gap(at=self.start + self._gap_from / TICK_RATE, ticks=ticks, lost=lost, late=late))
        self.counters.made_up(lost + late, repaired=self._repaired)
        self._filled = self._repaired = 0
        del self._buffer[packet.sequence]
        self._next_sequence = packet.sequence + 1
        try:
            samples = self._decoder.decode(packet.payload, MOST_TICKS)
        except OpusError:
            self.counters.discarded += 1
            samples = self._decoder.decode(None, self._frame_ticks)
        self._frame_ticks = len(samples)
        self._next_timestamp = packet.timestamp + len(samples)
        if float(np.sqrt(np.mean(samples**2))) < QUIET:
            samples = self._nearer_to_delay(packet, samples)
        self._gap_from = self._out + len(samples)
        self.counters.played(len(samples), max(0.0, self.now - packet.arrived))
        return samples

    def _nearer_to_delay(self, packet: _Packet, quiet: Samples) -> Samples:
        """A quiet frame, left out where speech is held for too long, or with silence before it where for too short."""
        short = self._due(packet) - self.now
        if -short > SLACK_S:
            self.counters.skipped += len(quiet)
            return quiet[:0]
        if short > SLACK_S:
            return np.concatenate((np.zeros(to_ticks(short), np.float32), quiet))
        return quiet

    def _return_to_delay(self, packet: _Packet, span: int) -> None:
        """In a pause of the packets: makes it longer or shorter, so that `packet` plays after the wanted delay."""
        planned = self.now + (span - self._filled) / TICK_RATE
        self._filled = min(span, self._filled + to_ticks(planned - self._due(packet)))

    def _due(self, packet: _Packet) -> float:
        """When it would play after its usual way here and the wanted delay."""
        usual = statistics.median(transit for _, transit in self._transits)
        return usual + packet.timestamp / TICK_RATE + self._wanted_s()

    def _wanted_s(self) -> float:
        """The delay asked for, or what jitter needs where that is more."""
        transits = sorted(transit for _, transit in self._transits)
        high = transits[math.ceil(0.95 * len(transits)) - 1]
        return max(self.delay_s, high - statistics.median(transits) + 0.02)


def _has_copy(payload: bytes) -> bool:
    """Whether a packet carries a copy of the one before it."""
    try:
        return describe(payload).fec
    except ValueError:
        return False
