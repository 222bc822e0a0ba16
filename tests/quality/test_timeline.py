import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality.timeline import Timeline, Underrun, of, uninterrupted


def test_chunks_in_time_are_no_underrun() -> None:
    found = of([(0.0, 5.0), (0.5, 5.2), (1.0, 6.0)])
    assert found.underruns == []
    assert (found.largest_s, found.total_s) == (0, 0)


def test_a_wait_shifts_what_follows() -> None:
    found = of([(0.0, 5.0), (0.5, 5.75), (1.0, 6.25), (1.5, 7.0)])
    assert found.underruns == [Underrun(at_s=0.5, seconds=0.25), Underrun(at_s=1.5, seconds=0.25)]
    assert (found.largest_s, found.total_s) == (0.25, 0.5)


def test_a_listener_who_waits_first_has_fewer() -> None:
    late = [(0.0, 0.0), (0.5, 0.75), (1.0, 1.25)]
    assert of(late, lead_s=0.25).underruns == []
    assert of(late, lead_s=0.125).largest_s == pytest.approx(0.125)


@given(st.lists(st.tuples(st.floats(0.01, 1), st.floats(0, 1)), min_size=1, max_size=20), st.floats(0, 2))
def test_waits_add_up_to_how_much_longer_it_took(chunks: list[tuple[float, float]], lead_s: float) -> None:
    """Playing ends when the last chunk that was waited for lets it."""
    timeline, start, now, ends = Timeline(lead_s=lead_s), 0.0, 0.0, lead_s
    for length, gap in chunks:
        now += gap
        if start == 0.0:
            ends = now + lead_s
        timeline.arrived(start, now)
        ends = max(ends, now) + length
        start += length
    first = chunks[0][1] + lead_s
    assert ends - first - start == pytest.approx(timeline.total_s, abs=1e-6)


def test_the_share_of_utterances_that_flowed() -> None:
    assert uninterrupted([0.0, 0.05, 0.06, 0.15, None]) == {0.05: 0.5, 0.1: 0.75, 0.2: 1.0}
    assert uninterrupted([None]) == {0.05: None, 0.1: None, 0.2: None}
