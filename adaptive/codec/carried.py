"""What the data track carries: one listener's speech as frames of any format, changed at any frame border.

Every format speaks of the same instants. Opus hands out a sample 312 ticks after it went in, so it is given its samples
so much earlier; the filters of lower rates reach as far ahead. Made speech has that look-ahead for free.
"""

from dataclasses import dataclass, field

import numpy as np

from adaptive.audio.seams import crossfade
from adaptive.control.plan import Bandwidth, Codec, Format
from adaptive.delivery.frames import Frame

from .opus import OpusDecoder, OpusEncoder
from .pcm import REACH, Samples, band_limited, decimated, to_pcm16, to_ulaw

PREFILL_TICKS = 960
"""20 ms before its first frame that a new encoder hears: without them the first 6 ms would be built up from nothing."""
LOOK_AHEAD = 2 * REACH
"""Ticks behind a frame that must be there before it is made."""
RECENT = 10
"""Packets after which a decoder that begins with them sounds as one that had all of them."""
MOST_TICKS = 5760
"""The longest Opus packet, 120 ms (RFC 6716 section 3.2.5)."""
PCM_TICKS = 480
"""10 ms."""
SEAM_TICKS = 480
"""Over which one band fades into another."""
OPUS_UNIT = 960
"""The shortest frame of Opus used."""
_BEFORE = PREFILL_TICKS + REACH
"""Ticks kept before the next frame, and enough for all that looks back."""
_WIDEST = {
    8_000: Bandwidth.NB,
    12_000: Bandwidth.MB,
    16_000: Bandwidth.WB,
    24_000: Bandwidth.SWB,
    48_000: Bandwidth.FB,
}
_ORDER = tuple(_WIDEST.values())


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How the next frames are made."""

    format: Format = field(default_factory=Format)
    """For Opus the rate limits the bandwidth; the samples that enter it have 48 kHz always."""
    bitrate: int = 32_000
    """bit/s, for Opus."""
    bandwidth: Bandwidth = Bandwidth.FB
    """For Opus."""
    ticks: int = 960
    """Of a frame of Opus: 960, 1920 or 2880. Other frames have 10 ms."""

    @property
    def frame(self) -> int:
        """Ticks of a frame."""
        return self.ticks if self.format.codec is Codec.OPUS else PCM_TICKS


class CarriedEncoder:
    """48 kHz float32 blocks of any length to frames, one utterance after another; no sample is left out.

    A frame comes when it and `LOOK_AHEAD` ticks after it are there, or the end. Where a change of format narrows the
    band, one more frame of the old format fades into the narrower band, and then the new format begins; where it widens
    the band, the new format begins in the old band and fades out of it.

    Codecs differ in what they make of a sample. What follows Opus begins with what Opus would have made of it, and
    fades out of that. The first packet of Opus after another codec is 20 ms longer than its frame, and begins so much
    earlier: a decoder has run in where the frame begins, and can fade into it.
    """

    def __init__(self, setting: Setting, *, complexity: int | None = None) -> None:
        """`complexity` of Opus, 0..10; None is libopus's own."""
        self._setting = self._wanted = setting
        self._complexity = complexity
        self._opus: OpusEncoder | None = None
        self._configured: Setting | None = None
        """What it was told last."""
        self.restart(np.zeros(0, np.float32), utterance=0, position=0)

    def set(self, setting: Setting) -> None:
        """Takes effect at the next frame border that allows it."""
        if setting != self._wanted:
            self._wanted = setting

    def restart(self, previous: Samples, *, utterance: int, position: int) -> None:
        """The next block begins at `position` of `utterance`; `previous` is what sounds before it, as far as known."""
        self._utterance, self._position = utterance, position
        before = previous[-_BEFORE:]
        self._held = np.zeros(_BEFORE, np.float32)
        self._held[_BEFORE - len(before) :] = before
        self._setting = self._wanted
        self._run_in = 0
        """Ticks by which the next packet of Opus begins before its frame."""
        self._recent: list[bytes] = []
        """Packets of Opus that a listener decoded last."""
        self._fading: Samples | None = None
        """What the next samples fade out of, at their rate."""
        self._seam = position - SEAM_TICKS, self._setting.format.rate, self._setting.format.rate
        """Where one band begins to fade into another, and both as rates."""
        self._close()

    def push(self, samples: Samples) -> list[Frame]:
        """The next `[n]` samples; returns the frames that are complete."""
        self._held = np.concatenate([self._held, np.asarray(samples, np.float32)])
        frames = []
        while self._ready >= self._setting.frame + LOOK_AHEAD:
            if self._change():
                continue
            frames.append(self._frame(self._setting.frame, last=False))
        return frames

    def finish(self) -> list[Frame]:
        """The rest of the utterance; its last frame is filled up with silence. Nothing, where nothing was pushed."""
        left = self._ready
        self._held = np.concatenate([self._held, np.zeros(self._setting.frame + OPUS_UNIT + LOOK_AHEAD, np.float32)])
        frames = []
        while left > 0:
            unit = OPUS_UNIT if self._setting.format.codec is Codec.OPUS else PCM_TICKS
            ticks = min(self._setting.frame, -(-left // unit) * unit)
            left -= ticks
            frames.append(self._frame(ticks, last=left <= 0))
        return frames

    def close(self) -> None:
        """Frees the encoder; safe to repeat."""
        self._close()

    @property
    def _ready(self) -> int:
        """Ticks from the next frame's beginning on."""
        return len(self._held) - _BEFORE

    def _change(self) -> bool:
        """Begins what is wanted, if that is possible here; False where a frame has to be made first."""
        old, new = self._setting, self._wanted
        band, asked = self._seam[2], new.format.rate
        if band == asked and (old is new or old == new):
            return False
        if asked < band:
            self._seam = self._position + old.frame - SEAM_TICKS, band, asked
            return False
        if asked > band:
            self._seam = self._position, band, asked
        if new.format.codec is not old.format.codec:
            self._fading, self._recent = self._opus_going_on(asked), []
            self._close()
            self._run_in = OPUS_UNIT if new.format.codec is Codec.OPUS else 0
        self._setting = new
        return True

    def _frame(self, ticks: int, *, last: bool) -> Frame:
        setting, start = self._setting, self._position
        match setting.format.codec:
            case Codec.OPUS:
                opus, first = self._encoder(), start - self._run_in
                payload = opus.encode(self._signal(first + REACH, start + ticks + REACH))
                self._recent, self._run_in = [*self._recent[-RECENT:], payload], 0
            case Codec.PCM16:
                payload = to_pcm16(self._faded_in(self._decimated(start, start + ticks)))
            case Codec.ULAW:
                payload = to_ulaw(self._faded_in(self._decimated(start, start + ticks)))
        frame = Frame(self._utterance, start, ticks, setting.format, payload, last)
        self._held = self._held[ticks:]
        self._position += ticks
        return frame

    def _encoder(self) -> OpusEncoder:
        """Configured as is wanted; a new one has heard what comes before."""
        setting = self._setting
        if self._opus is not None and self._configured is setting:
            return self._opus
        new = self._opus is None
        opus = self._opus or OpusEncoder()
        widest = _ORDER.index(_WIDEST[setting.format.rate])
        opus.configure(
            bitrate=setting.bitrate,
            bandwidth=_ORDER[min(widest, _ORDER.index(setting.bandwidth))],
            complexity=self._complexity,
        )
        if new and not self._run_in:
            opus.encode(self._signal(self._position + REACH - PREFILL_TICKS, self._position + REACH))
        self._opus = opus
        self._configured = setting
        return opus

    def _opus_going_on(self, rate: int) -> Samples | None:
        """What a listener's decoder of Opus would make of the next 10 ms, at that rate; None after another codec."""
        if self._opus is None or not self._recent:
            return None
        following = self._opus.encode(self._signal(self._position + REACH, self._position + OPUS_UNIT + REACH))
        decoder = OpusDecoder()
        try:
            decoded = np.concatenate([decoder.decode(payload, MOST_TICKS) for payload in (*self._recent, following)])
        finally:
            decoder.close()
        return decimated(decoded[-OPUS_UNIT - REACH : SEAM_TICKS + REACH - OPUS_UNIT], rate)

    def _faded_in(self, samples: Samples) -> Samples:
        """What came out of Opus goes over into what does not, as a listener hears it."""
        fading, self._fading = self._fading, None
        if fading is None:
            return samples
        return np.concatenate([crossfade(fading, samples[: len(fading)]), samples[len(fading) :]])

    def _decimated(self, start: int, end: int) -> Samples:
        """The stretch at the format's rate."""
        rate = self._setting.format.rate
        if self._seam[0] + SEAM_TICKS <= start or self._seam[0] >= end:
            return decimated(self._around(start, end), rate)
        return self._signal(start, end)[:: 48_000 // rate]

    def _signal(self, start: int, end: int) -> Samples:
        """What is to be heard of a stretch, at 48 kHz: the samples, in the band that a seam asks for."""
        at, old, new = self._seam
        fades = at + SEAM_TICKS
        if start >= fades and self._setting.format.codec is Codec.OPUS and new == self._setting.format.rate:
            return self._around(start, end)[REACH : REACH + end - start]
        parts = []
        for first, until, rate in ((start, min(end, at), old), (max(start, fades), end, new)):
            parts.append(band_limited(self._around(first, until), rate) if first < until else _NOTHING)
        low, high = max(start, at), min(end, fades)
        if low >= high:
            return np.concatenate(parts)
        around = self._around(at, fades)
        seam = crossfade(band_limited(around, old), band_limited(around, new))[low - at : high - at]
        return np.concatenate([parts[0], seam, parts[1]])

    def _around(self, start: int, end: int) -> Samples:
        """The samples of a stretch with what its filters need on each side; silence where nothing is known."""
        origin = self._position - _BEFORE
        first, until = start - REACH - origin, end + REACH - origin
        if first >= 0 and until <= len(self._held):
            return self._held[first:until]
        inside = self._held[max(0, first) : max(0, until)]
        return np.pad(inside, (max(0, -first), max(0, until - max(len(self._held), 0))))

    def _close(self) -> None:
        if self._opus is not None:
            self._opus.close()
            self._opus = None


_NOTHING: Samples = np.zeros(0, np.float32)
