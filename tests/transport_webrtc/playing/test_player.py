"""The player on given time: order, deadlines, epochs, ends, acknowledgements; by itself and behind a bad link."""

import random

import numpy as np
import pytest

from adaptive.codec.pcm import to_pcm16, to_ulaw
from adaptive.control.plan import Codec, Format
from adaptive.delivery import Ack, Delivery, Flush, Frame, PlayerState, SpeechMessage
from transport_webrtc.playing import Player

START = 100.0
FORM = Format(codec=Codec.PCM16, rate=48_000)
TICKS = 480
FADE = 240


def ramp(start: int, count: int) -> np.ndarray:
    """Samples that tell which tick they are."""
    return ((np.arange(start, start + count) % 30_000 + 1) / 32_768).astype(np.float32)


def frames(utterance: int, count: int, first: int = 0) -> list[Frame]:
    """Of PCM, 10 ms each; the last of them ends the utterance."""
    return [
        Frame(utterance, n * TICKS, TICKS, FORM, to_pcm16(ramp(n * TICKS, TICKS)), n == count - 1)
        for n in range(first, count)
    ]


class Server:
    """Sends messages of one frame each."""

    def __init__(self, player: Player) -> None:
        self.player, self.number, self.epoch, self.now = player, 0, 0, START

    def send(self, *sent: Frame, not_before: int | None = None, shuffled: int | None = None) -> None:
        """In that order; `shuffled` by the network, with a seed, where one is given."""
        messages = []
        for frame in sent:
            self.number += 1
            message = SpeechMessage(
                epoch=self.epoch,
                utterance=frame.utterance,
                number=self.number,
                position=frame.position,
                ticks=frame.ticks,
                format=frame.format,
                frames=(frame.payload,),
                last=frame.last,
                not_before=not_before,
            )
            messages.append(message.pack())
        if shuffled is not None:
            random.Random(shuffled).shuffle(messages)
        for data in messages:
            self.player.take(self.now, data)

    def flush(self) -> None:
        self.number += 1
        self.epoch += 1
        self.player.take(self.now, Flush(epoch=self.epoch, number=self.number).pack())

    def hear(self, seconds: float) -> np.ndarray:
        self.now += seconds
        return self.player.play(self.now)

    def told(self) -> Ack:
        ack = self.player.ack(self.now)
        assert ack is not None
        return Ack.unpack(ack)


@pytest.fixture
def server() -> Server:
    return Server(Player(START))


def test_an_utterance_in_any_order_sounds_as_it_was_and_ends(server: Server) -> None:
    server.send(*frames(0, 30), frames(0, 30)[3], shuffled=1)
    out = server.hear(0.5)
    assert np.array_equal(out[: 30 * TICKS], ramp(0, 30 * TICKS))
    assert not out[30 * TICKS :].any()
    assert server.player.state is PlayerState.EMPTY
    assert server.player.place == (0, 30 * TICKS)
    assert server.player.gaps == []
    assert server.player.late == 1


def test_it_begins_with_60_ms_in_one_piece_or_a_whole_utterance(server: Server) -> None:
    server.send(*frames(0, 30)[:5])
    assert not server.hear(0.1).any()
    assert server.told().state is PlayerState.FILLING
    server.send(frames(0, 30)[5])
    assert server.hear(0.02).all()
    server.flush()
    server.hear(0.1)
    server.send(*frames(1, 2))
    assert np.array_equal(server.hear(0.02), ramp(0, 2 * TICKS))


def test_a_short_gap_is_silence_for_its_time_between_two_fades(server: Server) -> None:
    all_of_it = frames(0, 30)
    server.send(*all_of_it[:10], *all_of_it[12:])
    out = server.hear(0.4)
    assert np.array_equal(out[: 10 * TICKS - FADE], ramp(0, 10 * TICKS - FADE))
    assert not out[10 * TICKS : 12 * TICKS].any()
    assert np.array_equal(out[12 * TICKS + FADE : 30 * TICKS], ramp(12 * TICKS + FADE, 18 * TICKS - FADE))
    faded = out[10 * TICKS - FADE : 10 * TICKS] / ramp(10 * TICKS - FADE, FADE)
    assert (np.diff(faded) < 0).all()
    assert [(gap.lost, gap.late) for gap in server.player.gaps] == [(2 * TICKS, 0)]
    assert server.player.gaps[0].at == pytest.approx(START + 0.1)


