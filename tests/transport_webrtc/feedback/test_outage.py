"""When a listener is out of reach, on given time."""

import random

import pytest

from transport_webrtc.feedback.outage import Outage


def regular(every_s, count=40, jitter_s=0.0, seed=1):
    """An outage detector that had so many signs, and when the last one came."""
    outage, now, dice = Outage(), 100.0, random.Random(seed)
    for _ in range(count):
        now += every_s + dice.uniform(-jitter_s, jitter_s)
        outage.sign(now)
    return outage, now


@pytest.mark.parametrize("every_s", [0.05, 0.1, 0.25, 0.3])
def test_half_a_second_without_a_sign_where_they_were_regular(every_s):
    outage, last = regular(every_s)
    assert outage.watched
    assert outage.due == pytest.approx(last + 0.5)
    assert not outage.ask(last + 0.49)
    assert outage.ask(last + 0.5)
    assert outage.since == last + 0.5
    assert not outage.ask(last + 0.7), "once"
    outage.sign(last + 3.0)
    assert outage.since is None
    assert outage.due == pytest.approx(last + 3.5), "an outage is no silence to get used to"


def test_a_player_that_reports_every_few_seconds_is_missed_after_more_than_its_longest_silence():
    outage, last = regular(5.0, jitter_s=2.5)
    assert not outage.watched
    longest = outage.limit_s / 1.5
    assert 5.0 < longest <= 7.5
    assert not outage.ask(last + longest)
    assert outage.ask(outage.due)


def test_nothing_is_declared_before_it_is_known_how_regular_signs_are():
    outage = Outage()
    assert outage.due is None
    assert not outage.ask(1_000.0)
    outage, last = regular(0.1, count=4)
    assert outage.due is None
    assert not outage.watched
    outage.sign(last + 0.1)
    assert outage.watched


def test_a_process_that_was_held_up_first_takes_in_what_waits():
    outage, last = regular(0.1)
    late = last + 2.0
    assert not outage.ask(late)
    assert outage.due == pytest.approx(late + 0.2)
    outage.sign(late + 0.01)
    assert outage.since is None
    outage, last = regular(0.1)
    assert not outage.ask(last + 2.0)
    assert outage.ask(last + 2.21)


@pytest.mark.parametrize("loss", [0.1, 0.2])
def test_loss_of_what_comes_back_is_no_outage(loss):
    outage, dice, alarms = Outage(), random.Random(7), 0
    now = 0.0
    while now < 600.0:
        now += 0.1
        if dice.random() >= loss:
            outage.sign(now)
        alarms += outage.ask(now)
    assert alarms <= (0 if loss < 0.2 else 4)
