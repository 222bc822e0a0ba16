"""A player whose clock runs fast, slow or by leaps, for a day: the server's delivery follows it, and nothing else does.

A day is simulated sparsely: between stretches of speech both sides are idle, and steps are long; or the sound card
drifts in minutes of speech as far as it would in a day.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from adaptive.codec.pcm import from_ulaw, to_ulaw
from adaptive.control.plan import Codec, Format
from adaptive.delivery import Ack, Delivery, Frame, PlayerState
from adaptive.ticks import TICK_RATE, to_ticks
from transport_webrtc.playing import Player

Clock = Callable[[float], float]

DAY_S = 86_400.0
START = 1_000.0
PATH_S = 0.05
LEAD_S = 3.0
ULAW = Format(codec=Codec.ULAW, rate=8_000)
TICKS = 960
STEP_S, IDLE_S = 0.04, 10.0
ON_TIME_S = 0.011
"""What 300 ppm are in the half minute over which a delay is remembered, and 2 ms of rounding."""
LONG = pytest.mark.long


@dataclass
class Both:
    """A server's delivery and a player behind a path of 50 ms; `clock` is the player's at a time of the server's, and
    `sound` that of its sound card."""

    clock: Clock
    sound: Clock
    now: float = START
    delivery: Delivery = field(default_factory=lambda: Delivery(lead_limit_s=LEAD_S))
    utterance: int = 0
    """The last one said."""
    levels: list[float] = field(default_factory=list)
    """Speech that the player has, s, after each step."""

    def __post_init__(self) -> None:
        self.player = Player(self.sound(self.now))
        self._wire: list[tuple[float, int, bool, bytes]] = []
        self._count = 0
        self._frames: list[Frame] = []
        self.delivery.flush(self.now)

    def say(self, seconds: float, *, after_s: float = 0.0) -> np.ndarray:
        """Gives a text of so much speech to the delivery, not to sound before `after_s`; returns its samples, 8 kHz."""
        self.utterance += 1
        count = round(seconds * TICK_RATE / TICKS)
        wave = 0.3 * np.cos(np.arange(count * 160) * 0.3)
        data = to_ulaw(wave.astype(np.float32))
        self._frames += [
            Frame(self.utterance, n * TICKS, TICKS, ULAW, data[n * 160 : n * 160 + 160], n == count - 1)
            for n in range(count)
        ]
        if after_s:
            client_ms = self.delivery.client_ms(self.now + after_s)
            assert client_ms is not None
            self.delivery.held(self.utterance, client_ms)
        return from_ulaw(data)

    def run(self, seconds: float, step_s: float) -> np.ndarray:
        """Time passes; what came out, nothing of it where steps are long."""
        out, until = [], self.now + seconds
        while self.now < until - 1e-9:
            then = self.now + step_s
            while self._wire and self._wire[0][0] <= then:
                at, _, down, data = heapq.heappop(self._wire)
                self._arrive(at, down, data)
            self.now = then
            if step_s >= 1.0:
                self.player._out = to_ticks(self.sound(then) - self.player.start)  # of nothing but silence
            else:
                out.append(self.player.play(self.sound(then)))
            self._look()
        return np.concatenate(out) if out else np.zeros(0, np.float32)

    def _arrive(self, at: float, down: bool, data: bytes) -> None:
        self.now = at
        if down:
            self.player.take(self.clock(at), data)
            self._answer()
        else:
            self.delivery.acked(at, Ack.unpack(data))
            self._send()

    def _look(self) -> None:
        self._answer()
        self._send()
        self.levels.append(self.player.buffered_s)

    def _answer(self) -> None:
        if (ack := self.player.ack(self.clock(self.now))) is not None:
            self._travel(False, ack)

    def _send(self) -> None:
        while self._frames and self.delivery.room(self.now) > 0:
            self.delivery.add(self._frames.pop(0))
        for data in self.delivery.due(self.now):
            self._travel(True, data)

    def _travel(self, down: bool, data: bytes) -> None:
        self._count += 1
        heapq.heappush(self._wire, (self.now + PATH_S, self._count, down, data))


def spoken(out: np.ndarray, wave: np.ndarray) -> float:
    """Seconds into `out` at which `wave` begins; every sample of it follows, none stretched, left out or made up."""
    begins = int(np.argmax(np.abs(out) > 1e-4))
    np.testing.assert_allclose(out[begins:][: len(wave) * 6 : 6], wave, atol=1e-6)
    return begins / TICK_RATE


@pytest.mark.parametrize("ppm", [100, *(pytest.param(ppm, marks=LONG) for ppm in (-100, 300, -300))])
def test_a_days_drift_in_minutes_of_speech_neither_fills_nor_empties_the_buffer(ppm: int) -> None:
    """26 s of it at 300 ppm. Every sample comes out as it was: no pitch changes, no step is made."""
    speech_s = 0.6 * abs(ppm)
    rate = 1 + np.sign(ppm) * 100e-6 * DAY_S / 60
    both = Both(lambda now: 5.0 + now, lambda now: 5.0 + rate * now)
    both.run(1.0, STEP_S)
    wave = both.say(speech_s)
    out = [both.run(LEAD_S + 2.0, STEP_S)]
    begun = len(both.levels)
    out.append(both.run((speech_s - 3 * LEAD_S) / rate - LEAD_S, STEP_S))
    levels = np.array(both.levels[begun:])
    out.append(both.run(6 * LEAD_S, STEP_S))
    assert both.player.gaps == []
    spoken(np.concatenate(out), wave)
    print(f"{ppm:+d} ppm: {levels.min():.2f} to {levels.max():.2f} s in the buffer")
    assert levels.min() > LEAD_S - 1.0
    assert levels.max() < LEAD_S + 0.2
    assert abs(np.mean(levels[-500:]) - np.mean(levels[:500])) < 0.05


def leaps(now: float) -> float:
    """Stands still for half of the third hour, as in a machine that sleeps, and goes 20 s at once in the eleventh."""
    hours = (now - START) / 3600
    asleep = min(max(hours - 2.25, 0.0), 0.5)
    return now + 77.0 - asleep * 3600 + (20.0 if hours > 10.5 else 0.0)


CLOCKS = {
    "+300 ppm": lambda now: 5.0 + now * (1 + 300e-6),
    "-300 ppm": lambda now: 5.0 + now * (1 - 300e-6),
    "leaps": leaps,
}


@pytest.mark.parametrize(("clock", "hours"), [("leaps", 8), *(pytest.param(name, 1, marks=LONG) for name in CLOCKS)])
def test_for_a_day_speech_begins_on_time_and_the_buffer_holds_the_lead(clock: str, hours: int) -> None:
    both = Both(CLOCKS[clock], CLOCKS[clock])
    both.run(1.0, STEP_S)
    levels = []
    for _ in range(24 // hours):
        both.run(hours * 3600.0, IDLE_S)
        both.run(1.0, STEP_S)
        asked, first = both.now, len(both.levels)
        wave = both.say(LEAD_S + 1.0, after_s=1.0)
        out = both.run(LEAD_S + 3.0, STEP_S)
        begun_s = spoken(out, wave)
        assert begun_s == pytest.approx(1.0, abs=ON_TIME_S), f"{(asked - START) / 3600:.0f} h"
        assert both.player.gaps == []
        assert both.player.state is PlayerState.EMPTY
        levels.append(max(both.levels[first:]))
    print(f"{clock}: {min(levels):.2f} to {max(levels):.2f} s in the buffer at most")
    assert max(levels) - min(levels) < 0.1
