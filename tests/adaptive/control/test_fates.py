from hypothesis import given
from hypothesis import strategies as st

from adaptive.control.fates import Fates, Feedback

OFFSET_S = 1000.0
"""The listener's clock starts elsewhere."""


def feedback(base: int, arrivals_s: list[float | None], number: int = 0) -> Feedback:
    reference = int(OFFSET_S / 0.064)
    zero = reference * 0.064
    return Feedback(
        base=base & 0xFFFF,
        number=number,
        reference=reference,
        arrivals_us=tuple(None if a is None else round((a + OFFSET_S - zero) * 1e6) for a in arrivals_s),
    )


def send(fates: Fates, count: int, start: float = 0.0) -> list[float]:
    times = [start + 0.02 * i for i in range(count)]
    for t in times:
        fates.sent(t, size=100)
    return times


def test_loss_is_told_once_and_only_when_later_packets_arrived() -> None:
    fates = Fates()
    times = send(fates, 6)
    fates.feedback(0.2, feedback(0, [times[0] + 0.05, None, times[2] + 0.05]))
    first = fates.report(0.2)
    assert first.lost_mask == (False,), "packet 1 may still come"
    fates.feedback(0.3, feedback(3, [t + 0.05 for t in times[3:]]))
    second = fates.report(0.3)
    assert second.lost_mask == (True, False, False, False, False)
    assert second.loss == 0.2
    assert second.packets == 5
    assert fates.report(0.4).lost_mask is None


def test_reordered_is_not_lost() -> None:
    fates = Fates()
    times = send(fates, 4)
    fates.feedback(0.1, feedback(0, [times[0] + 0.05, None, times[2] + 0.05]))
    fates.feedback(0.2, feedback(1, [times[1] + 0.09, times[2] + 0.05, times[3] + 0.05]))
    assert fates.report(0.2).lost_mask == (False,) * 4


def test_a_lost_feedback_leaves_unknown_not_lost() -> None:
    fates = Fates()
    times = send(fates, 9)
    fates.feedback(0.1, feedback(0, [t + 0.05 for t in times[:3]], number=0))
    fates.feedback(0.3, feedback(6, [t + 0.05 for t in times[6:]], number=2))
    report = fates.report(0.3)
    assert report.lost_mask == (False, False, False, None, None, None, False, False, False)
    assert report.loss == 0.0
    assert report.packets == 6


def test_queueing_delay_is_against_the_lowest_and_clocks_do_not_matter() -> None:
    fates = Fates()
    times = send(fates, 4)
    delays = [0.08, 0.05, 0.05, 0.25]
    fates.feedback(0.4, feedback(0, [t + d for t, d in zip(times, delays, strict=True)]))
    queue = fates.report(0.4).queue_delay_s
    assert queue is not None
    assert abs(queue - 0.2) < 1e-3
    assert fates.report(0.5).queue_delay_s is None, "no fresh packet, no fact"


def test_a_retransmission_does_not_speak_for_loss_or_delay() -> None:
    fates = Fates()
    fates.sent(0.0, size=100)
    fates.sent(0.5, size=100, repeat=True)
    for i in range(4):
        fates.sent(0.6 + i / 50, size=100)
    fates.feedback(0.9, feedback(0, [0.05, None, 0.65, 0.67, 0.69, 0.71]))
    assert fates.report(0.9).lost_mask == (False,) * 5


def test_what_arrives_only_when_sent_again_was_lost_and_says_nothing_of_the_delay() -> None:
    fates = Fates()
    times = send(fates, 8)
    fates.sent_again(0.18, 1, size=100)
    fates.sent_again(0.18, 2, size=100)
    arrivals = [t + 0.05 for t in times]
    arrivals[1] = 0.18 + 0.05
    arrivals[2] = times[2] + 0.17  # late, but before the second one could be there
    fates.feedback(0.4, feedback(0, arrivals))
    report = fates.report(0.4)
    assert report.lost_mask == (False, True) + (False,) * 6
    assert report.queue_delay_s is not None
    assert report.queue_delay_s < 1e-3
    assert fates.sent(0.5, size=100) == 8, "no number is used up"


def test_one_feedback_out_of_place_does_not_spoil_those_after_it() -> None:
    fates = Fates()
    times = send(fates, 6)
    fates.feedback(0.1, feedback(40_000, [0.0]))
    assert fates.broken == 1
    fates.feedback(0.2, feedback(0, [t + 0.05 for t in times]))
    assert fates.report(0.2).lost_mask == (False,) * 6


def test_rates_count_bytes_on_the_wire() -> None:
    fates = Fates()
    times = send(fates, 50)
    fates.feedback(1.0, feedback(0, [t + 0.05 for t in times]))
    report = fates.report(1.0)
    assert report.sent_rate is not None
    assert report.received_rate is not None
    assert abs(report.sent_rate - 40_000) < 2_000
    assert abs(report.received_rate - 40_000) < 2_000


