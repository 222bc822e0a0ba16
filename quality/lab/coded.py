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
LOOKAHEAD = 312
"""Ticks by which Opus hands sound out later than it took it (RFC 6716 section 2; `OpusEncoder.lookahead`)."""


def drops(count: int, *, loss: float, burst: float = 1.0, seed: int = 0) -> list[bool]:
    """True for each of `count` packets that is lost: a share `loss` of them, in runs of `burst` on average."""
    losses = Losses(f"{seed} coded")
    return [losses.next(loss=loss, burst=burst) for _ in range(count)]


def left(lost: Sequence[bool], protection: Protection = NOTHING) -> list[bool]:
    """Which frames stay lost when every copy that arrived has been used; in-band FEC is not among them."""
    count = len(lost)
    return [
        gone and all(frame + distance >= count or lost[frame + distance] for distance in protection.copies)
        for frame, gone in enumerate(lost)
    ]


def packets(speech: Samples, rung: Rung) -> int:
    """How many `heard` sends."""
    return -(-(len(speech) + LOOKAHEAD) // (rung.frame_ms * TICK_RATE // 1000))


def heard(speech: Samples, rung: Rung, *, lost: Sequence[bool] = (), protection: Protection = NOTHING) -> Samples:
    """What is heard of `speech` (float32 `[n]`, 48 kHz), as long as it and aligned with it.

    `lost` says for each packet whether it never came, repeated as often as needed; empty: all came. What stays lost is
    concealed by the decoder.
    """
    length = rung.frame_ms * TICK_RATE // 1000
    count = packets(speech, rung)
    padded = np.pad(speech, (0, count * length - len(speech)))
    encoder, decoder = OpusEncoder(), OpusDecoder()
    encoder.configure(
        bitrate=rung.bitrate, bandwidth=rung.bandwidth, fec=protection.fec, loss_hint=protection.loss_hint
    )
    sent = [encoder.encode(padded[frame * length : (frame + 1) * length]) for frame in range(count)]
    gone = [bool(lost) and lost[frame % len(lost)] for frame in range(count)]
    missing = left(gone, protection)
    out = []
    for frame in range(count):
        if not missing[frame]:
            out.append(decoder.decode(sent[frame], length))
        elif protection.fec and frame + 1 < count and not gone[frame + 1]:
            out.append(decoder.decode_fec(sent[frame + 1], length))
        else:
            out.append(decoder.decode(None, length))
    late = encoder.lookahead
    encoder.close()
    decoder.close()
    return np.concatenate(out)[late : late + len(speech)]
