"""The ways of sending, and what they are worth."""

from dataclasses import replace

import pytest

from adaptive.control import PROFILES, RUNGS, Protection, wire_rate
from adaptive.control.ladder import START
from adaptive.control.loss import Gilbert
from adaptive.control.objective import Present, value
from adaptive.control.outlook import LOSSES, Limits, Path, rounded, way, ways
from adaptive.control.view import View

CHAT = PROFILES["voice_chat"]
LIMITS = Limits(
    top=START, wire=CHAT.wire_limit, clean_s=CHAT.clean_playout_delay_s, least_s=0.06, most_s=CHAT.playout_delay_s
)
NONE = Protection()


def path(share, burst=None, **facts) -> Path:
    loss = Gilbert(share=share, burst=burst or 1 / (1 - share))
    known = {"rtt_s": 0.1, "jitter_s": 0.0, "red": True, "nack": True} | facts
    return rounded(loss=loss, careful=loss, **known)


def best(where, limits=LIMITS):
    return max(ways(where, limits, CHAT.weights), key=lambda w: w.worth)


def test_without_loss_nothing_is_repaired_and_the_start_is_best() -> None:
    clean = ways(path(0.0), LIMITS, CHAT.weights)
    assert {w.protection for w in clean} == {NONE}
    assert [w.rung for w in clean] == list(RUNGS[:8])
    assert (best(path(0.0)).rung, best(path(0.0)).delay_s) == (START, CHAT.clean_playout_delay_s)


@pytest.mark.parametrize("share", LOSSES[3:-4])
def test_loss_is_repaired_to_less_than_two_percent_within_the_limits(share) -> None:
    found = best(path(share))
    assert found.left < 0.02
    assert found.rung.bitrate >= 24_000
    for w in ways(path(share), LIMITS, CHAT.weights):
        assert w.wire <= CHAT.wire_limit
        assert w.wire == wire_rate(w.rung, w.protection, loss=w.wire and path(share).loss)
        assert LIMITS.least_s <= w.delay_s <= LIMITS.most_s
        assert not w.protection.fec
        assert len(w.protection.copies) <= 2


def test_bursts_are_answered_with_distance() -> None:
    assert max(best(path(0.1, burst=3.0)).protection.copies) >= 5


def test_only_what_the_listener_takes_is_considered() -> None:
    def taken(**takes):
        return {w.protection for w in ways(path(0.1, **takes), LIMITS, CHAT.weights)}

    assert not any(p.copies for p in taken(red=False))
    assert any(p.fec for p in taken(red=False))
    assert not any(p.nack for p in taken(nack=False))
    assert not any(p.nack for p in taken(rtt_s=None))
    assert taken(repair=False) == {NONE}
    assert all(p.loss_hint >= 10 for p in taken(red=False) if p.fec)


def test_a_long_round_trip_leaves_no_time_to_ask_again() -> None:
    assert not any(w.protection.nack for w in ways(path(0.1, rtt_s=0.4), LIMITS, CHAT.weights))
    narration = PROFILES["narration"]
    limits = Limits(top=START, wire=narration.wire_limit, clean_s=0.2, least_s=0.2, most_s=narration.playout_delay_s)
    assert any(w.protection.nack for w in ways(path(0.1, rtt_s=0.4), limits, narration.weights))


def test_jitter_is_waited_for_on_top_of_repair() -> None:
    calm, unsteady = (
        min(w.delay_s for w in ways(path(0.05, jitter_s=jitter), LIMITS, CHAT.weights) if w.protection.copies)
        for jitter in (0.0, 0.06)
    )
    assert unsteady >= calm + 0.04


def test_what_is_dearer_and_no_better_is_left_out() -> None:
    found = ways(path(0.1), LIMITS, CHAT.weights)
    for one in found:
        for other in found:
            if one is not other and one.rung == other.rung and one.wire <= other.wire and one.delay_s <= other.delay_s:
                assert one.worth < other.worth


def test_loss_that_is_planned_with_falls_only_where_it_is_surely_less() -> None:
    heavy, light, maybe = (Gilbert(share=share, burst=1.2) for share in (0.1, 0.05, 0.09))
    known = {"rtt_s": 0.1, "jitter_s": 0.0, "red": True, "nack": True}
    before = rounded(loss=heavy, careful=heavy, **known)
    assert rounded(loss=light, careful=maybe, before=before, **known).loss == before.loss
    assert rounded(loss=light, careful=light, before=before, **known).loss < before.loss
    assert rounded(loss=heavy, careful=heavy, before=rounded(loss=light, careful=light, **known), **known) == before


def here(where, rung=START, protection=NONE, **present) -> Present:
    now = way(rung, protection, LIMITS.least_s, where, CHAT.weights, needs_s=LIMITS.clean_s)
    return Present(**({"way": now, "tier": 0.0, "sounding": True} | present))


def test_a_change_has_its_price_and_a_delay_raised_in_speech_the_highest() -> None:
    where = path(0.0)
    now = here(where)
    lower = way(RUNGS[2], NONE, LIMITS.least_s, where, CHAT.weights, needs_s=LIMITS.clean_s)
    weights = CHAT.weights
    free = value(lower, now, replace(weights, change=0.0, seam=0.0), tier=0.0)
    assert free - value(lower, now, weights, tier=0.0) == pytest.approx(
        weights.change * abs(lower.opinion - now.way.opinion) + weights.seam
    )
    held = way(START, NONE, 0.3, where, weights, needs_s=0.3)
    silent = replace(now, sounding=False)
    assert value(held, now, weights, tier=0.0) < value(held, silent, weights, tier=0.0) - 0.5
    assert value(now.way, now, weights, tier=0.1) == pytest.approx(3 * (now.way.worth + 0.1))


def test_a_view_sorts_the_ways_by_what_they_gain() -> None:
    where = path(0.05)
    view = View(
        path=where,
        limits=LIMITS,
        weights=CHAT.weights,
        present=here(where, rung=RUNGS[4]),
        tier_worth=lambda _: 0.0,
        home=START,
    )
    gains = [gain for gain, _ in view.gains]
    assert gains == sorted(gains, reverse=True)
    assert all(w.rung.bitrate <= 24_000 and w.left < 0.055 for w in view.repaired)
    assert view.repaired
    assert all(wire_rate(w.rung) > wire_rate(RUNGS[4]) for w in view.higher)
    assert view.higher
    assert view.eased == []
