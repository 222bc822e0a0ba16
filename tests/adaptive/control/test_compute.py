"""Tiers by what rendering costs."""

import pytest

from adaptive.control import RUNGS, ComputeReport
from adaptive.control.compute import TierChoice, worth_computing

TIERS = ("full", "mixed", "light")


def report(at, ready=1.2, cost=None, **facts) -> ComputeReport:
    defaults = {"tiers": TIERS, "target_s": 1.2, "rendering": True}
    return ComputeReport(at=at, cost=cost or {"full": 0.7}, ready_s=ready, **(defaults | facts))


def feed(choice, start, end, **facts) -> None:
    for n in range(round(start * 10), round(end * 10)):
        choice.observe(report(n / 10, **facts))
        choice.fall(n / 10)


def test_an_utterance_may_begin_with_nothing_ready() -> None:
    choice = TierChoice()
    feed(choice, 0, 0.9, ready=0.0)
    assert choice.index == 0
    feed(choice, 0.9, 1.5, ready=0.0)
    assert choice.index == 1


def test_text_that_is_still_being_written_is_no_slow_model() -> None:
    choice = TierChoice()
    feed(choice, 0, 20, ready=0.0, cost={"full": 0.3})
    assert choice.index == 0


def test_a_long_queue_for_a_worker_is_a_reason_too() -> None:
    choice = TierChoice()
    feed(choice, 0, 5, ready=0.3, cost={"full": 0.3}, queue_s=0.3)
    assert choice.index > 0


def test_the_best_tier_that_is_known_to_be_affordable_is_taken() -> None:
    choice = TierChoice()
    feed(choice, 0, 3, ready=0.5, cost={"full": 1.6, "mixed": 1.1, "light": 0.5})
    assert TIERS[choice.index] == "light"


def test_it_rises_after_five_seconds_of_plenty_and_waits_longer_after_failing() -> None:
    choice, now, waits = TierChoice(), 10.0, []
    feed(choice, 0, 10, ready=1.2, cost={"full": 0.7})
    for _ in range(3):
        while not choice.fall(now):
            choice.observe(report(now, ready=0.2, cost={"full": 1.3}))
            now += 0.1
        fell = now
        while not choice.may_rise(now):
            now += 0.1
            choice.observe(report(now, cost={}))
        waits.append(now - fell)
        choice.rise(now)
    assert waits == pytest.approx([5, 10, 20], abs=0.3)


def test_a_tier_known_to_be_too_dear_is_tried_again_only_after_a_minute() -> None:
    choice = TierChoice()
    feed(choice, 0, 3, ready=0.2, cost={"full": 1.2, "mixed": 0.5})
    assert choice.index == 1
    times = []
    for n in range(30, 1000):
        choice.observe(report(n / 10, cost={"full": 1.2, "mixed": 0.5}))
        if choice.may_rise(n / 10):
            times.append(n / 10)
    assert 60 <= times[0] <= 64


def test_another_voice_begins_at_its_best() -> None:
    choice = TierChoice()
    feed(choice, 0, 3, ready=0.2, cost={"full": 1.2})
    assert choice.index == 1
    choice.observe(report(3.1, tiers=("only",), cost={}))
    assert (choice.tiers, choice.index) == (("only",), 0)
    choice.observe(report(3.2, tiers=(), cost={}))
    assert choice.tiers == ("only",)


@pytest.mark.parametrize(
    ("tiers", "worth"),
    [(1, [0] * 8), (2, [1] * 3 + [0] * 5), (3, [2, 2, 1] + [0] * 5), (4, [3, 3, 2] + [0] * 5)],
)
def test_what_the_codec_drops_is_not_computed(tiers, worth) -> None:
    assert [worth_computing(rung, tiers) for rung in RUNGS[:8]] == worth