def test_a_long_gap_is_waited_for_and_nothing_is_skipped(server: Server) -> None:
    all_of_it = frames(0, 60)
    server.send(*all_of_it[:10], *all_of_it[30:])
    server.hear(0.5)
    assert server.player.state is PlayerState.STARVED
    ack = server.told()
    assert (ack.wanted_utterance, ack.wanted) == (0, 10 * TICKS)
    assert (ack.played_utterance, ack.played) == (0, 10 * TICKS)
    server.send(*all_of_it[10:30])
    out = server.hear(0.5)
    assert np.array_equal(out[FADE : 50 * TICKS], ramp(10 * TICKS + FADE, 50 * TICKS - FADE))
    (gap,) = server.player.gaps
    assert (gap.lost, gap.late) == (0, 40 * TICKS)


def test_a_flush_fades_within_5_ms_and_what_is_stale_never_sounds(server: Server) -> None:
    old = frames(0, 100)
    server.send(*old[:50])
    server.hear(0.2)
    server.flush()
    ack = server.told()
    assert (ack.epoch, ack.played_utterance) == (1, 0)
    assert ack.played == 20 * TICKS + FADE, "what fades is heard"
    server.epoch = 0
    server.send(*old[50:])
    out = server.hear(0.3)
    assert out[:FADE].any()
    assert not out[FADE:].any()
    assert server.player.stale == 50
    server.epoch = 1
    server.send(*frames(1, 20))
    assert np.array_equal(server.hear(0.2), ramp(0, 20 * TICKS))


def test_what_is_held_sounds_at_its_time_to_the_tick(server: Server) -> None:
    server.send(*frames(0, 10), not_before=round((START + 0.25) * 1000))
    out = server.hear(0.5)
    assert not out[: TICKS * 25].any()
    assert np.array_equal(out[TICKS * 25 : TICKS * 35], ramp(0, 10 * TICKS))


def test_utterances_follow_each_other_without_a_gap(server: Server) -> None:
    server.send(*frames(0, 10), *frames(1, 10), shuffled=3)
    out = server.hear(0.2)
    assert np.array_equal(out, np.tile(ramp(0, 10 * TICKS), 2))


def test_rubbish_is_counted_and_changes_nothing(server: Server) -> None:
    server.player.take(START, b"")
    server.player.take(START, bytes(200))
    server.send(*frames(0, 10))
    broken = Frame(0, 0, 960, Format(codec=Codec.OPUS, rate=48_000), b"\xff" * 7, True)
    server.flush()
    server.send(broken._replace(utterance=1))
    assert not server.hear(0.1).any()
    assert server.player.broken == 2
    assert server.player.place == (1, 960), "a frame that is no Opus is silence for its time"


def test_acknowledgements_say_what_came_soon_after_a_gap_and_seldom_without_news(server: Server) -> None:
    sent = frames(0, 400)
    server.send(*sent[:10])
    assert server.told().bitmap == (1 << 9) - 1
    assert server.player.ack(server.now) is None
    server.hear(0.01)
    assert server.told().state is PlayerState.PLAYING
    server.number += 1
    server.send(*sent[10:40])
    assert server.player.ack(server.now) is None
    server.hear(0.016)
    ack = server.told()
    assert ack.largest == 41
    assert ack.bitmap == (1 << 40) - 1 & ~(1 << 29)
    assert ack.arrival == round(START * 1000 + 10)
    assert ack.delay == pytest.approx(160, abs=1)
    assert server.player.messages.missing == 1
    server.hear(0.15)
    assert server.player.ack(server.now) is None
    server.hear(0.06)
    assert server.told().largest == 41