def test_feedback_for_packets_never_sent_is_counted_and_ignored() -> None:
    fates = Fates()
    send(fates, 2)
    fates.feedback(0.1, feedback(0, [0.0] * 10))
    assert fates.broken == 1
    assert fates.report(0.1).lost_mask is None


@given(st.lists(st.booleans(), min_size=10, max_size=300), st.integers(1, 40), st.integers(0, 3))
def test_the_mask_is_the_links_drop_list(lost: list[bool], batch: int, before: int) -> None:
    fates = Fates()
    for _ in range(before):
        fates.sent(0.0, size=1)
    times = send(fates, len(lost), start=1.0)
    mask: list[bool | None] = []
    for at in range(0, len(lost), batch):
        piece = [None if dead else t + 0.05 for dead, t in zip(lost[at : at + batch], times[at:], strict=False)]
        fates.feedback(times[min(at + batch, len(lost)) - 1] + 0.1, feedback(before + at, piece))
        mask += fates.report(9.0).lost_mask or ()
    told = mask[before:]
    assert told == lost[: len(told)]
    arrived = [i for i, dead in enumerate(lost) if not dead]
    assert len(told) >= (arrived[-3] if len(arrived) > 2 else 0), "all before the third-last arrival is certain"


def test_numbers_wrap() -> None:
    fates = Fates()
    number = 0
    for i in range(70_000):
        number = fates.sent(i * 0.001, size=10)
        if i % 500 == 499:
            base = i - 499
            fates.feedback(i * 0.001 + 0.1, feedback(base, [(base + k) * 0.001 + 0.05 for k in range(500)]))
    assert number == 69_999 & 0xFFFF
    assert fates.report(70.2).loss == 0.0
    assert fates.broken == 0


def test_the_fate_of_one_packet_is_known_once_it_is_certain() -> None:
    fates = Fates()
    times = send(fates, 6)
    assert fates.count == 6
    fates.feedback(0.2, feedback(0, [times[0] + 0.05, None, times[2] + 0.09]))
    fates.report(0.2)
    assert not fates.fate(1).known, "it may still come"
    assert not fates.fate(3).known, "no feedback spoke of it"
    assert abs((fates.fate(2).delay_s or 0) - 0.04) < 1e-4
    assert abs(fates.queue_s - 0.04) < 1e-4
    fates.sent_again(0.22, 1, size=100)
    fates.feedback(0.3, feedback(3, [t + 0.05 for t in times[3:]]))
    fates.report(0.3)
    lost = fates.fate(1)
    assert lost.known
    assert lost.delay_s is None
    fates.feedback(0.4, feedback(1, [0.22 + 0.05]))
    assert abs((fates.fate(1).delay_s or 0) - (0.22 - times[1])) < 1e-4, "counted from its first sending"
    assert not fates.fate(6).known


def test_what_arrived_of_what_left_by_a_time() -> None:
    fates = Fates()
    assert fates.arrived_until() is None
    times = send(fates, 12)
    fates.feedback(0.1, feedback(0, [t + 0.05 for t in times[:3]], number=0))
    assert fates.arrived_until() == times[2]
    assert fates.arrived_until(times[1] + 0.001) == times[1]
    fates.feedback(0.3, feedback(6, [None, None, times[8] + 0.05], number=2))
    assert fates.arrived_until() == times[8]
    assert fates.arrived_until(times[7]) == times[5], "the feedback on 3 to 5 was lost, the packets were not"
    assert fates.arrived_until(-1.0) is None


def test_what_did_not_arrive_where_later_packets_did() -> None:
    fates = Fates()
    assert fates.missing(0.0) == []
    times = send(fates, 20)
    came = [t + 0.05 for t in times]
    fates.feedback(0.2, feedback(0, [*came[:3], None, came[4], None, None, None, came[8], None, None], number=0))
    assert fates.missing(-1.0) == [(times[2], times[3]), (times[4], times[7])], "what was sent last may still come"
    assert fates.missing(times[4]) == [(times[4], times[7])]
    assert fates.missing(times[5]) == [(times[5], times[7])]
    assert fates.missing(times[8]) == []
    fates.feedback(0.4, feedback(13, came[13:16], number=2))
    assert fates.missing(times[8]) == [(times[8], times[10])], (
        "the feedback on 11 and 12 was lost, the packets were not"
    )
    fates.sent_again(0.45, 6, size=100)
    fates.feedback(0.5, feedback(6, [0.5], number=3))
    assert fates.missing(times[4]) == [(times[4], times[5]), (times[6], times[7]), (times[8], times[10])]
