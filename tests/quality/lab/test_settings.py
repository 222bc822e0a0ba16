import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality.lab import PRESETS, Jitter, LinkSettings, parse_mahimahi


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"delay_ms": -1}, "delay_ms must be 0 to 60,000 milliseconds, not -1."),
        ({"loss": 1.5}, "loss must be 0 to 1 a share, where 0.05 is 5 %, not 1.5."),
        ({"loss": math.nan}, "loss must be"),
        ({"loss": True}, "loss must be"),
        ({"loss": "a lot"}, "'a lot'"),
        ({"jitter": "wild"}, "jitter must be normal, uniform or pareto, not 'wild'."),
        ({"queue_bytes": 100}, "queue_bytes must be 1,504"),
        ({"queue_bytes": 2000.5}, "whole number of bytes"),
        ({"rate_kbps": math.inf}, "rate_kbps must be"),
        ({"reorder": 1}, "reorder must be true or false"),
        ({"loss": 0.8, "burst": 3}, "at most 75%"),
        ({"loss_list": [0, 2]}, "loss_list holds only"),
        ({"loss_list": "0101"}, "loss_list must be a list"),
        ({"trace": [5, 3]}, "rising order"),
        ({"trace": [0, 0]}, "at least 1"),
        ({"steps": [(0, 100), (5, -1)]}, "pairs of seconds and kbit/s"),
        ({"steps": [(5, 100), (1, 50)]}, "order of time"),
        ({"delay_trace": [1, 2]}, "pairs of seconds and milliseconds"),
        ({"speed": 3}, "A link has no setting 'speed'; it has delay_ms"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(changes: dict, says: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        LinkSettings().changed(changes)
    assert says in str(refused.value)
    assert str(refused.value).endswith(".")


def test_what_json_brings_becomes_what_the_link_needs() -> None:
    settings = LinkSettings().changed(
        {"jitter": "pareto", "trace": [0, 1, 1, 5], "steps": [[0, 100], [2.5, 40]], "loss_list": [1, 0]}
    )
    assert settings.jitter is Jitter.PARETO
    assert settings.trace == (0, 1, 1, 5)
    assert settings.steps == ((0.0, 100.0), (2.5, 40.0))
    assert settings.loss_list == (True, False)


@given(
    name=st.sampled_from(["delay_ms", "loss", "rate_kbps", "trace", "steps", "jitter", "reorder", "burst", "no_such"]),
    value=st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=4),
        max_leaves=6,
    ),
)
def test_any_json_is_taken_or_refused_as_a_value(name: str, value: object) -> None:
    try:
        settings = LinkSettings().changed({name: value})
    except ValueError as refused:
        assert str(refused).endswith(".")  # noqa: PT017 - both outcomes are right, only these two
    else:
        assert isinstance(settings, LinkSettings)


def test_everything_may_be_lost_in_the_middle_of_bursts() -> None:
    assert LinkSettings(loss=1.0, burst=3).loss == 1.0


def test_presets_are_what_they_are_called() -> None:
    assert set(PRESETS) == {"clean", "bad", "lossy", "slow", "far"}
    assert PRESETS["clean"] == (LinkSettings(), LinkSettings())
    down, up = PRESETS["bad"]
    assert (down.rate_kbps, down.loss, down.delay_ms, down.jitter_ms) == (28, 0.05, 60, 10)
    assert (up.rate_kbps, up.loss, up.delay_ms) == (None, 0.05, 60)


def test_a_mahimahi_trace_is_read_and_its_faults_are_named() -> None:
    assert parse_mahimahi("0\n5\n5\n\n12\n") == (0, 5, 5, 12)
    with pytest.raises(ValueError, match=r"Line 2 .*'five'"):
        parse_mahimahi("0\nfive\n")