def test_where_messages_hold_much_speech_acknowledgements_are_rare(server: Server) -> None:
    silence = bytes((0xF8, 0xFF, 0xFE))
    for first in (0, 30):
        server.number += 1
        message = SpeechMessage(
            epoch=0,
            utterance=1,
            number=server.number,
            position=first * 960,
            ticks=960,
            format=Format(),
            frames=(silence,) * 30,
        )
        server.player.take(server.now, message.pack())
        server.hear(0.05)
        assert (server.player.ack(server.now) is None) is (first > 0), "another state is told at once"
    server.hear(0.06)
    assert server.player.ack(server.now) is None
    server.hear(0.05)
    assert server.told().largest == 2
    server.hear(0.45)
    assert server.player.ack(server.now) is None
    server.hear(0.06)
    assert server.told().state is PlayerState.PLAYING


@pytest.mark.parametrize(
    "form",
    [
        Format(codec=codec, rate=rate)
        for codec, rate in (
            (Codec.PCM16, 8_000),
            (Codec.PCM16, 16_000),
            (Codec.ULAW, 8_000),
            (Codec.PCM16, 24_000),
            (Codec.OPUS, 48_000),
        )
    ],
)
def test_every_format_keeps_pitch_and_place(form: Format) -> None:
    from adaptive.codec.carried import CarriedEncoder, Setting
    from adaptive.control.plan import Bandwidth

    wave = (0.3 * np.sin(2 * np.pi * 440 * np.arange(48_000) / 48_000)).astype(np.float32)
    ticks = 960 if form.codec is Codec.OPUS else 480
    encoder = CarriedEncoder(Setting(format=form, bitrate=32_000, bandwidth=Bandwidth.FB, ticks=ticks), complexity=5)
    encoder.restart(np.zeros(0, np.float32), utterance=0, position=0)
    sent = [*encoder.push(wave), *encoder.finish()]
    server = Server(Player(START))
    server.send(*sent)
    out = server.hear(1.2)
    lags = range(-12, 13) if form.codec is Codec.OPUS else (0,)
    errors = [np.sqrt(((out[2_000 + lag : 46_000 + lag] - wave[2_000:46_000]) ** 2).mean()) for lag in lags]
    assert min(errors) < 0.01
    assert not out[48_000 + ticks :].any()
    encoder.close()


@pytest.mark.parametrize("loss", [0.0, 0.1, 0.3])
def test_behind_a_bad_link_the_servers_delivery_and_this_player_lose_nothing(loss: float) -> None:
    rng, path_s = random.Random(7), 0.05
    delivery, player = Delivery(), Player(START)
    delivery.lead_limit_s = 3.0
    count, added = 600, 0
    ulaw, payload = Format(codec=Codec.ULAW, rate=8_000), to_ulaw(np.full(80, 0.5, np.float32))
    whole = [Frame(0, n * TICKS, TICKS, ulaw, payload, n == count - 1) for n in range(count)]
    wire: list[tuple[float, bool, bytes]] = []
    heard = []
    for step in range(2_000):
        now = START + step * 0.005
        for arrival, down, data in [one for one in wire if one[0] <= now]:
            wire.remove((arrival, down, data))
            if down:
                player.take(now, data)
            else:
                delivery.acked(now, Ack.unpack(data))
        heard.append(player.play(now))
        while added < count and delivery.room(now) > 0:
            delivery.add(whole[added])
            added += 1
        wire += [(now + path_s, True, data) for data in delivery.due(now) if rng.random() >= loss]
        if (ack := player.ack(now)) is not None and rng.random() >= loss:
            wire.append((now + path_s, False, ack))
        if player.state is PlayerState.EMPTY and player.place == (0, count * TICKS):
            break
    out = np.concatenate(heard)
    first = int(np.flatnonzero(out)[0])
    assert first < 0.5 * 48_000
    lost = sum(gap.lost for gap in player.gaps)
    assert lost <= 0.15 * 48_000
    assert not [gap for gap in player.gaps if gap.at > START + first / 48_000 + 0.4], "it was ahead from there on"
    assert player.place == (0, count * TICKS)
    assert len(np.flatnonzero(out)) + lost == pytest.approx(count * TICKS, abs=100)
