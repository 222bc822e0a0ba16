"""Pings and answers on virtual time."""

import json

import pytest

from adaptive.control.reports import Source
from transport_webrtc.feedback.exchange import Exchange

OVERHEAD = 66


def pinged(exchange: Exchange, now: float) -> int:
    message = exchange.ping(now, every_s=0.25)
    assert message is not None
    number: int = json.loads(message)["p"]
    return number


def answer(number: int, counters: list[float] | None = None, held_ms: float = 0.0) -> str:
    return json.dumps({"p": number, "t": 0, "h": held_ms, "s": counters})


def counters(*, received=0, lost=0, concealed=0, total=0, buffer_ms=0, emitted=0, octets=0, silent=0) -> list[float]:
    return [received, lost, 1500, concealed, total, buffer_ms, emitted, octets, silent]


@pytest.mark.parametrize(("every_s", "expected"), [(0.25, 40), (0.5, 20), (1.0, 10)])
def test_rate_of_pings(every_s: float, expected: int) -> None:
    exchange = Exchange(overhead=OVERHEAD)
    sent = sum(exchange.ping(step / 10, every_s=every_s) is not None for step in range(100))
    assert abs(sent - expected) <= 1


def test_a_stalled_loop_sends_no_burst() -> None:
    exchange = Exchange(overhead=OVERHEAD)
    pinged(exchange, 0.0)
    pinged(exchange, 10.0)
    assert exchange.ping(10.05, every_s=0.25) is None


def test_round_trip_without_the_time_it_was_held() -> None:
    exchange = Exchange(overhead=OVERHEAD)
    reports = exchange.answer(5.18, answer(pinged(exchange, 5.0), held_ms=30), sent_rate=60_000)
    assert reports is not None
    network, heard = reports
    assert network.source is Source.FEEDBACK
    assert network.rtt_s == pytest.approx(0.15)
    assert network.queue_delay_s == 0
    assert network.sent_rate == 60_000
    assert network.loss is None
    assert heard is None


def test_the_servers_own_clock_counts() -> None:
    exchange = Exchange(overhead=OVERHEAD)
    number = pinged(exchange, 5.0)
    reports = exchange.answer(5.1, json.dumps({"p": number, "t": -1e9}), sent_rate=None)
    assert reports is not None
    assert reports[0].rtt_s == pytest.approx(0.1)


def test_queue_is_what_comes_on_top_of_the_lowest() -> None:
    exchange = Exchange(overhead=OVERHEAD)
    delays = []
    for step, rtt in enumerate([0.12, 0.10, 0.30, 0.15]):
        reports = exchange.answer(step + rtt, answer(pinged(exchange, step)), sent_rate=None)
        assert reports is not None
        delays.append(reports[0].queue_delay_s)
    assert delays == pytest.approx([0, 0, 0.2, 0.05])
    late = exchange.answer(40 + 0.3, answer(pinged(exchange, 40)), sent_rate=None)
    assert late is not None
    assert late[0].queue_delay_s == 0, "the path may have changed for good: half a minute is remembered"


def test_counters_are_read_as_differences() -> None:
    exchange = Exchange(overhead=OVERHEAD)
    first = counters(received=1000, lost=5, concealed=900, total=100_000, buffer_ms=1e6, emitted=50_000, octets=80_000)
    assert exchange.answer(0.1, answer(pinged(exchange, 0.0), first), sent_rate=None)
    second = counters(
        received=1045,
        lost=10,
        concealed=900 + 2400,
        silent=1200,
        total=148_000,
        buffer_ms=1e6 + 48_000 * 70,
        emitted=98_000,
        octets=80_000 + 45 * 80,
    )
    reports = exchange.answer(1.1, answer(pinged(exchange, 1.0), second), sent_rate=None)
    assert reports is not None
    network, heard = reports
    assert network.loss == pytest.approx(0.1)
    assert network.packets == 50
    assert network.jitter_s == pytest.approx(0.0015)
    assert network.received_rate == pytest.approx(8 * 45 * (80 + OVERHEAD))
    assert heard is not None
    assert heard.concealed == pytest.approx(1200 / 48_000), "silence that is made up is not speech that was missed"
    assert heard.buffered_s == pytest.approx(0.07)


def test_late_packets_make_no_negative_loss() -> None:
    exchange = Exchange(overhead=OVERHEAD)
    exchange.answer(0.1, answer(pinged(exchange, 0), counters(received=100, lost=10)), sent_rate=None)
    reports = exchange.answer(1.1, answer(pinged(exchange, 1), counters(received=150, lost=7)), sent_rate=None)
    assert reports is not None
    assert reports[0].loss == 0


def test_a_receiver_that_begins_anew_and_old_answers_show_no_counts() -> None:
    exchange = Exchange(overhead=OVERHEAD)
    old, new = pinged(exchange, 0), pinged(exchange, 1)
    exchange.answer(1.1, answer(new, counters(received=100)), sent_rate=None)
    overtaken = exchange.answer(1.2, answer(old, counters(received=80)), sent_rate=None)
    restarted = exchange.answer(2.1, answer(pinged(exchange, 2), counters(received=3)), sent_rate=None)
    for reports in (overtaken, restarted):
        assert reports is not None
        assert reports[0].loss is None
        assert reports[0].rtt_s is not None


