"""A whole ride on virtual time: an encoder that follows the controller, `Delivery`, a link each way, and a player that
does what the browser's does, sound card aside."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from adaptive.control.ahead import AheadRung
from adaptive.control.plan import Format
from adaptive.control.reports import HeardReport, NetworkReport
from adaptive.delivery import Ack, Delivery, Flush, Frame, PlayerState
from adaptive.delivery.answering import GAP_S, LONG_TICKS, PLENTY_S, TIMERS_S, news_s, period_s
from adaptive.delivery.wire import unpack
from adaptive.ticks import TICK_RATE
from quality.lab.link import Link
from quality.lab.settings import LinkSettings

COST = 93
SACK_S, NARROW_SACK_S = 0.15, 0.8
STEP_S = 0.005
START_TICKS = 2880
CLOCK_MS = 4_294_900_000
"""The client's clock at time 0: it wraps after 67 s."""


@dataclass
class ModelPlayer:
    """Plays on a clock of 5 ms."""

    epoch: int = 0
    state: PlayerState = PlayerState.EMPTY
    utterance: int | None = None
    position: int = 0
    concealed: int = 0
    concealed_late: int = 0
    """Ticks after the first 300 ms of an utterance."""
    first_sound: float | None = None
    starved_at: list[float] = field(default_factory=list)
    """Every 5 ms of it."""
    concealed_by: dict[int, int] = field(default_factory=dict)
    sounded: dict[int, float] = field(default_factory=dict)
    whole: list[int] = field(default_factory=list)
    stale: int = 0
    _frames: dict[int, dict[int, int]] = field(default_factory=dict)
    _ends: dict[int, int] = field(default_factory=dict)
    _numbers: set[int] = field(default_factory=set)
    _largest: int = 0
    _arrival: float = 0.0
    _acked_at: float = -9.0
    _fresh: bool = False
    _rare: bool = False
    _gap_at: float | None = None
    _done: int = -1
    _until: int = 0
    _played: tuple[int, int] = (0, 0)

    @property
    def starved_s(self) -> float:
        """Silence in the middle of an utterance, since it began to sound."""
        return STEP_S * len(self.starved_at)

    def starved_after(self, at: float) -> float:
        """The same from `at` on."""
        return STEP_S * sum(when >= at for when in self.starved_at)

    def take(self, now: float, data: bytes) -> None:
        message = unpack(data)
        newer = 0 < (message.epoch - self.epoch) % 0x10000 < 0x8000
        if newer:
            self.epoch, self.utterance, self.state = message.epoch, None, PlayerState.EMPTY
            self._frames.clear()
            self._ends.clear()
        number = self._largest + (message.number - self._largest + 0x8000) % 0x10000 - 0x8000
        if number > self._largest:
            if number > self._largest + 1:
                self._gap_at = now
            self._largest, self._arrival = number, now
        self._numbers.add(number)
        self._fresh = True
        if isinstance(message, Flush):
            self._acked_at = -9.0
            return
        if message.epoch != self.epoch:
            self.stale += 1
            return
        if message.utterance <= self._done:
            return
        self._rare = len(message.frames) * message.ticks >= LONG_TICKS
        frames = self._frames.setdefault(message.utterance, {})
        for index, _ in enumerate(message.frames):
            frames[message.position + index * message.ticks] = message.ticks
        if message.last:
            self._ends[message.utterance] = message.position + len(message.frames) * message.ticks

    def buffered(self) -> int:
        """Ticks in a row after the position."""
        if self.utterance is None:
            return 0
        frames = self._frames[self.utterance]
        while (ticks := frames.get(self._until)) is not None:
            self._until += ticks
        return max(0, self._until - self.position)

    def play(self, now: float) -> None:
        """Another 5 ms."""
        if self.utterance is None:
            self.utterance = min(self._frames, default=None)
            if self.utterance is None:
                return
            self.position = self._until = min(self._frames[self.utterance])
            self.state = PlayerState.FILLING
        ready, end = self.buffered(), self._ends.get(self.utterance)
        if self.state is not PlayerState.PLAYING:
            if ready < START_TICKS and (end is None or self.position + ready < end):
                if self.state is PlayerState.STARVED:
                    self.starved_at.append(now)
                return
            if self.first_sound is None:
                self.first_sound = now
            self.sounded.setdefault(self.utterance, now)
            self.state = PlayerState.PLAYING
        step = round(STEP_S * TICK_RATE)
        if ready >= step or (end is not None and self.position + ready >= end):
            self.position += min(ready, step)
        elif max(self._frames[self.utterance]) > self.position:
            self.concealed += step
            self.concealed_by[self.utterance] = self.concealed_by.get(self.utterance, 0) + step
            self.concealed_late += step if self.position > 14_400 else 0
            self.position += step
            self._until = max(self._until, self.position)
        else:
            self.state = PlayerState.STARVED
        if end is not None and self.position >= end:
            self.whole.append(self.utterance)
            self._done = self.utterance
            del self._frames[self.utterance]
            self._played, self.utterance, self.state = (self.utterance, self.position), None, PlayerState.EMPTY

    def ack(self, now: float) -> Ack | None:
        since = now - self._acked_at
        gap = self._gap_at is not None and now - self._gap_at >= GAP_S
        plenty = self.buffered() >= PLENTY_S * TICK_RATE
        late = since >= period_s(self.state, self._rare or plenty) + TIMERS_S
        if not (self._fresh and since >= news_s(self._rare)) and not gap and not late:
            return None
        self._acked_at, self._fresh, self._gap_at = now, False, None
        at = self._played if self.utterance is None else (self.utterance, self.position)
        ready = self.buffered()
        return Ack(
            epoch=self.epoch,
            largest=self._largest % 0x10000,
            bitmap=sum(1 << bit for bit in range(64) if self._largest - 1 - bit in self._numbers),
            arrival=Ride.clock_ms(self._arrival),
            delay=min(0xFFFF, round((now - self._arrival) * 10_000)),
            wanted_utterance=at[0],
            wanted=at[1] + ready,
            played_utterance=at[0],
            played=at[1],
            buffered=min(0xFFFF, ready // 48),
            state=self.state,
        )


@dataclass
class Ride:
    """One listener over two links. Text is spoken from `starts`: (second, length in seconds)."""

    down: LinkSettings
    up: LinkSettings
    starts: tuple[tuple[float, float], ...] = ((0.0, 12.0),)
    lead_s: float = 6.0
    seed: int = 1
    events: dict[float, Callable[["Ride"], None]] = field(default_factory=dict)
    reports: list[NetworkReport] = field(default_factory=list)
    first_number: int = 0
    beside: tuple[float, int] | None = None
    """Other packets to the listener: every so many seconds so many bytes."""

    def __post_init__(self) -> None:
        self.delivery = Delivery(lead_limit_s=self.lead_s)
        self.delivery._sending.sent._number = self.first_number
        self.player = ModelPlayer()
        self.to: Link[bytes] = Link(self.down, seed=self.seed, start=0.0)
        self.fro: Link[bytes] = Link(self.up, seed=self.seed + 1000, start=0.0)
        self.control = AheadRung()
        self.now = 0.0
        self.queue: list[list[int]] = []
        """Utterances waiting: number, next tick, end."""
        self.rungs: list[tuple[float, int, float]] = []
        """When, kbit/s, lead."""
        self.decided = -1.0
        self.pending = list(self.starts)
        self.coming = sorted(self.events.items())
        self.sent = self.sent_bytes = self.calls = self.spoken = 0
        self.encoded: dict[int, int] = {}
        self.sack_at = self.answered_at = self.beside_at = 0.0
        self.probes = 0

    @staticmethod
    def clock_ms(at: float) -> int:
        """The client's clock."""
        return (CLOCK_MS + round(at * 1000)) % 2**32

    def fill(self) -> None:
        while self.queue and (room := self.delivery.room(self.now)) > 0:
            while room > 0 and self.queue:
                entry = self.queue[0]
                number, at, end = entry
                rung = self.control.rung
                ticks = rung.frame_ms * 48
                self.encoded[rung.bitrate] = self.encoded.get(rung.bitrate, 0) + ticks
                size = rung.bitrate * rung.frame_ms // 8000
                last = at + ticks >= end
                self.delivery.add(Frame(number, at, ticks, Format(), bytes(size), last))
                entry[1] += ticks
                room -= ticks
                if last:
                    self.queue.pop(0)
            self.send()
        self.send()

    def send(self) -> None:
        for data in self.delivery.due(self.now):
            self.probes += isinstance(unpack(data), Flush)
            self.sent += 1
            self.sent_bytes += len(data) + COST
            self.to.offer(self.now, len(data) + COST, data)

    def run(self, until: float) -> "Ride":
        """Steps of 5 ms for the player, and when the links or the delivery say."""
        for tick in (step * STEP_S for step in range(round(self.now / STEP_S) + 1, round(until / STEP_S) + 1)):
            while (at := self._next(tick)) is not None:
                assert self.calls < 1000 * (2 + until), "It is asked again and again for nothing."
                self.now = max(self.now, at)
                self._move()
            self.now = tick
            while self.pending and self.pending[0][0] <= tick:
                self.spoken += 1
                self.queue.append([self.spoken, 0, round(self.pending.pop(0)[1] * TICK_RATE)])
            while self.coming and self.coming[0][0] <= tick:
                self.coming.pop(0)[1](self)
            if tick - self.decided >= 0.0999:
                self.decided = tick
                report = self.delivery.report(tick)
                if report is not None:
                    self.reports.append(report)
                    self.control.on_network(report)
                self.control.on_heard(HeardReport(at=tick, buffered_s=self.delivery.lead_s(tick)))
                if not self.queue and self.player.state is PlayerState.EMPTY:
                    self.control.prepare(tick)
                elif not self.queue and not self.delivery._sending.sent.in_flight:
                    self.control.silent()
                elif self.control.decide(tick):
                    self.rungs.append((tick, self.control.rung.bitrate // 1000, round(self.delivery.lead_s(tick), 1)))
            self._move()
            self.player.play(tick)
            ack = self.player.ack(tick)
            if ack is not None:
                self.fro.offer(tick, 35 + COST, ack.pack())
        return self

    def _next(self, before: float) -> float | None:
        times = [self.to.next_time(), self.fro.next_time(), self.delivery.next_time(self.now)]
        at = min((t for t in times if t is not None), default=before)
        return at if at < before else None

    def _move(self) -> None:
        self.calls += 1
        while self.beside is not None and self.beside_at <= self.now:
            self.to.offer(self.beside_at, self.beside[1], b"")
            self.beside_at += self.beside[0]
        for data in self.to.due(self.now):
            if data:
                self.player.take(self.now, data)
                if self.now - self.answered_at > SACK_S:
                    self.answered_at = self.now
                    self.fro.offer(self.now, COST, b"")
        for data in self.fro.due(self.now):
            if data:
                self.delivery.acked(self.now, Ack.unpack(data))
            narrow = self.control.rung.bitrate < 24_000
            if data and self.now - self.sack_at > (NARROW_SACK_S if narrow else SACK_S):
                self.sack_at = self.now
                self.to.offer(self.now, COST, b"")
        self.fill()


@pytest.fixture(scope="session")
def ride() -> type[Ride]:
    return Ride


@pytest.fixture(scope="session")
def link() -> Callable[..., LinkSettings]:
    return LinkSettings
