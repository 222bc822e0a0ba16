"""The rung for speech sent ahead, on virtual time."""

import itertools

from adaptive.control.ahead import AHEAD_RUNGS, AheadRung, affordable, ahead_rate
from adaptive.control.plan import Reason
from adaptive.control.reports import HeardReport, NetworkReport, Source


class Path:
    """Reports ten times a second."""

    def __init__(self) -> None:
        self.rungs = AheadRung()
        self.now = 0.0
        self.log: list[tuple[float, int, Reason]] = []

    def spend(self, seconds: float, *, kbps: float | None, lead: float, queue: float = 0.0) -> None:
        for _ in range(round(seconds * 10)):
            self.now += 0.1
            if kbps is not None:
                self.rungs.on_network(
                    NetworkReport(
                        at=self.now, source=Source.FEEDBACK, rtt_s=0.1, queue_delay_s=queue, received_rate=kbps * 1000
                    )
                )
            self.rungs.on_heard(HeardReport(at=self.now, buffered_s=lead))
            reason = self.rungs.decide(self.now)
            if reason is not None:
                self.log.append((self.now, self.rungs.rung.bitrate // 1000, reason))


def test_a_clean_path_is_left_alone() -> None:
    path = Path()
    path.spend(1, kbps=160, lead=0.5)
    path.spend(20, kbps=40, lead=6)
    assert path.log == []


def test_a_path_that_is_full_gets_what_it_delivers() -> None:
    path = Path()
    path.spend(0.2, kbps=24, lead=1.0, queue=0.4)
    assert path.log == [(0.1, 16, Reason.CONGESTED)]
    assert ahead_rate(path.rungs.rung) <= 24_000


def test_a_lead_may_be_spent() -> None:
    path = Path()
    path.spend(5, kbps=24, lead=6.0, queue=0.4)
    assert path.log == []
    path.spend(1, kbps=24, lead=3.0, queue=0.4)
    assert path.rungs.rung.bitrate == 24_000
    path.spend(1, kbps=24, lead=0.5, queue=0.4)
    assert path.rungs.rung.bitrate == 12_000


def test_little_that_arrives_without_a_queue_is_little_that_was_sent() -> None:
    path = Path()
    path.spend(10, kbps=20, lead=0.5)
    assert path.log == []


def test_no_answer_is_a_reason_to_send_little_until_there_is_a_lead() -> None:
    path = Path()
    path.spend(0.6, kbps=None, lead=0.0)
    assert [(rung, reason) for _, rung, reason in path.log] == [(12, Reason.STALE)]
    path.spend(6, kbps=160, lead=1.5)
    assert path.rungs.rung.bitrate == 12_000
    path.spend(0.1, kbps=160, lead=2.0)
    assert path.rungs.rung.bitrate == 32_000


def test_no_answer_with_a_lead_changes_nothing() -> None:
    path = Path()
    path.spend(1, kbps=160, lead=3.0)
    path.spend(1, kbps=None, lead=2.5)
    assert path.log == []


def test_silence_while_nothing_is_sent_is_no_silence() -> None:
    path = Path()
    path.spend(1, kbps=160, lead=1.0)
    path.now += 60
    path.rungs.silent()
    path.spend(0.3, kbps=None, lead=0.0)
    assert path.log == []


def test_rises_are_rare_and_falls_are_not() -> None:
    path = Path()
    for _ in range(5):
        path.spend(0.5, kbps=20, lead=1.0, queue=0.4)
        path.spend(1.5, kbps=200, lead=4.0)
    rises = [at for at, _, reason in path.log if reason is Reason.RECOVERED]
    assert all(later - earlier >= 4.0 for earlier, later in itertools.pairwise(rises))
    assert rises


def test_the_lowest_rung_fits_through_twelve_kilobits() -> None:
    assert ahead_rate(AHEAD_RUNGS[1]) < 11_000
    assert ahead_rate(AHEAD_RUNGS[0]) < 9_000
    assert affordable(12_000, 0.0) == 6_000
    assert affordable(12_000, 7.0) == 24_000


def prepared(rungs: AheadRung, kbps: float) -> int:
    rungs.on_network(NetworkReport(at=1.0, source=Source.FEEDBACK, capacity=kbps * 1000))
    rungs.prepare(1.0)
    return rungs.rung.bitrate


def test_speech_begins_at_what_the_path_was_found_to_carry() -> None:
    rungs = AheadRung()
    rungs.prepare(0.0)
    assert rungs.rung.bitrate == 32_000, "nothing is known"
    for kbps, bitrate in ((12, 6_000), (24, 12_000), (40, 24_000), (64, 32_000), (8, 6_000)):
        assert prepared(rungs, kbps) == bitrate
        assert ahead_rate(rungs.rung) <= kbps * 1000 * 0.75 or bitrate == 6_000 or kbps == 64


def test_what_was_reported_before_speech_is_no_answer_that_is_missing() -> None:
    rungs = AheadRung()
    prepared(rungs, 64)
    rungs.prepare(1.9)
    assert rungs.decide(2.0) is None
    assert rungs.decide(2.5) is Reason.STALE


def stands(rungs: AheadRung, at: float) -> Reason | None:
    rungs.on_network(NetworkReport(at=at, source=Source.FEEDBACK, standing_s=0.1))
    return rungs.decide(at)


def answered(rungs: AheadRung, at: float, *, queue: float) -> Reason | None:
    rungs.on_network(
        NetworkReport(
            at=at, source=Source.FEEDBACK, rtt_s=0.1, packets=3, loss=0.0, queue_delay_s=queue, received_rate=90_000
        )
    )
    return rungs.decide(at)


def test_where_nothing_arrives_at_the_first_word_little_is_sent_at_once() -> None:
    rungs = AheadRung()
    prepared(rungs, 64)
    assert rungs.decide(2.0) is None
    assert stands(rungs, 2.2) is Reason.CONGESTED
    assert rungs.rung.bitrate == 8_000


def test_what_was_only_lost_changes_nothing_for_long() -> None:
    rungs = AheadRung()
    prepared(rungs, 64)
    stands(rungs, 2.2)
    assert answered(rungs, 2.3, queue=0.02) is Reason.RECOVERED
    assert rungs.rung.bitrate == 32_000


def test_a_path_that_stood_still_may_do_so_again() -> None:
    rungs = AheadRung()
    prepared(rungs, 64)
    stands(rungs, 2.2)
    assert answered(rungs, 2.5, queue=0.4) is None
    rungs.on_heard(HeardReport(at=2.5, buffered_s=4.0))
    for step in range(26):
        rungs.on_heard(HeardReport(at=2.6 + step / 10, buffered_s=4.0))
        assert answered(rungs, 2.6 + step / 10, queue=0.0) is None
    rungs.on_heard(HeardReport(at=5.3, buffered_s=4.0))
    assert answered(rungs, 5.3, queue=0.0) is Reason.RECOVERED


def test_with_a_lead_a_path_may_stand_still() -> None:
    rungs = AheadRung()
    prepared(rungs, 64)
    answered(rungs, 2.1, queue=0.0)
    rungs.on_heard(HeardReport(at=2.2, buffered_s=5.0))
    assert stands(rungs, 2.2) is None


def test_what_others_report_of_the_path_does_not_hide_what_it_carries() -> None:
    rungs = AheadRung()
    rungs.on_network(NetworkReport(at=1.0, source=Source.FEEDBACK, capacity=12_000))
    rungs.on_network(NetworkReport(at=1.1, source=Source.TWCC, rtt_s=0.1))
    assert rungs.prepare(1.2) is Reason.CONGESTED
    assert rungs.rung.bitrate == 6_000


def test_with_a_lead_and_no_queue_what_was_sent_is_no_limit() -> None:
    rungs = AheadRung()
    prepared(rungs, 12)
    assert rungs.rung.bitrate == 6_000
    for step in range(200):
        now = 2.0 + step / 10
        rate = ahead_rate(rungs.rung)
        rungs.on_network(
            NetworkReport(at=now, source=Source.FEEDBACK, rtt_s=0.1, queue_delay_s=0.0, received_rate=rate)
        )
        rungs.on_heard(HeardReport(at=now, buffered_s=5.0))
        rungs.decide(now)
    assert rungs.rung.bitrate >= 24_000


def test_standing_still_with_a_lead_leaves_the_rung_alone_when_the_path_is_back() -> None:
    rungs = AheadRung()
    prepared(rungs, 64)
    for step in range(30):
        now = 2.0 + step / 10
        rungs.on_network(NetworkReport(at=now, source=Source.FEEDBACK, standing_s=step / 10))
        rungs.on_heard(HeardReport(at=now, buffered_s=6.0 - step / 10))
        assert rungs.decide(now) is None
    rungs.on_heard(HeardReport(at=5.1, buffered_s=2.8))
    assert answered(rungs, 5.1, queue=0.0) is None
