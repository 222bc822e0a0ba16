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


def silent(outage, last, seconds):
    """Asks for so long, then a sign comes; whether an outage was declared, whether that sign ended what was one or
    would have been, and when it came."""
    alarm = declared(outage, last, last + seconds)
    return alarm is not None, outage.sign(last + seconds), last + seconds


def test_a_path_that_held_packets_back_and_lost_none_is_given_longer():
    outage, last = regular(0.1)
    assert silent(outage, last, 0.3)[:2] == (False, False)
    alarm, stalled, last = silent(outage, last + 0.3, 0.8)
    assert alarm
    assert stalled
    outage.kept(last)
    assert outage.limit_s == pytest.approx(4.0)
    alarm, stalled, last = silent(outage, last, 3.0)
    assert not alarm
    assert stalled, "worth a look all the same"
    assert outage.watched
    assert outage.limit_s == pytest.approx(4.0), "a silence that was sat out is no habit"
    assert declared(outage, last, last + 9.0) == pytest.approx(last + 4.0, abs=0.101)
    outage.sign(last + 9.0)
    outage.cut()
    assert outage.limit_s == 0.5


def test_that_is_forgotten_after_a_while():
    outage, last = regular(0.1)
    outage.kept(last)
    for _ in range(310):
        last += 0.1
        outage.ask(last)
        outage.sign(last)
    assert outage.limit_s == 0.5


def test_what_may_have_to_wait_is_known_before_it_is_an_outage():
    outage, last = regular(0.1)
    assert declared(outage, last, last + 0.35) is None
    assert not outage.stalled
    outage.ask(last + 0.45)
    assert outage.stalled
    outage.sign(last + 0.46)
    assert not outage.stalled


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