def test_silence_is_told_while_it_lasts() -> None:
    exchange = Exchange(overhead=OVERHEAD)
    exchange.answer(0.1, answer(pinged(exchange, 0.0)), sent_rate=None)
    lost = pinged(exchange, 0.25)
    assert exchange.silence(1.0) is None
    report = exchange.silence(1.3)
    assert report is not None
    assert report.loss is None
    assert report.rtt_s is None
    exchange.answer(1.4, answer(pinged(exchange, 1.35)), sent_rate=None)
    assert exchange.silence(1.5) is None, f"ping {lost} alone was lost, which is no outage"


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "{",
        "[]",
        "null",
        b"\xff\x00\xfe",
        '{"p": 1.5}',
        '{"p": true}',
        '{"p": 99}',
        '{"p": 1, "h": "x"}',
        '{"p": 1, "h": -1}',
        '{"p": 1, "h": 1e400}',
        '{"p": 1, "s": [1]}',
        '{"p": 1, "s": [1,2,3,4,5,6,7,8,NaN]}',
        '{"p": 1, "s": [1,2,3,4,5,6,7,8,1' + "0" * 400 + "]}",
        '{"p": 1, "s": {"a": 1}}',
        "[" * 900,
        '{"p": 1, "x": "' + "y" * 2000 + '"}',
    ],
)
def test_what_is_no_answer_changes_nothing(raw: str | bytes) -> None:
    exchange = Exchange(overhead=OVERHEAD)
    number = pinged(exchange, 0.0)
    assert exchange.answer(0.1, raw, sent_rate=None) is None
    assert exchange.broken == 1
    assert exchange.answer(0.2, answer(number), sent_rate=None) is not None
    assert exchange.answer(0.3, answer(number), sent_rate=None) is None, "an answer counts once"


def test_a_wish_is_in_every_ping_until_one_of_them_is_answered() -> None:
    exchange = Exchange(overhead=66)
    assert "jbt" not in json.loads(exchange.ping(10.0, every_s=1.0) or "")
    exchange.wish(250)
    pings = [json.loads(exchange.ping(at, every_s=1.0) or "") for at in (10.1, 11.2)]
    assert [ping["jbt"] for ping in pings] == [250, 250], "at once, and again"
    assert exchange.answer(11.3, json.dumps({"p": 1, "h": 0}), sent_rate=None) is not None
    assert json.loads(exchange.ping(12.2, every_s=1.0) or "")["jbt"] == 250, "the answered ping did not carry it"
    assert exchange.answer(12.3, json.dumps({"p": 3, "h": 0}), sent_rate=None) is not None
    assert "jbt" not in json.loads(exchange.ping(13.3, every_s=1.0) or "")


ABSURD = (0.5, 1e300, 2**60, float("nan"), float("inf"))
WHOLE = [0, 0, 0.0, 0, 0, 0.0, 0, 0, 0]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        *(
            (place, value)
            for place in (0, 1, 3, 4, 6, 7, 8)
            for value in (0.5, 1e300, 2**60, float("nan"), float("inf"))
        ),
        *((place, -1) for place in (0, 2, 3, 4, 5, 6, 7, 8)),
        (6, 5e-324),
        (5, 1e17),
        (1, -(2**50)),
        (2, True),
    ],
)
def test_counters_that_none_can_have_are_refused(place: int, value: float) -> None:
    exchange = Exchange(overhead=OVERHEAD)
    number = pinged(exchange, 1.0)
    counted = [*WHOLE[:place], value, *WHOLE[place + 1 :]]
    assert exchange.answer(1.1, answer(number, counted), sent_rate=None) is None
    assert exchange.broken == 1


@pytest.mark.parametrize(
    "second",
    [
        [100, 2**47, 2**47, 2**47, 2**47, 2**47, 1, 2**47, 2**47],
        [2**47, 0, 0, 0, 2**47, 2**47, 2**47, 2**47, 0],
        [1, -5, 0.5, 2**47, 1, 0.25, 1, 2**47, 0],
    ],
)
def test_what_is_believed_is_bounded(second: list[float]) -> None:
    """Counters may say anything; what is made of them stays what a network and a receiver can be."""
    exchange = Exchange(overhead=OVERHEAD)
    exchange.answer(1.1, answer(pinged(exchange, 1.0), WHOLE), sent_rate=None)
    reports = exchange.answer(2.1, answer(pinged(exchange, 2.0), second), sent_rate=None)
    assert reports is not None
    network, heard = reports
    assert heard is not None
    assert network.packets is None or network.packets <= 3000
    assert network.loss is None or 0 <= network.loss <= 1
    assert network.received_rate is None or 0 <= network.received_rate <= 2_000_000
    assert network.jitter_s is not None
    assert 0 <= network.jitter_s <= 10
    assert heard.buffered_s is not None
    assert 0 <= heard.buffered_s <= 10
    assert heard.concealed is not None
    assert 0 <= heard.concealed <= 1


def test_a_ping_cannot_have_been_held_longer_than_it_was_away() -> None:
    exchange = Exchange(overhead=OVERHEAD)
    assert exchange.answer(1.1, answer(pinged(exchange, 1.0), held_ms=1000), sent_rate=None) is None
    assert exchange.answer(2.1, answer(pinged(exchange, 2.0), held_ms=101), sent_rate=None) is not None
