"""What is still lost after repair, on a Gilbert channel, for a listener that waits so and so long.

A copy counts where it comes in time, a retransmission where there is time to ask. Both fail together where one long
burst takes the packet and its repair; what is sent again is lost again as any packet is.
"""

from .loss import Gilbert
from .plan import Protection

MARGIN_S = 0.010
"""Of waiting beyond the frames, before a copy counts as in time: 20 · (d + 1) + 10 ms at 20 ms (measured in
Chromium)."""
ASKED_S = 0.1
"""Chromium asks again every 100 ms, and only for what is to be played no sooner (libwebrtc
modules/audio_coding/neteq/nack_tracker.cc, `default_rtt_ms`; a receiver that sends nothing knows no round trip)."""
MOST_TRIES = 2
"""More sendings of one packet are not counted on."""
LBRR_DISTANCE = 1
LBRR_SHARE = 0.9
"""In-band FEC is a copy one frame back, which libopus leaves out for frames that are easily concealed: behind 32 kb/s
with it 1.8 % of the sound is made up at 10 % random loss (measured in Chromium)."""


def copy_wait_s(distance: int, frame_ms: int) -> float:
    """How long a listener must hold speech for a copy `distance` frames back to be in time."""
    return (distance + 1) * frame_ms / 1000 + MARGIN_S


def again_wait_s(tries: int, frame_ms: int, rtt_s: float) -> float:
    """The same for a retransmission asked for `tries` times: what is lost is missed when the next packet comes."""
    return frame_ms / 1000 + MARGIN_S + tries * max(ASKED_S, rtt_s)


def residual(
    protection: Protection,
    *,
    loss: Gilbert,
    frame_ms: int,
    playout_delay_s: float,
    rtt_s: float | None,
    jitter_s: float = 0.0,
) -> Gilbert:
    """What is left of `loss`. `jitter_s` is how late packets come without being lost; it is part of the delay.

    A round trip that is not known makes retransmissions count for nothing.
    """
    if loss.share <= 0:
        return loss
    waits = playout_delay_s - jitter_s + 1e-9
    distances = [d for d in sorted(protection.copies) if copy_wait_s(d, frame_ms) <= waits]
    lbrr = protection.fec and copy_wait_s(LBRR_DISTANCE, frame_ms) <= waits
    if lbrr:
        distances = sorted({LBRR_DISTANCE, *distances})
    tries, spare = 0, 0.0
    if protection.nack and rtt_s is not None:
        tries = sum(again_wait_s(n, frame_ms, rtt_s) <= waits for n in range(1, MOST_TRIES + 1))
        spare = (waits - again_wait_s(1, frame_ms, rtt_s)) * 1000 / frame_ms
    share = loss.share * _fail(loss, distances, tries, spare)
    if lbrr and not protection.copies:
        share = loss.share - LBRR_SHARE * (loss.share - share)
    return Gilbert(share=min(1.0, share), burst=loss.burst)


def _fail(loss: Gilbert, distances: list[int], tries: int, spare: float) -> float:
    """Probability that all repair fails, the packet being lost. `spare`: frames that a burst may go on before it is
    too late to ask.

    Where the copies fail, one burst may have lasted to the last of them; then there is less time left to ask.
    """
    p, r = loss.share, loss.memory
    in_burst = independent = 1.0
    before = 0
    for distance in distances:
        step = r ** (distance - before)
        independent *= p + (1 - p) * step
        in_burst *= step
        before = distance
    if not tries:
        return independent
    again = p**tries
    stays = 1 - 1 / max(1.0, loss.burst)

    def unasked(frames: float) -> float:
        return stays ** max(0.0, frames) if stays > 0 else float(frames <= 0)

    late, later = unasked(spare), unasked(spare - before)
    apart, together = max(0.0, independent - in_burst), in_burst
    if not distances:
        return again + (1 - again) * late
    return apart * (again + (1 - again) * late) + together * (again + (1 - again) * later)
