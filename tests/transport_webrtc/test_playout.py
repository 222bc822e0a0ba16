"""The playout against an encoder, on virtual time: each packet is encoded, delayed or lost as the case wants it."""

from collections.abc import Callable, Iterable

import numpy as np
import pytest

from adaptive.codec import OpusEncoder
from adaptive.control.plan import Bandwidth
from transport_webrtc.playout import Playout
from transport_webrtc.receive_counters import Extender

FRAME = 960
Packet = tuple[float, int, int, bytes]
"""Sending time, sequence number, timestamp, payload."""


def tone(
    seconds: float,
    *,
    first_sequence: int = 65_530,
    first_timestamp: int = 2**32 - 4800,
    fec: bool = False,
    quiet: slice | None = None,
) -> list[Packet]:
    """A 440 Hz tone of amplitude .3 in 20 ms packets, whose numbers soon wrap; silent in the frames `quiet`."""
    encoder = OpusEncoder()
    encoder.configure(bitrate=32_000, bandwidth=Bandwidth.WB, fec=fec, loss_hint=20 if fec else 0)
    samples = (0.3 * np.sin(2 * np.pi * 440 * np.arange(round(seconds * 48_000)) / 48_000)).astype(np.float32)
    frames = samples.reshape(-1, FRAME)
    if quiet is not None:
        frames[quiet] = 0
    return [
        (n * 0.02, (first_sequence + n) % 2**16, (first_timestamp + n * FRAME) % 2**32, encoder.encode(frame))
        for n, frame in enumerate(frames)
    ]


def hear(
    packets: Iterable[Packet], arrival: Callable[[int, float], float | None], *, until: float, delay_s: float = 0.06
) -> tuple[Playout, np.ndarray]:
    """Plays what arrives (at `arrival(n, sent)`, None for never), asked every 10 ms."""
    playout = Playout(start=0.0, delay_s=delay_s)
    arriving = sorted((at, n, p) for n, p in enumerate(packets) if (at := arrival(n, p[0])) is not None)
    heard, now = [], 0.0
    while now < until:
        now += 0.01
        while arriving and arriving[0][0] <= now:
            at, _, (_, sequence, timestamp, payload) = arriving.pop(0)
            playout.arrived(at, sequence, timestamp, payload)
        heard.append(playout.play(now))
    playout.close()
    return playout, np.concatenate(heard)


