"""What the listener is asked to hold."""

from adaptive.control import PROFILES, RUNGS, HeardReport, Protection
from adaptive.control.playout import PlayoutDelay

CHAT = PROFILES["voice_chat"]
NONE, FEC = Protection(), Protection(fec=True, loss_hint=10)


def ask(playout, now=0.0, rung=RUNGS[4], protection=NONE, jitter_s=None) -> float:
    return round(playout.decide(now, rung=rung, protection=protection, jitter_s=jitter_s), 3)


def test_a_clean_network_gets_the_profiles_own() -> None:
    for profile in PROFILES.values():
        assert ask(PlayoutDelay(profile), jitter_s=0.002) == profile.clean_playout_delay_s


def test_jitter_and_copies_raise_it_in_steps_and_never_beyond_the_profile() -> None:
    playout = PlayoutDelay(CHAT)
    assert ask(playout, jitter_s=0.02) == 0.1
    assert ask(playout, jitter_s=0.03) == 0.1
    assert ask(playout, protection=FEC, rung=RUNGS[3]) == 0.1
    assert ask(playout, protection=Protection(copies=(6,))) == 0.18
    assert ask(playout, jitter_s=1.0) == 0.3


def test_it_is_lowered_in_two_seconds_of_silence_only() -> None:
    playout = PlayoutDelay(CHAT)
    playout.sounding(0.0, True)
    assert ask(playout, 0.0, jitter_s=0.04) == 0.14
    assert ask(playout, 60.0, jitter_s=0.0) == 0.14
    playout.sounding(61.0, False)
    assert ask(playout, 62.5) == 0.14
    assert ask(playout, 63.0) == 0.06


def test_late_packets_raise_it_by_a_step(world) -> None:
    w = world().run(5)
    for _ in range(2):
        w.give(HeardReport(at=w.now, concealed=0.2))
    w.run(6)
    assert w.plan.playout_delay_s == CHAT.clean_playout_delay_s + 0.04
    w.run(20, loss=0.2)
    before = w.plan.playout_delay_s
    w.give(HeardReport(at=w.now, concealed=0.2))
    w.give(HeardReport(at=w.now, concealed=0.2))
    assert w.run(21).plan.playout_delay_s == before
