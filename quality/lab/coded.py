"""Speech as a listener hears it through Opus, packets lost and repaired, without a network or time: for curves.

A copy at a distance of d frames travels in the packet d frames later (RED, RFC 2198), in-band FEC in the next one (RFC
6716 section 2.1.7). The listener is taken to wait long enough for all of them; what that costs in delay is the
distance times the frame.
"""

from collections.abc import Sequence

import numpy as np

from adaptive.codec.opus import OpusDecoder, OpusEncoder
from adaptive.control.plan import Protection, Rung
from adaptive.speech.voice import Samples
from adaptive.ticks import TICK_RATE

from .losses import Losses

NOTHING = Protection()
MOST_DRAWS = 1_000
LOOKAHEAD = 312
"""Ticks by which Opus hands sound out later than it took it (RFC 6716 section 2; `OpusEncoder.lookahead`)."""


def drops(count: int, *, loss: float, burst: float = 1.0, seed: int = 0, within: float = 1.0) -> list[bool]:
    """True for each of `count` packets that is lost: a share `loss` of them, in runs of `burst` on average.

    Chance has its way with short lists; the list is drawn again until its own share is `within` that much of `loss`
    (.005: half a point), so that curves of it compare bursts and not shares. Raises ValueError where it never is.
    """
    losses = Losses(f"{seed} coded")
    for _ in range(MOST_DRAWS):
        found = [losses.next(loss=loss, burst=burst) for _ in range(count)]
        if abs(sum(found) / count - loss) <= within:
            return found
    raise ValueError(f"No list of {count} packets has a share within {within:g} of {loss:g}.")


def left(lost: Sequence[bool], protection: Protection = NOTHING) -> list[bool]:
    """Which frames stay lost when every copy that arrived has been used; in-band FEC is not among them."""
    count = len(lost)
    return [
        gone and all(frame + distance >= count or lost[frame + distance] for distance in protection.copies)
        for frame, gone in enumerate(lost)
    ]


class Coded:
    """A clip as it is sent, encoded once, to be heard under any losses."""

    def __init__(self, speech: Samples, rung: Rung, *, protection: Protection = NOTHING) -> None:
        """`speech` is float32 `[n]`, 48 kHz."""
        self._protection, self._count = protection, len(speech)
        self._length = rung.frame_ms * TICK_RATE // 1000
        self.packets = -(-(len(speech) + LOOKAHEAD) // self._length)
        """How many are sent."""
        padded = np.pad(speech, (0, self.packets * self._length - len(speech)))
        encoder = OpusEncoder()
        encoder.configure(
            bitrate=rung.bitrate, bandwidth=rung.bandwidth, fec=protection.fec, loss_hint=protection.loss_hint
        )
        self._sent = [encoder.encode(frame) for frame in padded.reshape(self.packets, self._length)]
        encoder.close()

    def heard(self, lost: Sequence[bool] = ()) -> Samples:
        """What is heard, as long as what was said and aligned with it. `lost` says for each packet whether it never
        came, repeated as often as needed; empty: all came. What stays lost the decoder conceals."""
        gone = [bool(lost) and lost[frame % len(lost)] for frame in range(self.packets)]
        decoder, out = OpusDecoder(), []
        for frame, missing in enumerate(left(gone, self._protection)):
            following = frame + 1 < self.packets and not gone[frame + 1]
            if missing and self._protection.fec and following:
                out.append(decoder.decode_fec(self._sent[frame + 1], self._length))
            else:
                out.append(decoder.decode(None if missing else self._sent[frame], self._length))
        decoder.close()
        return np.concatenate(out)[LOOKAHEAD : LOOKAHEAD + self._count]
