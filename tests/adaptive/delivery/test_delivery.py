"""The owner's side of delivery: what is asked for, what comes out, and what is known."""

from typing import Any

import pytest

from adaptive.control.plan import Codec, Format
from adaptive.delivery import Ack, Delivery, Flush, Frame, PlayerState, SpeechMessage
from adaptive.delivery.wire import unpack

ULAW = Format(codec=Codec.ULAW, rate=8000)


def frame(number: int, utterance: int = 1, *, form: Format | None = None, last: bool = False) -> Frame:
    return Frame(utterance, number * 960, 960, form or Format(), bytes(80), last)


def speech(delivery: Delivery, now: float) -> list[SpeechMessage]:
    return [message for data in delivery.due(now) if isinstance(message := unpack(data), SpeechMessage)]


def test_the_first_message_leaves_at_once_and_starts_the_player() -> None:
    delivery = Delivery()
    assert delivery.next_time(0.0) is None
    assert delivery.room(0.0) == 2880
    for number in range(3):
        delivery.add(frame(number))
    (first,) = speech(delivery, 0.0)
    assert (first.epoch, first.utterance, first.number, first.position) == (0, 1, 1, 0)
    assert (len(first.frames), first.ticks, first.last) == (3, 960, False)


def test_a_message_holds_one_utterance_and_one_format() -> None:
    delivery = Delivery()
    for one in (frame(0), frame(1, form=ULAW, last=True), frame(0, 2), frame(1, 2, last=True)):
        delivery.add(one)
    found = [(m.utterance, m.format.codec, len(m.frames), m.last) for m in speech(delivery, 0.0)]
    assert found == [(1, Codec.OPUS, 1, False), (1, Codec.ULAW, 1, True), (2, Codec.OPUS, 2, True)]


def test_frames_follow_each_other_and_fit() -> None:
    delivery = Delivery()
    delivery.add(frame(0))
    with pytest.raises(ValueError, match="cannot come"):
        delivery.add(frame(2))
    with pytest.raises(ValueError, match="no message"):
        delivery.add(Frame(1, 960, 960, Format(), bytes(1200)))


def test_a_player_whose_last_word_was_lost_has_not_run_out_when_the_next_utterance_begins() -> None:
    delivery = Delivery()
    for number in range(3):
        delivery.add(frame(number, last=number == 2))
    (first,) = speech(delivery, 0.0)
    playing = Ack(
        epoch=0,
        largest=first.number,
        bitmap=0,
        arrival=50,
        delay=0,
        wanted_utterance=2,
        wanted=0,
        played_utterance=1,
        played=960,
        buffered=40,
        state=PlayerState.PLAYING,
    )
    delivery.acked(0.1, playing)
    delivery.add(frame(0, 2))
    assert speech(delivery, 1.0)
    assert not delivery.ran_out(1.01)
    assert delivery.ran_out(1.6)


def test_a_flush_forgets_and_repeats_until_it_is_known(ride: Any, link: Any) -> None:
    path = link(delay_ms=50, loss=0.2)

    def interrupt(listener: Any) -> None:
        listener.queue.clear()
        listener.delivery.flush(listener.now)

    heard = ride(path, path, starts=((0.0, 9.0), (2.0, 3.0)), events={1.99: interrupt}, seed=3).run(12)
    assert heard.player.epoch == 1
    assert heard.player.whole == [2]
    assert heard.player.sounded[2] - 2.0 < 0.4
    assert heard.player.starved_s == 0.0


def test_a_flush_is_all_that_is_due_until_it_is_answered() -> None:
    delivery = Delivery(epoch=0xFFFF)
    delivery.add(frame(0))
    delivery.flush(1.0)
    times, now = [], 1.0
    while now < 1.1:
        messages = [unpack(data) for data in delivery.due(now)]
        times.append(round(now, 3))
        assert all(isinstance(message, Flush) and message.epoch == 0 for message in messages)
        now = delivery.next_time(now) or 9.0
    assert times == [1.0], "nobody has answered yet: the path may be narrow"
    assert delivery.next_time(1.0) == pytest.approx(1.15)
    delivery.acked(1.2, Ack.unpack(bytes.fromhex("0101ffff" + "00" * 31)))
    delivery.flush(2.0)
    times, now = [], 2.0
    while now < 2.2:
        times += [round(now, 3) for _ in delivery.due(now)]
        now = delivery.next_time(now) or 9.0
    assert times == [2.0, 2.03, 2.06, 2.09, 2.135]


def test_what_may_not_sound_yet_says_when() -> None:
    delivery = Delivery()
    delivery.held(1, 2**32 + 77)
    delivery.add(frame(0, last=True))
    delivery.add(frame(0, 2, last=True))
    assert [message.not_before for message in speech(delivery, 0.0)] == [77, None]


