"""The player in a real Chromium, fed with messages as the server writes them; what it renders is judged exactly."""

import base64
import functools
import http.server
import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from adaptive.codec.carried import CarriedEncoder, Setting
from adaptive.codec.opus import OpusDecoder, OpusEncoder
from adaptive.control.plan import Codec, Format
from adaptive.delivery import Delivery, Frame
from adaptive.delivery.wire import RATES, Ack, Flush, PlayerState, SpeechMessage
from transport_webrtc.app import PAGE
from transport_webrtc.playing.decoding import Decoding
from transport_webrtc.playing.place import Place
from transport_webrtc.playing.sequence import Turn

pytestmark = pytest.mark.browser

HERE = Path(__file__).parent
OPUS = Format(codec=Codec.OPUS, rate=48_000)
PCM = Format(codec=Codec.PCM16, rate=48_000)
MS = 48
SETTLED = 1000 * MS
"""From here on a listener is ahead: nothing is missed any more."""

Samples = NDArray[np.float32]


class Pages(http.server.SimpleHTTPRequestHandler):
    """The page's own files, a blank page and the lab's script."""

    def do_GET(self) -> None:
        content = {"/blank": b"<!doctype html>", "/lab.js": (HERE / "player.js").read_bytes()}.get(self.path)
        if content is None:
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if self.path.endswith(".js") else "text/html")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None: ...


@dataclass(kw_only=True)
class Sender:
    """Writes messages with fresh numbers."""

    epoch: int = 0
    number: int = 0

    def speech(
        self, utterance: int, position: int, *frames: bytes, ticks: int = 480, form: Format = PCM, **more: Any
    ) -> str:
        self.number += 1
        message = SpeechMessage(
            epoch=self.epoch,
            utterance=utterance,
            number=self.number,
            position=position,
            ticks=ticks,
            format=form,
            frames=frames,
            **more,
        )
        return base64.b64encode(message.pack()).decode()

    def whole(self, utterance: int, frames: list[bytes], *, ticks: int = 480, **more: Any) -> list[str]:
        """A whole utterance, a frame a message."""
        return [
            self.speech(utterance, i * ticks, frame, ticks=ticks, last=i == len(frames) - 1, **more)
            for i, frame in enumerate(frames)
        ]

    def flush(self) -> str:
        self.epoch += 1
        self.number += 1
        return base64.b64encode(Flush(epoch=self.epoch, number=self.number).pack()).decode()


@dataclass(kw_only=True)
class Lab:
    """A player and what came out of it so far."""

    page: Any
    begin: int = 0
    samples: Samples = field(default_factory=lambda: np.zeros(0, np.float32))

    def take(self, *messages: str) -> int:
        return self.page.evaluate("messages => lab.take(messages)", list(messages))

    def hear(self, seconds: float) -> Samples:
        """All that has sounded, after so much more was rendered."""
        wanted = len(self.samples) + max(1, round(seconds * 48_000))
        while len(self.samples) < wanted:
            self.page.wait_for_timeout(50)
            frame, text = self.page.evaluate("lab.heard()")
            if len(self.samples) == 0:
                self.begin = frame
            self.samples = np.concatenate([self.samples, np.frombuffer(base64.b64decode(text), np.float32)])
        return self.samples

    def acks(self) -> list[Ack]:
        return [Ack.unpack(base64.b64decode(text)) for _, text in self.page.evaluate("lab.acks")]

    def soon(self) -> int:
        """A time to begin at, so that all is decoded by then on a busy machine, too."""
        return round(self.page.evaluate("performance.now()")) + 500

    def exchange(self, messages: list[str]) -> list[Ack]:
        """Hands messages over; the acknowledgements made since the last time."""
        acks = self.page.evaluate(
            "messages => (lab.take(messages), lab.acks.splice(0).map(([, ack]) => ack))", messages
        )
        return [Ack.unpack(base64.b64decode(text)) for text in acks]

    def stats(self) -> dict[str, Any]:
        return self.page.evaluate("lab.player.stats()")


@pytest.fixture(scope="session")
def pages() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Pages, directory=str(PAGE))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def lab(pages: str, browsers: Callable[[str], Any]) -> Iterator[Lab]:
    context = browsers("no-user-gesture-required").new_context()
    page = context.new_page()
    page.goto(f"{pages}/blank")
    page.evaluate("async () => { await import('/lab.js'); await lab.ready; }")
    yield Lab(page=page)
    assert page.evaluate("lab.failures") == []
    context.close()


