"""The E-model against published values, and what it makes of plans."""

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.control import RUNGS, Bandwidth, Plan, Protection, Reason, Rung, expected
from adaptive.control.emodel import FULLBAND, NARROWBAND, WIDEBAND, burst_ratio, delay_impairment, mos
from adaptive.control.ladder import with_fec
from adaptive.control.opinion import TABLE, residual_loss

FEC = Protection(fec=True, loss_hint=10)


def plan(level, protection) -> Plan:
    rung = with_fec(RUNGS[level]) if protection.fec else RUNGS[level]
    return Plan(rung=rung, tier="full", reason=Reason.STEADY, protection=protection)


@pytest.mark.parametrize(("rating", "opinion"), [(90, 4.34), (80, 4.03), (70, 3.60), (60, 3.10), (50, 2.58)])
def test_mos_of_the_ratings_in_g107_table_b1(rating, opinion) -> None:
    assert mos(rating) == pytest.approx(opinion, abs=0.007)


def test_mos_at_the_default_rating_and_at_the_ends() -> None:
    assert mos(93.2) == pytest.approx(4.41, abs=0.005)
    assert (mos(-5), mos(0), mos(100), mos(130)) == (1.0, 1.0, 4.5, 4.5)
    assert min(mos(r / 10) for r in range(1000)) == 1.0


def test_a_perfect_line_is_perfect_on_its_own_scale_only() -> None:
    for scale in (WIDEBAND, FULLBAND):
        assert scale.opinion(scale.rating(ie=0, bpl=10)) == 4.5
    assert NARROWBAND.opinion(NARROWBAND.rating(ie=0, bpl=10)) == pytest.approx(4.41, abs=0.005)
    assert FULLBAND.opinion(WIDEBAND.base) < 4.3


def test_packet_loss_impairs_as_in_equation_7_29() -> None:
    clean = NARROWBAND.rating(ie=0, bpl=25.1)
    assert clean - NARROWBAND.rating(ie=0, bpl=25.1, loss=0.05) == pytest.approx(95 * 5 / (5 + 25.1))
    assert clean - NARROWBAND.rating(ie=11, bpl=19, loss=0.02, burst=2) == pytest.approx(11 + 84 * 2 / (1 + 19))
    assert FULLBAND.rating(ie=20, bpl=10, loss=1.0, burst=1e9) < 0


def test_delay_is_free_to_100_ms_and_grows_from_there() -> None:
    assert delay_impairment(0.1) == 0
    assert delay_impairment(0.2) == pytest.approx(25 * (2 ** (1 / 6) - 3 * (1 + 3**-6) ** (1 / 6) + 2))
    delays = [delay_impairment(d / 100) for d in range(10, 80)]
    assert all(b > a for a, b in pairwise(delays[1:]))


def test_burst_ratio_of_random_loss_is_one() -> None:
    assert burst_ratio(0.1, 1 / 0.9) == pytest.approx(1)
    assert burst_ratio(0.1, 3) == pytest.approx(2.7)
    assert burst_ratio(0.5, 1) == 1


def test_a_higher_rung_is_no_worse_while_nothing_is_lost() -> None:
    opinions = [expected(rung) for rung in RUNGS]
    assert all(above > below - 0.03 for below, above in pairwise(opinions))
    assert 3 < opinions[0] < opinions[-1] - 0.5 < 4


@pytest.mark.parametrize(
    "entry", json.loads(TABLE.read_text())["rungs"], ids=lambda e: f"{e['bitrate']} {e['frame_ms']}"
)
def test_what_was_measured_is_told_again(entry) -> None:
    rung = Rung(bitrate=entry["bitrate"], bandwidth=Bandwidth(entry["bandwidth"]), frame_ms=entry["frame_ms"])
    bpl = dict.fromkeys((1 / 0.95,), entry["bpl"]) | {3.0: entry["bpl_bursts"]}
    for burst, constant in bpl.items():
        rating = FULLBAND.rating(ie=entry["ie"], bpl=constant, loss=0.05, burst=burst_ratio(0.05, burst))
        assert expected(rung, loss=0.05, burst=burst) == pytest.approx(FULLBAND.opinion(rating))


def test_between_and_beyond_what_was_measured_it_goes_on_evenly() -> None:
    rung = RUNGS[7]
    opinions = [expected(replace(rung, bitrate=rate), loss=0.01) for rate in (20_000, 24_000, 28_000, 32_000)]
    assert abs(opinions[1] + opinions[3] - 2 * opinions[2]) < 0.1
    assert expected(replace(rung, bitrate=6_000, bandwidth=Bandwidth.NB)) < expected(RUNGS[0]) - 0.5
    assert expected(replace(rung, bandwidth=Bandwidth.SWB)) == expected(rung)


@given(
    level=st.integers(0, 5),
    loss=st.floats(0, 1),
    more=st.floats(0, 1),
    burst=st.floats(1, 10),
    delay=st.floats(0, 2),
)
def test_opinion_is_on_the_scale_and_loss_and_delay_never_help(level, loss, more, burst, delay) -> None:
    loss, more = sorted((loss, more))
    opinion = expected(RUNGS[level], loss=loss, burst=burst, delay_s=delay)
    assert 1.0 <= opinion <= 4.5
    assert (
        expected(RUNGS[level], loss=more, burst=1, delay_s=delay)
        <= expected(RUNGS[level], loss=loss, burst=1, delay_s=delay) + 1e-9
    )
    assert expected(RUNGS[level], loss=loss, burst=burst, delay_s=delay + 0.2) <= opinion + 1e-9


def test_fec_costs_without_loss_and_pays_with_it() -> None:
    for level in (3, 4):
        assert expected(plan(level, FEC)) < expected(RUNGS[level])
        assert expected(plan(level, FEC), loss=0.05) > expected(RUNGS[level], loss=0.05) + 0.3


def test_long_frames_lose_more_at_once() -> None:
    assert expected(RUNGS[0], loss=0.05) < expected(RUNGS[1], loss=0.05)
    assert expected(RUNGS[0]) == pytest.approx(expected(RUNGS[1]), abs=0.05)


def test_what_repair_leaves() -> None:
    near, far, none = Protection(copies=(1,)), Protection(copies=(6,)), Protection()
    assert residual_loss(0.1, 1 / 0.9, none) == 0.1
    assert residual_loss(0.1, 1 / 0.9, near) == pytest.approx(0.01)
    assert residual_loss(0.1, 3, near) > 2 * residual_loss(0.1, 3, far)
    assert residual_loss(0.1, 1, Protection(nack=True)) == pytest.approx(0.01)
    assert residual_loss(0.0, 1, none) == 0.0
    assert residual_loss(1.0, 1, Protection(copies=(3, 7), nack=True)) == 1.0
