"""The shadow against what a receiver that got the same packets decodes."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pytest

from adaptive.codec.opus import OpusDecoder, OpusEncoder
from adaptive.control.fates import Fate
from adaptive.control.plan import Bandwidth
from quality.estimate import Comparison, Samples
from quality.lab.losses import Losses
from quality.scale import calibrated, summary
from quality.shadow import WARM, Carried, Estimate, Frame, ShadowDecoder, waits

FRAME = 960
CAME, LOST, UNKNOWN = Fate(known=True, delay_s=0.0), Fate(known=True), Fate(known=False)
BEGINS = 40
"""Frames that the listener heard before the shadow begins."""


def packet(timestamp: int, fate: Fate = CAME, copies: tuple[int, ...] = ()) -> Carried:
    return Carried(timestamp=timestamp, copies=copies, fate=fate)


def test_a_frame_waits_for_the_first_way_on_which_it_comes() -> None:
    late = Fate(known=True, delay_s=0.05)
    assert waits([packet(0), packet(960, late), packet(1920, LOST), packet(2880, UNKNOWN)]) == {
        0: 0,
        960: 0.05,
        2880: 0,
    }
    copied = [packet(0, LOST), packet(960, LOST), packet(2880, CAME, (0,)), packet(5760, late, (960, 0))]
    assert waits(copied) == {0: 0.06, 960: pytest.approx(0.15), 2880: 0, 5760: 0.05}
    again = Fate(known=True, delay_s=0.13)
    assert waits([packet(0, again)]) == {0: 0.13}, "sent again, it came so late"


@lru_cache(maxsize=1)
def said() -> Samples:
    import adaptive

    text = "She had your dark suit in greasy wash water all year, and nobody in the office ever asked her why."
    return adaptive.render(text, voice="heart", seed=1).samples


@lru_cache(maxsize=8)
def frames(bitrate: int = 32_000, bandwidth: str = "FB", fec: bool = False) -> tuple[Frame, ...]:
    encoder, speech = OpusEncoder(), said()
    encoder.configure(bitrate=bitrate, bandwidth=Bandwidth(bandwidth), fec=fec, loss_hint=20 if fec else 0)
    starts = range(0, len(speech) - FRAME + 1, FRAME)
    return tuple(
        Frame(timestamp=at, samples=speech[at : at + FRAME], packet=encoder.encode(speech[at : at + FRAME]))
        for at in starts
    )


LOOKAHEAD = 312
"""Of Opus at 48 kHz, which `test_opus` holds."""


def drops(loss: float, count: int, *, burst: float = 1.0) -> list[bool]:
    losses = Losses("a shadow")
    return [losses.next(loss=loss, burst=burst, loss_list=()) for _ in range(count)]


def shadowed(
    sent: Sequence[Frame], dropped: Sequence[bool], *, distances: tuple[int, ...] = (), allowance_s: float = 0.1
) -> Estimate:
    """The estimate from frame `BEGINS` on."""
    carried = [
        packet(frame.timestamp, LOST if lost else CAME, tuple(frame.timestamp - d * FRAME for d in distances))
        for frame, lost in zip(sent, dropped, strict=True)
    ]
    shadow = ShadowDecoder(sent[BEGINS:], carried[BEGINS:], allowance_s=allowance_s, lookahead=LOOKAHEAD)
    while shadow.work(9_600):
        pass
    estimate = shadow.estimate()
    assert estimate is not None
    return estimate


def received(sent: Sequence[Frame], dropped: Sequence[bool]) -> float:
    """The opinion of what a receiver plays that was there from the first frame on."""
    decoder = OpusDecoder()
    heard = [decoder.decode(None if lost else frame.packet, FRAME) for frame, lost in zip(sent, dropped, strict=True)]
    first = BEGINS * FRAME + WARM
    spoken, came = np.concatenate([frame.samples for frame in sent]), np.concatenate(heard)[LOOKAHEAD:]
    lost = [(n * FRAME - first, (n + 1) * FRAME - first) for n, gone in enumerate(dropped) if gone and n >= BEGINS]
    found = summary([Comparison().push(spoken[first : len(came)], came[first:])], lost)
    assert found is not None
    return calibrated().opinion(found)


@pytest.mark.voices
@pytest.mark.parametrize(("bitrate", "bandwidth"), [(12_000, "WB"), (24_000, "FB"), (48_000, "FB")])
@pytest.mark.parametrize(("loss", "burst"), [(0.0, 1.0), (0.05, 1.0), (0.1, 3.0), (0.2, 1.0)])
def test_it_hears_what_the_receiver_hears(bitrate: int, bandwidth: str, loss: float, burst: float) -> None:
    sent = frames(bitrate, bandwidth)
    dropped = drops(loss, len(sent), burst=burst)
    estimate = shadowed(sent, dropped)
    assert estimate.opinion == pytest.approx(received(sent, dropped), abs=0.3)
    assert estimate.missing == pytest.approx(np.mean(dropped[BEGINS:]))
    assert estimate.seconds == pytest.approx((len(sent) - BEGINS) * 0.02 - 0.2)


@pytest.mark.voices
def test_it_falls_with_loss() -> None:
    sent = frames()
    opinions = [shadowed(sent, drops(loss, len(sent))).opinion for loss in (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)]
    assert opinions == sorted(opinions, reverse=True)
    assert opinions[0] > 4.0
    assert opinions[-1] < 2.0


@pytest.mark.voices
def test_copies_repair_it_where_the_listener_waits_for_them() -> None:
    sent = frames()
    dropped = drops(0.1, len(sent))
    bare = shadowed(sent, dropped).opinion
    assert shadowed(sent, dropped, distances=(3,)).opinion > bare + 0.5
    assert shadowed(sent, dropped, distances=(3,), allowance_s=0.05).opinion == bare, "60 ms is too late"


@pytest.mark.voices
def test_what_comes_too_late_is_not_heard() -> None:
    sent = frames()
    slow = [
        packet(frame.timestamp, Fate(known=True, delay_s=0.15) if number % 7 == 0 else CAME)
        for number, frame in enumerate(sent)
    ]

    def estimate(allowance_s: float) -> Estimate:
        shadow = ShadowDecoder(sent, slow, allowance_s=allowance_s, lookahead=LOOKAHEAD)
        while shadow.work(9_600):
            pass
        found = shadow.estimate()
        assert found is not None
        return found

    waiting, hasty = estimate(0.2), estimate(0.1)
    assert waiting.missing == 0
    assert hasty.missing == pytest.approx(1 / 7, abs=0.01)
    assert waiting.opinion > hasty.opinion + 1


@pytest.mark.voices
def test_copies_inside_opus_are_heard() -> None:
    dropped = drops(0.1, len(frames()))
    inside, without = shadowed(frames(fec=True), dropped), shadowed(frames(), dropped)
    assert inside.missing == without.missing
    assert inside.damage < 0.8 * without.damage