def voice(ticks: int, *, seed: int = 1) -> Samples:
    """Something like a voice: harmonics that glide; nowhere exactly silent."""
    t = np.arange(ticks) / 48_000
    pitch = 2 * np.pi * (120 * t + 6 * np.sin(2 * np.pi * 2.3 * t + seed))
    return (sum(np.sin(k * pitch + k) / k for k in range(1, 12)) * 0.2 + 0.01).astype(np.float32)


def to_pcm16(samples: Samples) -> NDArray[np.int16]:
    return np.round(samples * 32767).astype("<i2")


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[i : i + size] for i in range(0, len(data), size)]


def opus(samples: Samples, ticks: int) -> tuple[list[bytes], Samples]:
    """Frames, and what libopus makes of them."""
    encoder, decoder = OpusEncoder(), OpusDecoder()
    encoder.configure(bitrate=32_000)
    frames = [encoder.encode(samples[i : i + ticks]) for i in range(0, len(samples), ticks)]
    return frames, np.concatenate([decoder.decode(frame, ticks) for frame in frames])


def found(heard: Samples, said: Samples, *, within: float = 0.0) -> int:
    """Where exactly `said` lies in what was heard."""
    probe = said[:2000]
    for start in np.flatnonzero(np.abs(heard[: len(heard) - len(said) + 1] - said[0]) <= within):
        if np.max(np.abs(heard[start : start + 2000] - probe)) <= within:
            worst = np.max(np.abs(heard[start : start + len(said)] - said))
            assert worst <= within, f"off by {worst} later on"
            return int(start)
    pytest.fail("It was not heard.")


def test_pcm16_sounds_as_it_was_sent(lab: Lab) -> None:
    said = to_pcm16(voice(24_000))
    lab.take(*Sender().whole(1, cut(said.tobytes(), 960)))
    heard = lab.hear(0.8)
    start = found(heard, said.astype(np.float32) / 32768)
    assert not heard[:start].any()
    assert not heard[start + len(said) :].any()
    last = lab.acks()[-1]
    assert (last.played_utterance, last.played, last.largest, last.bitmap) == (1, 24_000, 50, (1 << 49) - 1)
    assert last.state is PlayerState.EMPTY


