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


def declared(outage, last, until, every_s=0.1):
    """When it was, asked from the last sign on; None where it was not."""
    now = last
    while now < until:
        now += every_s
        if outage.ask(now):
            return now
    return None


@pytest.mark.parametrize("every_s", [0.05, 0.1, 0.25, 0.3])
def test_half_a_second_without_a_sign_where_they_were_regular(every_s):
    outage, last = regular(every_s)
    assert outage.watched
    assert declared(outage, last, last + 9.0) == outage.since == pytest.approx(last + 0.5, abs=0.101)
    assert declared(outage, last + 0.7, last + 9.0) is None, "once"
    outage.sign(last + 9.0)
    assert outage.since is None
    assert declared(outage, last + 9.0, last + 19.0) == pytest.approx(last + 9.5, abs=0.101), "nothing to get used to"


def test_a_player_that_reports_every_few_seconds_is_missed_after_more_than_its_longest_silence():
    outage, last = regular(5.0, jitter_s=2.5)
    assert not outage.watched
    longest = outage.limit_s / 1.5
    assert 5.0 < longest <= 7.5
    assert declared(outage, last, last + longest) is None
    assert declared(outage, last + longest, last + 30.0) == pytest.approx(last + outage.limit_s, abs=0.2)


def test_nothing_is_declared_before_it_is_known_how_regular_signs_are():
    outage = Outage()
    assert declared(outage, 0.0, 60.0) is None
    outage, last = regular(0.1, count=4)
    assert not outage.watched
    assert declared(outage, last, last + 60.0) is None
    outage.sign(last + 60.0)
    assert not outage.watched, "a minute without a sign is a silence as well"
    outage, last = regular(0.1, count=5)
    assert outage.watched


def test_a_process_that_was_held_up_first_takes_in_what_waits():
    outage, last = regular(0.1)
    for held_up in (last + 0.8, last + 1.6, last + 2.4):
        assert not outage.ask(held_up)
    outage.sign(last + 2.45)
    assert declared(outage, last + 2.45, last + 9.0) == pytest.approx(last + 3.2, abs=0.101), "half a second counted"


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
