import numpy as np
import pytest

from transport_webrtc.hearing import hearing
from transport_webrtc.playout import Gap


def recording(*runs: tuple[float, float]) -> np.ndarray:
    """4 s of silence with a tone from and to the seconds given."""
    samples = np.zeros(4 * 48_000, np.float32)
    for start, end in runs:
        where = slice(round(start * 48_000), round(end * 48_000))
        samples[where] = 0.3 * np.sin(2 * np.pi * 440 * np.arange(where.stop - where.start) / 48_000)
    return samples


def gap(at: float, seconds: float, *, lost: float = 0.0, late: float = 0.0) -> Gap:
    return Gap(at=at, ticks=round(seconds * 48_000), lost=round(lost * 48_000), late=round(late * 48_000))


def test_times_are_those_of_the_audible_part() -> None:
    found = hearing(recording((0.5, 1.0), (1.5, 2.5)), [], started=100.0)
    assert (found.first_audio_s, found.duration_s) == (pytest.approx(0.5, abs=1e-4), pytest.approx(2.0, abs=1e-4))
    assert (found.largest_gap_s, found.lost_s, found.concealed) == (0, 0, 0)


def test_gaps_count_within_the_speech_alone() -> None:
    gaps = [gap(100.0, 0.5), gap(101.0, 0.1, lost=0.1), gap(101.6, 0.3, late=0.3), gap(103.0, 0.9, lost=0.9)]
    found = hearing(recording((0.5, 1.0), (1.1, 1.6), (1.9, 2.5)), gaps, started=100.0)
    assert found.lost_s == pytest.approx(0.1)
    assert found.largest_gap_s == pytest.approx(0.3)
    assert found.concealed == pytest.approx(0.4 / 2.0, abs=1e-4)


def test_a_pause_of_the_sender_is_a_gap_and_nothing_made_up() -> None:
    """A lone packet of silence every 200 ms does not make several gaps of it."""
    gaps = [gap(101.0, 0.18), gap(101.2, 0.18), gap(101.4, 0.1)]
    found = hearing(recording((0.5, 1.0), (1.5, 2.5)), gaps, started=100.0)
    assert found.largest_gap_s == pytest.approx(0.5)
    assert (found.lost_s, found.concealed) == (0, 0)


def test_what_was_never_heard_was_not_measured() -> None:
    found = hearing(recording(), [gap(101.0, 0.2, lost=0.2)], started=100.0)
    assert set(vars(found).values()) == {None}
    assert hearing(np.zeros(0, np.float32), [], started=0.0).duration_s is None