@pytest.mark.parametrize("rate", RATES)
def test_mu_law_and_pcm16_at_every_rate_keep_each_sample(lab: Lab, rate: int) -> None:
    said = to_pcm16(voice(19_200)[:: 48_000 // rate])
    size = rate // 100
    codes = np.random.default_rng(rate).integers(0, 256, len(said)).astype(np.uint8)
    sender = Sender()
    lab.take(*sender.whole(1, cut(said.tobytes(), 2 * size), form=Format(codec=Codec.PCM16, rate=rate)))
    lab.take(*sender.whole(2, cut(codes.tobytes(), size), form=Format(codec=Codec.ULAW, rate=rate)))
    heard = lab.hear(1.2)
    start = int(np.flatnonzero(heard)[0])
    step = 48_000 // rate
    np.testing.assert_array_equal(heard[start : start + 19_200 : step], said.astype(np.float32) / 32768)
    np.testing.assert_array_equal(heard[start + 19_200 : start + 38_400 : step], from_mu_law(codes))


def from_mu_law(codes: NDArray[np.uint8]) -> Samples:
    """ITU-T G.711, by its segments."""
    bits = ~codes
    size = (((bits & 15).astype(np.int32) << 3) + 132 << ((bits >> 4) & 7)) - 132
    return np.where(codes & 128, size, -size).astype(np.float32) / 32768


@pytest.mark.parametrize("ticks", [960, 2880])
def test_opus_sounds_as_libopus_decodes_it(lab: Lab, ticks: int) -> None:
    frames, expected = opus(voice(57_600), ticks)
    lab.take(*Sender().whole(1, frames, ticks=ticks, form=OPUS, not_before=lab.soon()))
    heard = lab.hear(2)
    begin = int(np.flatnonzero(expected)[0])
    found(heard, expected[begin:], within=1e-6)


def test_formats_change_in_the_midst_at_the_very_tick(lab: Lab) -> None:
    said = voice(28_800)
    pcm = to_pcm16(said)
    frames, _ = opus(said, 960)
    sender, soon = Sender(), lab.soon()
    first = [sender.speech(1, i, pcm[i : i + 480].tobytes(), not_before=soon) for i in range(0, 9600, 480)]
    lab.take(*first, *(sender.speech(1, i * 960, frames[i], ticks=960, form=OPUS, last=i == 29) for i in range(10, 30)))
    heard = lab.hear(1.5)
    start = found(heard, pcm[:9600].astype(np.float32) / 32768)
    fresh = OpusDecoder()
    expected = np.concatenate([fresh.decode(frame, 960) for frame in frames[10:]])
    np.testing.assert_allclose(heard[start + 9600 : start + 28_800], expected, atol=1e-6)
    assert lab.stats()["concealed_ticks"] == 0


def test_a_codec_that_takes_over_has_run_in(lab: Lab) -> None:
    """As the native player hears it, which is judged elsewhere."""
    said = voice(28_800)
    encoder = CarriedEncoder(Setting(format=replace(PCM, rate=24_000)))
    frames = encoder.push(said[:9600])
    encoder.set(Setting())
    frames += [*encoder.push(said[9600:]), *encoder.finish()]
    encoder.close()
    sender, soon = Sender(), lab.soon()
    whole = [
        sender.speech(1, f.position, f.payload, ticks=f.ticks, form=f.format, last=f.last, not_before=soon)
        for f in frames
    ]
    lab.take(*whole)
    heard = lab.hear(1.5)
    decoding, blocks = Decoding(), []
    for frame in frames:
        blocks += decoding.push(Turn(place=Place(0, frame.position), frame=frame, end=frame.last))
    decoding.close()
    expected = np.concatenate([block.samples for block in blocks])
    begin = int(np.flatnonzero(expected)[0])
    found(heard, expected[begin:], within=2e-3)
    assert lab.stats()["concealed_ticks"] == 0


def test_a_lost_frame_is_silence_for_its_time_and_the_rest_is_in_time(lab: Lab) -> None:
    said = to_pcm16(voice(24_000))
    messages = Sender().whole(1, cut(said.tobytes(), 960))
    lab.take(*messages[:20], *messages[21:])
    heard = lab.hear(0.9)
    expected = said.astype(np.float32) / 32768
    start = found(heard, expected[: 9600 - 240])
    assert not heard[start + 9600 : start + 10_080].any()
    np.testing.assert_array_equal(heard[start + 10_080 + 241 : start + 24_000], expected[10_080 + 241 :])
    assert lab.stats()["concealed_ticks"] == 480
    assert (1, 9600) in {(ack.wanted_utterance, ack.wanted) for ack in lab.acks()}


def test_a_frame_that_comes_again_in_time_is_not_missed(lab: Lab) -> None:
    said = to_pcm16(voice(24_000))
    sender = Sender()
    frames = cut(said.tobytes(), 960)
    messages = sender.whole(1, frames)
    lab.take(*messages[:30], *messages[31:])
    lab.take(sender.speech(1, 30 * 480, frames[30]))
    found(lab.hear(0.8), said.astype(np.float32) / 32768)
    assert lab.stats()["concealed_ticks"] == 0


def test_what_runs_dry_goes_on_at_the_very_tick(lab: Lab) -> None:
    said = to_pcm16(voice(24_000))
    messages = Sender().whole(1, cut(said.tobytes(), 960))
    lab.take(*messages[:20])
    lab.hear(0.6)
    assert lab.stats()["state"] == "starved"
    assert [ack.state for ack in lab.acks()].count(PlayerState.STARVED) >= 2, "every 100 ms while starved"
    lab.take(*messages[20:])
    heard = lab.hear(0.6)
    expected = said.astype(np.float32) / 32768
    start = found(heard, expected[: 9600 - 240])
    again = start + 9600 + int(np.flatnonzero(heard[start + 9600 :])[0])
    np.testing.assert_array_equal(heard[again + 241 : again + 14_400], expected[9600 + 241 :])
    stats = lab.stats()
    assert stats["concealed_ticks"] == 0
    assert stats["starved_s"] == pytest.approx((again - start - 9600) / 48_000, abs=0.001)


def test_a_flush_is_silence_within_10_ms_and_the_next_epoch_sounds_at_once(lab: Lab) -> None:
    sender = Sender()
    took = []
    for utterance in range(1, 6):
        frames = cut(to_pcm16(voice(48_000)).tobytes(), 960)
        lab.take(*sender.whole(utterance, frames))
        lab.hear(0.3)
        stale = sender.speech(utterance, 48_000, frames[0])
        at = lab.take(sender.flush(), stale)
        heard = lab.hear(0.2)
        took.append(int(np.flatnonzero(heard)[-1]) + 1 + lab.begin - at)
        ack = lab.acks()[-1]
        assert (ack.epoch, ack.played_utterance) == (sender.epoch, utterance)
        assert 0 < ack.played < 48_000
        rest = heard[at - lab.begin + 480 :]
        assert np.max(np.abs(np.diff(rest))) < 0.05
    assert min(took) <= 10 * MS, took
    assert lab.stats()["buffered_ms"] == 0
    frames, expected = opus(voice(9600), 960)
    lab.take(*sender.whole(6, frames, ticks=960, form=OPUS, not_before=lab.soon()))
    found(lab.hear(1), expected[int(np.flatnonzero(expected)[0]) :], within=1e-6)


def test_utterances_follow_each_other_without_a_gap_whatever_order_they_arrive_in(lab: Lab) -> None:
    said = [to_pcm16(voice(9600, seed=seed)) for seed in range(3)]
    sender = Sender()
    first, second, third = (sender.whole(number, cut(samples.tobytes(), 960)) for number, samples in enumerate(said, 1))
    lab.take(*first, *third[::-1], *second[::-1])
    found(lab.hear(1), np.concatenate(said).astype(np.float32) / 32768)


def test_an_utterance_does_not_begin_before_its_time(lab: Lab) -> None:
    said = to_pcm16(voice(9600))
    frames = cut(said.tobytes(), 960)
    time = round(lab.page.evaluate("performance.now()")) + 700
    lab.take(*Sender().whole(1, frames, not_before=time))
    heard = lab.hear(1.4)
    start = found(heard, said.astype(np.float32) / 32768) + lab.begin
    asked = lab.page.evaluate(f"lab.frameAt({time})")
    assert -2 * MS <= start - asked <= 12 * MS
    assert lab.stats()["place"] == {"utterance": 1, "position": 9600}
    assert lab.stats()["played"] == 9600


def test_what_it_says_of_itself_is_what_happens(lab: Lab) -> None:
    frames = cut(to_pcm16(voice(96_000)).tobytes(), 960)
    lab.take(*Sender().whole(1, frames))
    lab.hear(1.2)
    acks = [ack for ack in lab.acks() if ack.state is PlayerState.PLAYING][1:]
    assert len(acks) >= 4
    assert {(ack.wanted_utterance, ack.wanted) for ack in acks} == {(1, 96_000)}
    for ack in acks:
        assert ack.buffered == pytest.approx(2000 - ack.played / MS, abs=1.5)
    assert np.median(np.diff([ack.arrival + ack.delay / 10 for ack in acks])) == pytest.approx(200, abs=40)
    assert np.median(np.diff([ack.played / MS for ack in acks])) == pytest.approx(200, abs=40)


@pytest.mark.parametrize(("loss", "outage"), [(0.2, (0.0, 0.0)), (0.05, (5.0, 7.0))])
def test_what_delivery_sends_over_a_bad_path_sounds_whole(lab: Lab, loss: float, outage: tuple[float, float]) -> None:
    """The server's own sender, 50 ms away; `outage` is the time in s while nothing comes through."""
    codes = np.random.default_rng(1).integers(0, 256, 9 * 8000).astype(np.uint8)
    mu_law = Format(codec=Codec.ULAW, rate=8_000)
    frames = cut(codes.tobytes(), 80)
    waiting = [Frame(1, i * 480, 480, mu_law, frame, i == len(frames) - 1) for i, frame in enumerate(frames)]
    delivery, chance = Delivery(), random.Random(1)
    down: list[tuple[float, str]] = []
    up: list[tuple[float, Ack]] = []
    begin = time.monotonic()
    while (now := time.monotonic()) < begin + 10:
        while waiting and delivery.room(now) > 0:
            delivery.add(waiting.pop(0))
        passes = not outage[0] <= now - begin < outage[1]
        down += [
            (now + 0.05, base64.b64encode(data).decode())
            for data in delivery.due(now)
            if passes and chance.random() >= loss
        ]
        acks = lab.exchange([data for at, data in down if at <= now])
        down = [entry for entry in down if entry[0] > now]
        up += [(now + 0.05, ack) for ack in acks if passes and chance.random() >= loss]
        for at, ack in up:
            if at <= now:
                delivery.acked(now, ack)
        up = [entry for entry in up if entry[0] > now]
        lab.page.wait_for_timeout(5)
    heard = lab.hear(0)
    start = int(np.flatnonzero(heard)[-1]) + 1 - 9 * 48_000
    np.testing.assert_array_equal(heard[start + SETTLED : start + 9 * 48_000 : 6], from_mu_law(codes)[SETTLED // 6 :])
    assert lab.stats()["concealed_ticks"] <= 200 * MS
    heard_out = delivery.position(time.monotonic())
    assert heard_out is not None
    assert heard_out.position == 9 * 48_000
