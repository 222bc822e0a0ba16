"""What repair leaves, against what was measured in Chromium, and what must hold whatever the channel."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.control import Protection
from adaptive.control.loss import Gilbert
from adaptive.control.residual import again_wait_s, copy_wait_s, residual

BURSTS, RANDOM, HEAVY = (Gilbert(share=share, burst=burst) for share, burst in ((0.1, 3), (0.1, 1 / 0.9), (0.2, 1.25)))


def left(protection, loss, **path) -> float:
    """Percent."""
    settings = {"frame_ms": 20, "playout_delay_s": 0.25, "rtt_s": 0.1} | path
    return 100 * residual(protection, loss=loss, **settings).share


@pytest.mark.parametrize(
    ("protection", "measured"),
    [
        (Protection(fec=True, loss_hint=10), (6.7, 1.8, 5.1)),
        (Protection(copies=(1,)), (6.6, 1.2, 3.1)),
        (Protection(copies=(3,)), (3.8, 0.9, 3.3)),
        (Protection(copies=(6,)), (2.1, 1.0, 2.6)),
        (Protection(copies=(10,)), (0.9, 0.8, 4.7)),
        (Protection(copies=(3, 7)), (1.3, 0.1, 0.9)),
        (Protection(nack=True), (1.0, 0.4, 0.6)),
        (Protection(copies=(3,), nack=True), (1.0, 0.0, 0.2)),
    ],
    ids=str,
)
def test_it_is_about_what_a_browser_makes_up(protection, measured) -> None:
    """Percent made up at 100 ms round trip and 250 ms of playout delay: bursts of 3, random 10 % and random 20 %."""
    for loss, concealed in zip((BURSTS, RANDOM, HEAVY), measured, strict=True):
        assert left(protection, loss) == pytest.approx(concealed, rel=0.55, abs=0.35)


def test_what_comes_too_late_repairs_nothing() -> None:
    for distance in (1, 3, 6):
        copies, wait_s = Protection(copies=(distance,)), copy_wait_s(distance, 20)
        assert left(copies, RANDOM, playout_delay_s=wait_s) < 2
        assert left(copies, RANDOM, playout_delay_s=wait_s - 0.001) == pytest.approx(10)
        assert left(copies, RANDOM, playout_delay_s=wait_s, jitter_s=0.01) == pytest.approx(10)
    nack = Protection(nack=True)
    once, twice = (again_wait_s(tries, 20, 0.1) for tries in (1, 2))
    assert left(nack, RANDOM, playout_delay_s=once - 0.001) == pytest.approx(10)
    assert left(nack, RANDOM, playout_delay_s=once + 0.06) == pytest.approx(1, abs=0.2)
    assert left(nack, RANDOM, playout_delay_s=twice) == pytest.approx(0.1, abs=0.05)
    assert left(nack, RANDOM, rtt_s=None) == pytest.approx(10)


def test_distance_is_what_beats_bursts() -> None:
    by_distance = [left(Protection(copies=(d,)), BURSTS) for d in (1, 3, 6, 10)]
    assert by_distance == sorted(by_distance, reverse=True)
    assert by_distance[0] > 4 * by_distance[-1]


protections = st.builds(
    Protection,
    copies=st.sampled_from([(), (1,), (3,), (6,), (2, 5), (3, 7)]),
    nack=st.booleans(),
    fec=st.booleans(),
)


@given(
    protections,
    st.floats(0, 1),
    st.floats(1, 20),
    st.sampled_from([20, 40, 60]),
    st.floats(0, 1),
    st.none() | st.floats(0, 1),
)
def test_repair_never_makes_loss_worse_and_more_delay_never_hurts_it(
    protection, share, burst, frame_ms, delay_s, rtt_s
) -> None:
    loss = Gilbert(share=share, burst=max(burst, 1 / (1 - share) if share < 1 else burst))
    path = {"frame_ms": frame_ms, "rtt_s": rtt_s}
    less = residual(protection, loss=loss, playout_delay_s=delay_s, **path)
    more = residual(protection, loss=loss, playout_delay_s=delay_s + 0.1, **path)
    assert 0 <= more.share <= less.share + 1e-12
    assert less.share <= share + 1e-12
    assert residual(Protection(), loss=loss, playout_delay_s=delay_s, **path).share == share
