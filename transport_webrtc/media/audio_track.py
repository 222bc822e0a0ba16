"""The audio track: speech as RTP, encoded one frame just before it leaves."""

import asyncio
import logging
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from aiortc import MediaStreamTrack
from aiortc.mediastreams import MediaStreamError
from av.packet import Packet

from adaptive.codec.opus import OpusEncoder, OpusError
from adaptive.codec.redundancy import FRAME_HEADER, RedundancyPacker
from adaptive.control.plan import Bandwidth, Plan, Protection, Rung
from adaptive.ticks import TICK_RATE

from .block import Block
from .grid import GRID, Grid
from .sending import Sending

IDLE_TICKS = 9_600
"""Between two packets while there is nothing to say, so that the path stays measured: 200 ms until a plan says how
often."""

STALL_S = 0.2
"""A track held up for longer than this leaves out what it is late for; below it, it catches up."""

COMPLEXITY = 4
"""Of the encoder, 0..10: encoding is most of what sending costs, and at 24 kb/s and more the rest brings little: at
32 kb/s PESQ-WB .02 and ViSQOL .004 for a third more time (measured: two voices, one sentence)."""
COMPLEXITY_LOW, LOW = 8, 20_000
"""The same below 20 kb/s, where a packet is seldom and it decides what is heard: at 12 kb/s PESQ-WB .2 to .8."""

_START = Rung(bitrate=24_000, bandwidth=Bandwidth.WB, frame_ms=20)
"""Holds until the first plan comes."""
_TICKS_PER_MS = TICK_RATE // 1000
_TIME_BASE = Fraction(1, TICK_RATE)
_SILENCE = np.zeros(GRID, np.float32)
_NOTHING = bytes([9 << 3])
"""A packet that holds 20 ms of nothing (RFC 6716 section 3.1: SILK, wideband, one frame, empty)."""
_DTX_BYTES = 2
"""Packets up to this size say that nothing need follow: receivers make comfort noise and count no loss (RFC 7587
section 3.1.3; libwebrtc modules/audio_coding/codecs/opus/opus_interface.cc)."""
_LOG_EVERY = 500

_log = logging.getLogger(__name__)