def loud(samples: np.ndarray) -> np.ndarray:
    """Numbers of the 10 ms blocks in which the tone sounds."""
    blocks = samples[: len(samples) // 480 * 480].reshape(-1, 480)
    return np.flatnonzero(np.sqrt((blocks**2).mean(axis=1)) > 0.05)


def test_a_clean_stream_comes_out_whole_after_the_delay() -> None:
    playout, heard = hear(tone(2.0), lambda _, sent: 0.5 + sent + 0.03, until=3.0)
    assert len(heard) == pytest.approx(3.0 * 48_000, abs=FRAME)
    sounding = loud(heard)
    assert 59 <= sounding[0] <= 60, "sent at .5, .03 on its way, .06 held"
    assert len(sounding) == sounding[-1] - sounding[0] + 1 == pytest.approx(200, abs=2)
    counters = playout.counters
    assert (counters.received, counters.lost, counters.concealed, counters.discarded) == (100, 0, 0, 0)
    assert counters.emitted == 96_000
    assert counters.waited_ms / counters.emitted == pytest.approx(60, abs=11)
    spectrum = np.abs(np.fft.rfft(heard[60 * 480 : 250 * 480] * np.hanning(190 * 480)))
    assert np.argmax(spectrum) * 48_000 / (190 * 480) == pytest.approx(440, abs=1)


def test_a_lost_packet_is_concealed_and_the_rest_keeps_its_time() -> None:
    playout, heard = hear(tone(1.0), lambda n, sent: None if n in (20, 30, 31) else sent + 0.01, until=1.5)
    assert playout.counters.lost == 3
    assert playout.counters.concealed == 3 * FRAME
    assert [(gap.ticks, gap.lost, gap.late) for gap in playout.gaps[1:]] == [
        (FRAME, FRAME, 0),
        (2 * FRAME, 2 * FRAME, 0),
    ]
    assert loud(heard)[-1] == pytest.approx(106, abs=2)


def test_a_copy_inside_the_next_packet_repairs_a_loss() -> None:
    playout, heard = hear(tone(1.0, fec=True), lambda n, sent: None if n in (20, 30) else sent + 0.01, until=1.5)
    assert (playout.counters.lost, playout.counters.concealed, playout.counters.repaired) == (2, 0, 2 * FRAME)
    assert len(playout.gaps) == 1, "the hold before the first sample"
    sounding = loud(heard)
    assert len(sounding) == sounding[-1] - sounding[0] + 1


def test_what_is_late_is_waited_for_and_played() -> None:
    """A stall of .3 s at the tenth packet: nothing is lost, the speech goes on later."""
    playout, heard = hear(tone(1.0), lambda n, sent: sent if n < 10 else max(sent, 0.5), until=2.0)
    assert playout.counters.lost == playout.counters.discarded == 0
    assert playout.gaps[1].late / 48_000 == pytest.approx(0.24, abs=0.02)
    assert playout.counters.concealed == playout.gaps[1].late
    assert playout.counters.silent > 0
    assert len(loud(heard)) == pytest.approx(100, abs=3)


def test_packets_that_overtake_each_other_are_put_in_order() -> None:
    playout, _ = hear(tone(1.0), lambda n, sent: sent + (0.045 if n % 5 == 2 else 0.01), until=1.5)
    assert (playout.counters.lost, playout.counters.concealed, playout.counters.discarded) == (0, 0, 0)


def test_a_packet_that_comes_after_its_time_or_twice_is_discarded() -> None:
    packets = tone(1.0)
    playout, _ = hear([*packets, packets[40]], lambda n, sent: 0.9 if n == 20 else sent + 0.01, until=1.5)
    assert (playout.counters.discarded, playout.counters.received, playout.counters.lost) == (2, 51, -1)
    assert playout.counters.concealed == FRAME


def test_a_pause_of_the_sender_is_neither_lost_nor_concealed() -> None:
    """As between utterances: consecutive numbers, a step in the timestamps."""
    packets = tone(1.0)
    paused = [
        (sent + (0.5 if n >= 25 else 0), seq, (ts + (24_000 if n >= 25 else 0)) % 2**32, data)
        for n, (sent, seq, ts, data) in enumerate(packets)
    ]
    playout, heard = hear(paused, lambda _, sent: sent + 0.01, until=2.0)
    assert (playout.counters.concealed, playout.counters.lost) == (0, 0)
    assert [(gap.lost, gap.late) for gap in playout.gaps] == [(0, 0), (0, 0)]
    assert playout.gaps[1].ticks == pytest.approx(24_000, abs=FRAME)
    assert playout.gaps[1].end - playout.gaps[1].at == pytest.approx(0.5, abs=0.02)
    assert len(loud(heard)) == pytest.approx(100, abs=3)


def test_after_a_stall_quiet_frames_are_left_out_until_the_delay_is_back() -> None:
    packets = tone(4.5, quiet=slice(150, 190))
    playout, heard = hear(packets, lambda n, sent: sent if n < 10 else max(sent, 0.6), until=6.0)
    assert playout.counters.skipped / 48_000 == pytest.approx(0.3, abs=0.08)
    assert loud(heard)[-1] == pytest.approx(450 + 40 - playout.counters.skipped / 480, abs=8)


def test_in_quiet_speech_the_delay_grows_to_what_was_asked() -> None:
    playout = Playout(start=0.0, delay_s=0.06)
    heard = []
    for n, (sent, sequence, timestamp, payload) in enumerate(tone(2.0, quiet=slice(50, 60))):
        if n == 20:
            playout.delay_s = 0.2
        playout.arrived(sent, sequence, timestamp, payload)
        heard.append(playout.play(sent + 0.02))
    heard.append(playout.play(2.5))
    sounding = loud(np.concatenate(heard))
    assert sounding[-1] - sounding[0] + 1 == pytest.approx(200 + 14, abs=3)
    assert (playout.counters.concealed, playout.counters.skipped) == (0, 0)


def test_in_a_pause_the_delay_follows_what_was_asked() -> None:
    packets = tone(1.0)
    paused = [
        (sent + (0.5 if n >= 25 else 0), seq, (ts + (24_000 if n >= 25 else 0)) % 2**32, data)
        for n, (sent, seq, ts, data) in enumerate(packets)
    ]
    playout = Playout(start=0.0, delay_s=0.06)
    heard = []
    for step in range(200):
        now = step * 0.01
        if step == 60:
            playout.delay_s = 0.2
        for sent, sequence, timestamp, payload in paused:
            if now - 0.01 < sent <= now:
                playout.arrived(now, sequence, timestamp, payload)
        heard.append(playout.play(now))
    assert playout.gaps[1].ticks / 48_000 == pytest.approx(0.5 + 0.14, abs=0.03)


def test_what_is_no_opus_packet_is_passed_over() -> None:
    packets = tone(0.4)
    packets[5] = (*packets[5][:3], b"\xff\xff\xff\xff\xff")
    packets[7] = (*packets[7][:3], b"")
    playout, _ = hear(packets, lambda _, sent: sent + 0.01, until=0.6)
    assert playout.counters.discarded == 2


def test_numbers_are_extended_over_their_wrap() -> None:
    extender = Extender(16)
    first = extender.extend(65_534)
    assert [extender.extend(n) - first for n in (65_535, 0, 1, 65_533, 2)] == [1, 2, 3, -1, 4]


def test_jitter_is_that_of_rfc_3550() -> None:
    playout, _ = hear(tone(4.0), lambda n, sent: sent + (0.02 if n % 2 else 0.0), until=4.5)
    assert playout.counters.jitter_s == pytest.approx(0.02, rel=0.05)


def test_another_stream_is_played_on_the_same_clock_and_the_counts_go_on() -> None:
    """As over another connection: sequence numbers and timestamps begin anywhere."""
    playout, heard = Playout(start=0.0), []
    streams = [(0.5, tone(1.0)), (2.5, tone(1.0, first_sequence=7, first_timestamp=123))]
    for number, (begun, packets) in enumerate(streams):
        if number:
            heard.append(playout.play(begun - 0.5))
            playout.restart()
        for n, (sent, sequence, timestamp, payload) in enumerate(packets):
            heard.append(playout.play(begun + sent))
            if n != 20:
                playout.arrived(begun + sent, sequence, timestamp, payload)
    heard.append(playout.play(4.0))
    playout.close()
    sounding = loud(np.concatenate(heard))
    for begun, _ in streams:
        own = sounding[(sounding >= begun * 100) & (sounding < begun * 100 + 150)]
        assert own[0] == pytest.approx((begun + 0.06) * 100, abs=1)
        assert len(own) == pytest.approx(100, abs=4), "all of it but for what was lost"
    counters = playout.counters
    assert (counters.received, counters.lost, counters.discarded) == (98, 2, 0)
    assert counters.concealed == 2 * FRAME
