"""What the encoder is told is what packets say, from the next frame on, and a switch is not heard."""

import gc
import threading
from itertools import pairwise

import numpy as np
import pytest

from adaptive.codec import Mode, OpusDecoder, OpusEncoder, OpusError, describe
from adaptive.control.plan import Bandwidth

FB, SWB, WB, NB = Bandwidth.FB, Bandwidth.SWB, Bandwidth.WB, Bandwidth.NB


def encode(speech, encoder, frame_ms, start_s=0.0, end_s=6.0):
    """Packets of a stretch of speech, whole frames only."""
    size = frame_ms * 48
    return [
        encoder.encode(speech[at : at + size])
        for at in range(round(start_s * 48_000), round(end_s * 48_000) - size + 1, size)
    ]


def rate_of(packets) -> float:
    """Bit/s of payload."""
    return sum(map(len, packets)) * 8000 / sum(describe(p).duration_ms for p in packets)


def decode(packets):
    decoder = OpusDecoder()
    return np.concatenate([decoder.decode(p, round(describe(p).duration_ms * 48)) for p in packets])


@pytest.mark.parametrize(
    ("bitrate", "bandwidth", "frame_ms", "mode"),
    [
        (12_000, WB, 60, Mode.SILK),
        (12_000, WB, 40, Mode.SILK),
        (16_000, WB, 20, Mode.SILK),
        (24_000, FB, 20, Mode.HYBRID),
        (24_000, SWB, 40, Mode.HYBRID),
        (32_000, FB, 20, Mode.HYBRID),
        (48_000, FB, 60, Mode.HYBRID),
    ],
)
def test_every_packet_has_the_bandwidth_and_length_asked_for(speech, bitrate, bandwidth, frame_ms, mode) -> None:
    encoder = OpusEncoder()
    encoder.configure(bitrate=bitrate, bandwidth=bandwidth, complexity=5)
    packets = encode(speech, encoder, frame_ms)
    assert {(i.mode, i.bandwidth, i.duration_ms) for i in map(describe, packets)} == {(mode, bandwidth, frame_ms)}
    assert rate_of(packets) <= bitrate * 1.02


def test_bitrate_follows_within_two_frames(speech) -> None:
    encoder = OpusEncoder()
    encoder.configure(bitrate=48_000, bandwidth=FB)
    high = encode(speech, encoder, 20, 0, 2)
    encoder.configure(bitrate=16_000)
    low = encode(speech, encoder, 20, 2, 4)
    encoder.configure(bitrate=48_000)
    again = encode(speech, encoder, 20, 4, 6)
    assert max(map(len, low[2:])) < min(map(len, high[10:]))
    assert min(map(len, again[2:])) > max(map(len, low[2:]))


def test_bandwidth_narrows_at_once_and_widens_within_half_a_second(speech) -> None:
    encoder = OpusEncoder()
    encoder.configure(bitrate=32_000, bandwidth=FB)
    encode(speech, encoder, 20, 0, 2)
    encoder.configure(bandwidth=WB)
    narrowed = [describe(p).bandwidth for p in encode(speech, encoder, 20, 2, 4)]
    encoder.configure(bandwidth=FB)
    widened = [describe(p).bandwidth for p in encode(speech, encoder, 20, 4, 6)]
    assert set(narrowed[1:]) == {WB}
    assert set(widened[25:]) == {FB}


def test_fec_puts_copies_into_packets_and_only_when_it_is_on(speech) -> None:
    encoder = OpusEncoder()
    encoder.configure(bitrate=32_000, bandwidth=FB, fec=False, loss_hint=10)
    assert not any(describe(p).fec for p in encode(speech, encoder, 20, 0, 2))
    encoder.configure(fec=True)
    protected = [describe(p) for p in encode(speech, encoder, 20, 2, 4)]
    assert sum(i.fec for i in protected) > len(protected) / 2
    assert {i.bandwidth for i in protected[2:]} == {FB}
    encoder.configure(fec=False, loss_hint=0)
    assert not any(describe(p).fec for p in encode(speech, encoder, 20, 4, 6)[1:])


def test_a_lost_packet_comes_back_better_from_the_copy_than_from_concealment(speech) -> None:
    encoder = OpusEncoder()
    encoder.configure(bitrate=32_000, bandwidth=WB, fec=True, loss_hint=20)
    packets = encode(speech, encoder, 20)
    whole = decode(packets)
    errors = {"fec": 0.0, "plc": 0.0}
    for way in errors:
        decoder = OpusDecoder()
        for n, packet in enumerate(packets[:-1]):
            if n % 8 != 5:
                decoder.decode(packet, 960)
                continue
            guess = decoder.decode_fec(packets[n + 1], 960) if way == "fec" else decoder.decode(None, 960)
            assert len(guess) == 960
            errors[way] += float(np.sum((guess - whole[n * 960 : (n + 1) * 960]) ** 2))
    assert errors["fec"] < errors["plc"] / 2


def test_dtx_stops_sending_in_silence() -> None:
    encoder = OpusEncoder()
    encoder.configure(bitrate=16_000, bandwidth=WB, dtx=True)
    silence = np.zeros(960, np.float32)
    sizes = [len(encoder.encode(silence)) for _ in range(100)]
    assert min(sizes[50:]) <= 2
    encoder.configure(dtx=False)
    assert min(len(encoder.encode(silence)) for _ in range(50)) > 2


