"""Speech sent ahead on virtual time: the real controller, encoder, delivery and player over the lab's link.

What `legato simulate` is for the audio track, with real sound: what the player plays can be judged and listened to.
The same scenario, seed, speech and controller give the same samples.
"""

from dataclasses import dataclass

import numpy as np

from adaptive.codec.carried import CarriedEncoder, Setting
from adaptive.control.base import Controller
from adaptive.control.plan import Carrier, Plan
from adaptive.control.profiles import Profile
from adaptive.control.reports import ComputeReport, ContentReport, HeardReport
from adaptive.delivery import Ack, Delivery
from adaptive.speech.voice import Samples
from adaptive.ticks import TICK_RATE, to_seconds
from quality.lab.both_ways import BothWays
from quality.lab.scenarios import LEAD_IN_S, Scenario

from ..playing import Player

WRAPPING_BYTES = 93
"""Around a message: IP and UDP 28, DTLS 37, SCTP 28 (measured)."""
START_S = 100.0
"""When the speech is handed over, on the virtual clock."""
STEP_S = 0.01
PLAN_STEPS = 10
"""Between two plans, and between two looks."""
BLOCK = TICK_RATE // 10
"""Ticks of speech given to the encoder at once."""
DRAIN_S = 30.0
"""After the last word so long is listened at most."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """The state of things at one instant."""

    at_s: float
    """Since the speech was handed over."""
    lead_s: float
    """Speech that the player had beyond what it had played."""
    heard_s: float
    """Speech that had come out."""
    state: str
    """Of the player."""
    plan: Plan
    capacity_kbps: float | None
    """None is unlimited."""
    sent_bits: int
    """On the wire to the listener, since the look before."""


@dataclass(frozen=True, kw_only=True)
class Ride:
    """What came of it."""

    looks: tuple[Look, ...]
    heard: Samples
    """48 kHz, from the moment the speech was handed over."""
    gaps: tuple[tuple[float, float], ...]
    """(second, seconds) in which nothing sounded in the midst of the speech, none of them the speech's own pauses."""
    first_s: float | None
    """When it began to sound."""

    @property
    def silence_s(self) -> float:
        """Of all gaps."""
        return sum(seconds for _, seconds in self.gaps)


def ride(scenario: Scenario, controller: Controller, speech: Samples, *, profile: Profile, seed: int = 0) -> Ride:
    """Sends `speech` (float32 `[n]`, 48 kHz), all of it rendered already, and listens until it has come out.

    The connection stands for as long as scenarios are bad before the speech. `controller` is a fresh one.
    """
    under_way = _Ride(scenario, controller, speech, profile=profile, seed=seed)
    try:
        return under_way.run()
    finally:
        under_way.close()


class _Ride:
    """One ride under way."""

    def __init__(
        self, scenario: Scenario, controller: Controller, speech: Samples, *, profile: Profile, seed: int
    ) -> None:
        opened = START_S - LEAD_IN_S
        self._ways: BothWays[bytes, bytes] = BothWays(scenario, seed=seed, lead_s=LEAD_IN_S, start=opened)
        self._controller, self._speech = controller, speech
        self._delivery, self._encoder = Delivery(lead_limit_s=profile.lead_s), CarriedEncoder(Setting())
        self._player = Player(START_S)
        self._encoder.restart(speech[:0], utterance=1, position=0)
        self._next = self._bits = 0
        self._blocks: list[Samples] = []
        self._looks: list[Look] = []
        self._first_s: float | None = None
        controller.on_compute(ComputeReport(at=opened, tiers=("full",)))
        controller.on_carrier(Carrier.DATA)
        self._plan = controller.plan(opened)
        self._delivery.flush(opened)  # its answer is the first that is known of the path

    def run(self) -> Ride:
        """To the last word, or for as long as is listened."""
        most_s = to_seconds(len(self._speech)) + DRAIN_S
        for number in range(-round(LEAD_IN_S / STEP_S), round(most_s / STEP_S)):
            at_s = number * STEP_S
            now, look = START_S + at_s, number % PLAN_STEPS == 0
            while self._ways.next_change_s <= at_s + 1e-9:
                self._ways.change(now)
            self._ways.carry(now, at_listener=self._player.take, at_server=self._acked)
            if look:
                self._decide(now, sounding=number >= 0)
            self._send(now, speaking=number >= 0)
            self._listen(now, speaking=number >= 0)
            if look and number >= 0:
                self._look(at_s, now)
            if self._player.spoken_s >= to_seconds(len(self._speech)) - STEP_S:
                break
        gaps = tuple((gap.at - START_S, to_seconds(gap.ticks)) for gap in self._player.gaps)
        heard = np.concatenate(self._blocks)
        return Ride(looks=tuple(self._looks), heard=heard, gaps=gaps, first_s=self._first_s)

    def close(self) -> None:
        """Frees the codecs."""
        self._encoder.close()
        self._player.close()

    def _acked(self, now: float, answer: bytes) -> None:
        self._delivery.acked(now, Ack.unpack(answer))

    def _decide(self, now: float, *, sounding: bool) -> None:
        report = self._delivery.report(now)
        if report is not None:
            self._controller.on_network(report)
        self._controller.on_content(ContentReport(at=now, sounding=sounding and self._next < len(self._speech)))
        self._controller.on_heard(HeardReport(at=now, buffered_s=self._delivery.lead_s(now)))
        self._plan = plan = self._controller.plan(now)
        rung = plan.rung
        self._encoder.set(
            Setting(format=plan.format, bitrate=rung.bitrate, bandwidth=rung.bandwidth, ticks=rung.frame_ms * 48)
        )

    def _send(self, now: float, *, speaking: bool) -> None:
        while True:
            messages = self._delivery.due(now)
            for message in messages:
                size = len(message) + WRAPPING_BYTES
                self._bits += 8 * size
                self._ways.down.offer(now, size, message)
            taken = speaking and self._take(now)
            if not messages and not taken:
                return

    def _take(self, now: float) -> bool:
        """Some speech, if it is wanted and there; whether there was."""
        if self._next >= len(self._speech) or self._delivery.room(now) <= 0:
            return False
        block = self._speech[self._next : self._next + BLOCK]
        self._next += len(block)
        frames = self._encoder.push(block)
        if self._next >= len(self._speech):
            frames = [*frames, *self._encoder.finish()]
        for frame in frames:
            self._delivery.add(frame)
        return True

    def _listen(self, now: float, *, speaking: bool) -> None:
        if speaking:
            self._blocks.append(self._player.play(now))
            if self._first_s is None and self._player.spoken_s:
                self._first_s = now - START_S
        answer = self._player.ack(now)
        if answer is not None:
            self._ways.up.offer(now, len(answer) + WRAPPING_BYTES, answer)

    def _look(self, at_s: float, now: float) -> None:
        rate = self._ways.down.flow(now).capacity_kbps
        self._looks.append(
            Look(
                at_s=round(at_s, 3),
                lead_s=self._player.buffered_s,
                heard_s=self._player.spoken_s,
                state=self._player.state.name.lower(),
                plan=self._plan,
                capacity_kbps=rate,
                sent_bits=self._bits,
            )
        )
        self._bits = 0