def test_the_channel_pushes_back() -> None:
    delivery = Delivery()
    delivery.add(frame(0))
    delivery.backlog(3000)
    assert delivery.room(0.0) == 0
    assert delivery.due(0.0) == []
    assert delivery.next_time(0.0) is not None
    delivery.backlog(0)
    assert len(delivery.due(0.0)) == 1


def test_utterances_follow_each_other_without_a_gap(ride: Any, link: Any) -> None:
    heard = ride(link(delay_ms=50), link(delay_ms=50), starts=((0.0, 1.5), (0.0, 1.5), (0.5, 1.5))).run(8)
    assert heard.player.whole == [1, 2, 3]
    assert heard.player.sounded[3] - heard.player.sounded[1] == pytest.approx(3.0, abs=0.03)


def test_the_lead_is_kept_and_can_be_changed(ride: Any, link: Any) -> None:
    heard = ride(link(delay_ms=50), link(delay_ms=50), starts=((0.0, 30.0),), lead_s=2.0).run(6)
    assert 1.7 < heard.delivery.lead_s(6.0) <= 2.0
    heard.delivery.lead_limit_s = 8.0
    heard.run(12)
    assert 7.6 < heard.delivery.lead_s(12.0) <= 8.0


def test_facts_are_those_of_the_path(ride: Any, link: Any) -> None:
    heard = ride(link(delay_ms=70, loss=0.1), link(delay_ms=30), starts=((0.0, 30.0),)).run(20)
    delivery = heard.delivery
    assert delivery.rtt_s == pytest.approx(0.1, abs=0.01)
    assert delivery.min_rtt_s == pytest.approx(0.1, abs=0.01)
    assert delivery.queue_delay_s == pytest.approx(0.0, abs=0.005)
    assert delivery.loss == pytest.approx(0.1, abs=0.07)
    assert delivery.delivered_rate > 30_000
    # The client's clock, but for half of what the ways differ.
    assert (delivery.client_ms(20.0) - heard.clock_ms(20.0)) % 2**32 == pytest.approx(20, abs=5)


@pytest.mark.parametrize("late_ms", [0, 60])
def test_the_position_goes_on_between_answers_however_long_they_take(ride: Any, link: Any, late_ms: float) -> None:
    down, up = link(delay_ms=50, loss=0.05), link(delay_ms=50, loss=0.05, jitter_ms=late_ms, jitter="pareto")
    heard = ride(down, up, starts=((0.0, 4.0), (0.0, 30.0)))
    errors = []
    for step in range(10, 80):
        heard.run(step * 0.1)
        said = heard.delivery.position(heard.now)
        if heard.player.utterance == said.utterance:
            errors.append(abs(said.position - heard.player.position) / 48)
    assert len(errors) > 60
    assert sorted(errors)[int(0.95 * len(errors))] < 12


def test_the_report_has_the_fate_of_every_message(ride: Any, link: Any) -> None:
    path = link(delay_ms=50, loss=0.2)
    heard = ride(path, link(delay_ms=50), starts=((0.0, 10.0),), reports=[]).run(14)
    masks = [lost for report in heard.reports for lost in report.lost_mask or ()]
    flow = heard.to.flow(14)
    assert len(masks) >= 0.95 * (heard.sent - heard.probes)
    assert sum(masks) / len(masks) == pytest.approx(flow.lost_packets / flow.offered_packets, abs=0.06)
    heard.delivery.report(99.0)
    assert heard.delivery.report(99.0) is None


def test_numbers_and_clocks_wrap(ride: Any, link: Any) -> None:
    path = link(delay_ms=50, loss=0.1)
    heard = ride(path, path, starts=((0.0, 80.0),), lead_s=3.0, first_number=65_400).run(82)
    assert heard.player.whole == [1]
    assert heard.player.starved_s == 0.0
    assert heard.player.concealed_late <= 0.001 * 80 * 48_000


def test_a_new_path_gets_everything_that_was_on_the_old_one(ride: Any, link: Any) -> None:
    def move(listener: Any) -> None:
        listener.to = type(listener.to)(link(delay_ms=20), start=listener.now)
        listener.fro = type(listener.fro)(link(delay_ms=20), start=listener.now)
        listener.delivery.moved(listener.now)

    heard = ride(link(delay_ms=50), link(delay_ms=50), starts=((0.0, 8.0),), lead_s=3.0, events={2.0: move}).run(10)
    assert heard.player.whole == [1]
    assert (heard.player.concealed, heard.player.starved_s) == (0, 0.0)


def test_a_path_that_others_know_to_be_lossy_gets_more_copies_from_the_first_message_on() -> None:
    def sent(loss: float | None) -> int:
        delivery = Delivery()
        if loss is not None:
            delivery.expect_loss(loss)
            assert delivery.loss == loss
        for number in range(3):
            delivery.add(frame(number))
        return sum(len(speech(delivery, now / 100)) for now in range(12))

    assert sent(None) == sent(0.02) == 2
    assert (sent(0.1), sent(0.2), sent(0.4)) == (3, 4, 5)