def test_frame_lengths_change_on_one_encoder_without_a_jump(speech) -> None:
    encoder = OpusEncoder()
    encoder.configure(bitrate=24_000, bandwidth=WB)
    steady = decode(encode(speech, encoder, 20))
    other = OpusEncoder()
    other.configure(bitrate=24_000, bandwidth=WB)
    switched = decode(
        [
            p
            for ms, start in ((20, 0.0), (60, 1.2), (40, 2.4), (20, 3.6))
            for p in encode(speech, other, ms, start, start + 1.2)
        ]
    )
    source = speech[: len(switched) - encoder.lookahead]
    heard, calm = switched[encoder.lookahead :], steady[encoder.lookahead : len(switched)]

    def snr(samples, start, end) -> float:
        part = source[start:end]
        return 10 * np.log10(np.sum(part**2) / np.sum((samples[start:end] - part) ** 2))

    for at in (1.2, 2.4, 3.6):
        around = round((at - 0.1) * 48_000), round((at + 0.1) * 48_000)
        assert snr(heard, *around) > snr(calm, *around) - 3


def test_a_rung_switch_jumps_no_more_than_the_rungs_themselves(speech) -> None:
    def rung(encoder, n):
        bitrate, bandwidth, ms = ((32_000, FB, 20), (12_000, WB, 60))[n]
        encoder.configure(bitrate=bitrate, bandwidth=bandwidth)
        return ms

    unswitched = []
    for n in (0, 1):
        encoder = OpusEncoder()
        unswitched.append(decode(encode(speech, encoder, rung(encoder, n))))
    encoder = OpusEncoder()
    times = [0.0, 0.96, 2.04, 3.0, 4.08, 4.98]
    packets = []
    for n, (start, end) in enumerate(pairwise(times)):
        packets += encode(speech, encoder, rung(encoder, n % 2), start, end)
    switched = decode(packets)
    for at in times[1:-1]:
        window = slice(round((at - 0.01) * 48_000), round((at + 0.03) * 48_000))
        jump = [float(np.max(np.abs(np.diff(s[window])))) for s in (switched, *unswitched)]
        assert jump[0] <= 1.25 * max(jump[1:])


def test_lookahead_is_the_lag_of_what_is_decoded(speech) -> None:
    encoder = OpusEncoder()
    encoder.configure(bitrate=64_000, bandwidth=FB)
    heard = decode(encode(speech, encoder, 20))
    lag = int(np.argmax(np.correlate(heard[24_000:48_000], speech[24_000:46_000], "valid")))
    assert abs(lag - encoder.lookahead) <= 12  # a quarter of a millisecond: the high-pass filter turns the phase


@pytest.mark.parametrize("rate", [8_000, 16_000, 24_000, 48_000])
def test_every_wire_rate_makes_packets(rate) -> None:
    encoder, decoder = OpusEncoder(rate), OpusDecoder(rate)
    assert encoder.rate == rate
    assert len(decoder.decode(encoder.encode(np.zeros(rate // 50, np.float32)), rate // 50)) == rate // 50


def test_bad_input_is_refused_in_words_and_the_encoder_lives_on() -> None:
    encoder = OpusEncoder()
    with pytest.raises(OpusError, match=r"961 samples at 48000 Hz.*invalid argument") as caught:
        encoder.encode(np.zeros(961, np.float32))
    assert caught.value.code == -1
    with pytest.raises(ValueError, match="shape"):
        encoder.encode(np.zeros((2, 480), np.float32))
    with pytest.raises(OpusError, match="refused"):
        encoder.configure(bitrate=-5)
    with pytest.raises(OpusError, match="44100 Hz"):
        OpusEncoder(44_100)
    assert encoder.encode(np.zeros(960, np.float32))


def test_what_is_not_a_packet_is_refused() -> None:
    decoder = OpusDecoder()
    with pytest.raises(OpusError, match=r"corrupted|invalid"):
        decoder.decode(b"\x03", 960)
    with pytest.raises(ValueError, match="at least one byte"):
        decoder.decode(b"", 960)
    with pytest.raises(ValueError, match="not 0"):
        decoder.decode(None, 0)
    assert len(decoder.decode(None, 960)) == 960


def test_closed_is_closed_and_closing_twice_is_nothing() -> None:
    encoder, decoder = OpusEncoder(), OpusDecoder()
    for thing in (encoder, decoder):
        thing.close()
        thing.close()
    with pytest.raises(ValueError, match="encoder is closed"):
        encoder.encode(np.zeros(960, np.float32))
    with pytest.raises(ValueError, match="encoder is closed"):
        encoder.configure(bitrate=20_000)
    with pytest.raises(ValueError, match="decoder is closed"):
        decoder.decode(None, 960)


def test_closing_from_another_thread_while_encoding_is_safe() -> None:
    for _ in range(20):
        encoder, started, closed = OpusEncoder(), threading.Event(), []

        def work(encoder=encoder, started=started, closed=closed) -> None:
            frame = np.zeros(2880, np.float32)
            try:
                while True:
                    encoder.encode(frame)
                    started.set()
            except ValueError:
                closed.append(True)

        thread = threading.Thread(target=work)
        thread.start()
        assert started.wait(5)
        encoder.close()
        thread.join(5)
        assert closed == [True]


def test_what_is_forgotten_is_freed() -> None:
    encoder = OpusEncoder()
    freed = encoder._state._destroy
    assert freed.alive
    del encoder
    gc.collect()
    assert not freed.alive