class OpusAudioTrack(MediaStreamTrack):
    """Sends what `source(ticks)` gives: a block of that many samples, or None while there is nothing to say.

    RTP time follows the clock (monotonic seconds) from the first packet on. While there is speech, timestamps step by
    exactly the length of a frame; otherwise a packet of silence leaves as often as the plan wants, and `wake` ends the
    waiting. A plan that wants silence as often as a frame gets it whole, which lets a receiver fill its buffer unheard.
    Where the listener takes RED, speech travels with the copies that the plan wants. Silence is never copied; what is
    sent of it right after speech carries that speech's last copies, and none points across a rest. One encoder serves
    for the track's whole life. `recv` raises nothing but MediaStreamError, after `stop`.
    """

    kind = "audio"

    def __init__(self, source: Callable[[int], Block | None], *, clock: Callable[[], float] | None = None) -> None:
        super().__init__()
        self.stats = Sending()
        self.watch: Callable[[int, bytes, bytes, Block | None], None] | None = None
        """Sees every packet before it leaves: its timestamp, its Opus frame, its payload, and what is in it."""
        self._source = source
        self._clock = clock or time.monotonic
        self._encoder = OpusEncoder()
        self._rung = _START
        self._protection = Protection()
        self._idle_ticks = IDLE_TICKS
        self._configured: tuple[Rung, Protection, bool] | None = None
        self._red: RedundancyPacker | None = None
        self._sounded: str | None = None
        """The utterance that the last frame of speech was of."""
        self._forgotten: str | None = None
        self._grid: Grid | None = None
        self._earliest = 0
        """Tick at which the next packet may begin."""
        self._resting = False
        """The last packet said that nothing need follow."""
        self._rest = _NOTHING
        """The last frame: another one that says so need not be encoded, and costs as much as one of speech."""
        self._woken = False
        self._waiter: asyncio.Future[None] | None = None

    @property
    def lookahead(self) -> int:
        """Ticks by which what a listener decodes lags behind what was encoded."""
        return self._encoder.lookahead

    def apply(self, plan: Plan) -> None:
        """The plan under which the next frame is encoded."""
        self._rung, self._protection = plan.rung, plan.protection
        self._idle_ticks = max(GRID, round(plan.idle_gap_s * TICK_RATE) // GRID * GRID)

    def use_red(self, opus: int) -> None:
        """Payloads are RED from now on, with blocks of that payload type (RFC 2198)."""
        self._red = RedundancyPacker(payload_type=opus)

    def forget(self, utterance: str) -> bool:
        """That utterance was cut off: if its frames were the last to leave, no copy leaves after this. Whether they
        were."""
        if utterance != self._sounded:
            return False
        self._forgotten = utterance
        self.forget_copies()
        return True

    def forget_copies(self) -> None:
        """No copy of what left until now leaves after this."""
        if self._red is not None:
            self._red.clear()

    def wake(self) -> None:
        """There may be speech: it leaves at the next place on the 20 ms grid."""
        self._woken = True
        if self._resting:
            self._release()

    def stop(self) -> None:
        """Ends the track; a `recv` that waits raises."""
        super().stop()
        self._release()
        self._encoder.close()

    async def recv(self) -> Packet:
        """The next packet, when it is due."""
        rested = self._resting
        tick, due = await self._turn()
        self._woken = False
        block = self._speech(self._rung.frame_ms * _TICKS_PER_MS)
        frame = self._rest if rested and block is None and self._idle_ticks > GRID else self._encode(block)
        length = GRID if block is None else len(block.samples)
        self._resting = block is None and len(frame) <= _DTX_BYTES
        self._rest = frame
        self._earliest = tick + length
        speech = block.utterance if block is not None and block.speech else None
        self._sounded = speech or self._sounded
        payload = frame if self._red is None else self._packed(self._red, frame, tick, speech)
        now = self._clock()
        copies = max(0, len(payload) - len(frame) - FRAME_HEADER)
        self.stats.sent(now, len(payload), copies=copies, speech=speech is not None, late_s=now - due)
        if self.watch is not None:
            self.watch(tick, frame, payload, block)
        packet = Packet(payload)
        packet.pts, packet.time_base = tick, _TIME_BASE
        return packet

    def _packed(self, red: RedundancyPacker, frame: bytes, tick: int, speech: str | None) -> bytes:
        """The payload for a frame, with the copies that the plan wants; `speech` is its utterance."""
        if self._resting:
            red.clear()
        again = speech is not None and speech != self._forgotten
        return red.pack(frame, timestamp=tick, distances=self._protection.copies, again=again)

    async def _turn(self) -> tuple[int, float]:
        """Waits until a packet is due; returns its timestamp and when it was due."""
        if self._grid is None:
            self._grid = Grid(self._clock())
        grid, tick = self._grid, self._earliest
        if self._resting:
            latest = tick - GRID + self._idle_ticks
            if not self._woken:
                await self._wait(grid.due(latest))
            tick = min(grid.first(tick, self._clock()), latest)
        self._resting = False
        await self._wait(grid.due(tick))
        behind = self._clock() - grid.due(tick)
        if behind > STALL_S:
            self.stats.stalls += 1
            due = grid.due(tick)
            return grid.last(tick, due + behind), due
        return tick, grid.due(tick)

    async def _wait(self, until: float) -> None:
        """Returns at `until`, or earlier when released. Raises MediaStreamError once the track has ended."""
        left = until - self._clock()
        if left > 0 and self.readyState == "live":
            loop = asyncio.get_running_loop()
            self._waiter = loop.create_future()
            timer = loop.call_later(left, self._release)
            try:
                await self._waiter
            finally:
                timer.cancel()
                self._waiter = None
        if self.readyState != "live":
            raise MediaStreamError

    def _release(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _speech(self, ticks: int) -> Block | None:
        """The next block; None as well where the source fails, whose error is logged and counted."""
        try:
            block = self._source(ticks)
            if block is not None and len(block.samples) != ticks:
                raise ValueError(f"the source gave {len(block.samples)} samples where {ticks} were asked for")
        except Exception:  # an error here would end the stream, which outlives any source
            if self.stats.source_errors % _LOG_EVERY == 0:
                _log.exception("the source of speech failed; silence is sent")
            self.stats.source_errors += 1
            return None
        return block

    def _encode(self, block: Block | None) -> bytes:
        """One frame under the present plan; what libopus refuses is logged, counted, and sent as nothing."""
        wanted = (self._rung, self._protection, block is None and self._idle_ticks > GRID)
        try:
            if wanted != self._configured:
                self._encoder.configure(
                    bitrate=self._rung.bitrate,
                    bandwidth=self._rung.bandwidth,
                    fec=self._protection.fec,
                    loss_hint=self._protection.loss_hint,
                    complexity=COMPLEXITY_LOW if self._rung.bitrate < LOW else COMPLEXITY,
                    dtx=wanted[2],
                )
                self._configured = wanted
            return self._encoder.encode(_SILENCE if block is None else block.samples)
        except OpusError:
            if self.stats.encoder_errors % _LOG_EVERY == 0:
                _log.exception("a frame could not be encoded; nothing is sent in its place")
            self.stats.encoder_errors += 1
            return _NOTHING
