"""The one object a data track owns: frames in, messages out when they are due, acknowledgements in, facts out."""

from collections.abc import Sequence
from dataclasses import dataclass

from adaptive.control.reports import NetworkReport, Source
from adaptive.ticks import to_seconds, to_ticks

from .bundling import FIRST_TICKS, MESSAGE_COST, bundle_ticks, together
from .frames import Frame
from .pacing import Pacing
from .repair import MANY, MOST, START_TICKS, chances, copies_for
from .stock import Stock
from .transmissions import Kept, Transmissions
from .wire import DELAY_UNKNOWN, HEADER_BYTES, LENGTH_BYTES, MAX_MESSAGE_BYTES, Ack, Flush, PlayerState, SpeechMessage

FLUSH_EVERY_S = 0.03
"""A flush is repeated until it is acknowledged."""
FULL_S = 0.05
"""A message that is not full waits so long for more, where the listener is ahead."""
BACKLOG_BYTES, BACKLOG_S = 2500, 0.01
"""In the channel's queue above which nothing is due, and when to look again."""
AT_ONCE = 16
"""Messages, so that other listeners have their turn."""
COPY_BYTES = 1000
"""On their way beyond the window: copies of the first 140 ms of speech."""
MEMORY_BYTES = 1_000_000
"""Of frames that have not arrived."""
LARGEST_FRAME = MAX_MESSAGE_BYTES - HEADER_BYTES - 6


@dataclass(frozen=True, kw_only=True)
class Played:
    """What came out of the loudspeaker."""

    utterance: int
    position: int
    """Ticks of the utterance."""
    at: float
    """Monotonic seconds at which it was so."""


class Delivery:
    """Frames of one listener, delivered ahead of their time; see `pacing`, `repair` and `bundling` for how.

    The owner asks `room` how much new speech is wanted, gives it by `add`, sends what `due` returns at once, and comes
    back at `next_time`, after each acknowledgement and whenever it has new speech.
    """

    def __init__(self, *, lead_limit_s: float = 6.0, epoch: int = 0) -> None:
        """`epoch` goes on from an earlier `Delivery` of the same player."""
        self.lead_limit_s = lead_limit_s
        """How far ahead of what was played frames are delivered; may be set at any time."""
        self.epoch = epoch % 0x10000
        self.played: Played | None = None
        """As the player said last; None before it said anything about this epoch."""
        self._pacing, self._sent = Pacing(), Transmissions()
        self._holds: dict[int, int] = {}
        self._flush_at: float | None = None
        self._backlog = 0
        self._reported: tuple[float, int] | None = None
        """When, and the bytes sent until then."""
        self._answered = self._exchanged = False
        """Since the last report."""
        self._stock = Stock()
        self._waits_since: float | None = None
        """A message that is not full waits for more."""

    # What goes in

    def add(self, frame: Frame) -> None:
        """The next frame in order of playing.

        Raises ValueError where it does not follow the frame before it in its utterance, or has no place in a message.
        """
        if not 0 < frame.ticks <= 0xFFFF or len(frame.payload) > LARGEST_FRAME:
            raise ValueError(f"A frame of {frame.ticks} ticks and {len(frame.payload)} bytes fits into no message.")
        self._stock.add(frame)

    def room(self, now: float) -> int:
        """Ticks of new speech wanted now: what lead, memory and the path leave. Ask again after `due`."""
        if self._backlog > BACKLOG_BYTES or self._stock.size > MEMORY_BYTES or not self._open(now):
            return 0
        bundle = self._bundle(now)
        left = self._lead_left(now)
        return 0 if left < self._step(bundle) else max(0, min(left, bundle - self._stock.unsent_ticks))

    def held(self, utterance: int, client_ms: int) -> None:
        """Position 0 of `utterance` may not sound before `client_ms`; said before its first frame is due."""
        self._holds[utterance] = client_ms % 2**32

    def acked(self, now: float, ack: Ack) -> None:
        """What the player said; an acknowledgement that was overtaken or comes twice does no harm."""
        outcome = self._sent.acked(now, ack)
        self._answered = True
        path = self._pacing.path
        if outcome.sent_at is not None and ack.delay < DELAY_UNKNOWN:
            path.exchange(now, sent_at=outcome.sent_at, arrival=ack.arrival, delay_s=ack.delay / 10_000)
            self._exchanged = True
        self._pacing.answered(now, outcome.arrived_bytes, ack.arrival)
        self._stock.repair.lose(outcome.lost)
        if ack.epoch != self.epoch:
            return
        self._flush_at = None
        at = now - (path.min_rtt_s or 0.0) / 2
        if self._stock.playhead.said(at, ack):
            self.played = Played(utterance=ack.played_utterance, position=ack.played, at=at)
            if ack.played:
                self._holds.pop(ack.played_utterance, None)
        self._stock.settle()

    def flush(self, now: float) -> None:
        """An interruption: the epoch rises, and everything unsent and unacknowledged is forgotten."""
        self.epoch = (self.epoch + 1) % 0x10000
        self._sent.forget()
        self._holds.clear()
        self.played = None
        self._flush_at = now
        self._stock = Stock()
        self._waits_since = None

    def backlog(self, waiting: int) -> None:
        """Bytes that wait in the channel's own queue (`bufferedAmount`); nothing is due while there are too many."""
        self._backlog = waiting

    def moved(self, now: float) -> None:
        """The path is another one: everything on its way counts as lost, and nothing is known of the path."""
        self._stock.repair.lose(self._sent.lose_all())
        self._pacing = Pacing()

    # What comes out

    def due(self, now: float) -> list[bytes]:
        """Messages for the `speech` channel, to be sent now."""
        out = []
        if self._flush_at is not None and now >= self._flush_at:
            self._flush_at = now + FLUSH_EVERY_S
            out.append(Flush(epoch=self.epoch, number=self._sent.next()).pack())
        while self._backlog <= BACKLOG_BYTES and len(out) < AT_ONCE:
            message = self._probe(now) or self._copy(now) or self._again(now) or self._new(now)
            if message is None:
                break
            out.append(message)
        return out

    def next_time(self, now: float) -> float | None:
        """When `due` or `room` will have something that it has not now; None while only news can change that."""
        times = [] if self._flush_at is None else [self._flush_at]
        if self._backlog > BACKLOG_BYTES:
            return min([*times, now + BACKLOG_S])
        pacing, stock = self._pacing, self._stock
        free_at = max(now, pacing.free_at)
        if self._sent.in_flight:
            times.append(pacing.probe_at())
        copy_at = stock.repair.next_copy()
        if copy_at is not None and self._copies_fit:
            times.append(max(copy_at, free_at))
        if self._sent.in_flight < pacing.window:
            if stock.repair.lost(stock.playhead.past):
                times.append(free_at)
            elif stock.unsent:
                times.append(free_at if self._waits_since is None else max(free_at, self._waits_since + FULL_S))
            opens_at = max(free_at, self._lead_opens(now))
            if now < opens_at < float("inf"):
                times.append(opens_at)
        return min(times, default=None)

    def _probe(self, now: float) -> bytes | None:
        """What is needed soonest, where an answer is overdue."""
        if not self._sent.in_flight or now < self._pacing.probe_at():
            return None
        self._pacing.probed(now)
        frames = self._stock.soonest()
        return self._message(now, frames) if frames else None

    def _copy(self, now: float) -> bytes | None:
        """Half of its cost counts, so that copies do not hold up what follows."""
        if now < self._pacing.free_at or not self._copies_fit:
            return None
        frames = self._stock.repair.copies(now, self._stock.playhead.past)
        return self._message(now, frames, share=0.5) if frames else None

    def _again(self, now: float) -> bytes | None:
        """Lost frames, the soonest needed first."""
        if not self._open(now):
            return None
        stock = self._stock
        lost = stock.repair.lost(stock.playhead.past)
        if not lost:
            return None
        frames = lost[: together([kept.frame for kept in lost], self._bundle(now))]
        spare = not self._pacing.congested or (self.loss or 0.0) >= MOST
        if not spare or chances(frames[0].place - stock.place(now), self.min_rtt_s, self.loss):
            return self._message(now, frames)
        return self._message(now, frames, copies=copies_for(self.loss))

    def _new(self, now: float) -> bytes | None:
        stock = self._stock
        if not stock.unsent or not self._open(now):
            return None
        ahead = stock.sent_ahead(now)
        count, whole = stock.bundle(self._bundle(now))
        if not whole and ahead > START_TICKS:
            self._waits_since = now if self._waits_since is None else self._waits_since
            if now < self._waits_since + FULL_S:
                return None
        self._waits_since = None
        near = ahead < START_TICKS or ((self.loss or 0.0) >= MANY and not chances(ahead, self.min_rtt_s, self.loss))
        copies = copies_for(self.loss) if near and not self._pacing.congested else 0
        return self._message(now, stock.take(count), copies=copies)

    def _message(self, now: float, frames: Sequence[Kept], *, copies: int = 0, share: float = 1.0) -> bytes:
        """Sends frames that `together` allows; `share` of the cost counts for the pace."""
        first, sent = frames[0].frame, self._sent
        payloads = tuple(kept.frame.payload for kept in frames)
        size = MESSAGE_COST + HEADER_BYTES + sum(map(len, payloads)) + LENGTH_BYTES * len(payloads)
        self._pacing.sent(now, size * share, alone=not sent.in_flight)
        if copies:
            due_s = to_seconds(frames[0].place - self._stock.place(now))
            self._stock.repair.copy(now, frames, copies, due_s=due_s)
        message = SpeechMessage(
            epoch=self.epoch,
            utterance=first.utterance,
            number=sent.send(now, frames, size),
            position=first.position,
            ticks=first.ticks,
            format=first.format,
            frames=payloads,
            last=frames[-1].frame.last,
            not_before=self._holds.get(first.utterance),
        )
        return message.pack()

    def _open(self, now: float) -> bool:
        """The path takes more now."""
        return now >= self._pacing.free_at and self._sent.in_flight < self._pacing.window

    @property
    def _copies_fit(self) -> bool:
        """What needs copies cannot wait; they may exceed the window by so much that a narrow path bears it."""
        window, loss = self._pacing.window, self.loss or 0.0
        return self._sent.in_flight < window + (COPY_BYTES if loss < MANY else copies_for(loss) * window)

    def _bundle(self, now: float) -> int:
        """Ticks for the next message."""
        ahead = self._stock.sent_ahead(now)
        if not ahead:
            return FIRST_TICKS
        return bundle_ticks(ahead, congested=self._pacing.congested, rate=self.delivered_rate)

    def _lead_left(self, now: float) -> int:
        """Ticks that the lead leaves for new speech."""
        return to_ticks(self.lead_limit_s) - (self._stock.line.end - self._stock.place(now))

    def _step(self, bundle: int) -> int:
        """New speech is asked for as much at a time."""
        return min(bundle, to_ticks(self.lead_limit_s / 4))

    def _lead_opens(self, now: float) -> float:
        """When the lead leaves room for a message."""
        short = self._step(self._bundle(now)) - self._lead_left(now)
        if short <= 0:
            return now
        return now + to_seconds(short + 1) if self.state is PlayerState.PLAYING else float("inf")

    # What is known

    @property
    def state(self) -> PlayerState:
        """Of the player, as it said last."""
        return self._stock.playhead.state

    def lead_s(self, now: float) -> float:
        """Speech that the player is known to have beyond what sounds now."""
        return to_seconds(max(0, self._stock.playhead.wanted - self._stock.place(now)))

    def position(self, now: float) -> Played | None:
        """What sounds now: the player's last word, and what it must have played since."""
        place = self._stock.line.at(self._stock.place(now))
        if place is None or self.played is None:
            return self.played
        return Played(utterance=place[0], position=place[1], at=now)

    def client_ms(self, at: float) -> int | None:
        """The client's clock, ms modulo 2^32, at `at` monotonic seconds; None before the first acknowledgement."""
        return self._pacing.path.client_ms(at)

    def report(self, now: float) -> NetworkReport | None:
        """What was seen of the path since the report before, with the fate of each message; None where nothing was."""
        if not self._answered:
            return None
        fates = self._sent.fates()
        since, before = self._reported or (now, 0)
        self._reported = now, self._sent.sent_bytes
        report = NetworkReport(
            at=now,
            source=Source.FEEDBACK,
            rtt_s=self.rtt_s if self._exchanged else None,
            loss=sum(fates) / len(fates) if fates else None,
            packets=len(fates) or None,
            lost_mask=fates or None,
            queue_delay_s=self.queue_delay_s if self._exchanged else None,
            received_rate=self.delivered_rate,
            sent_rate=(self._sent.sent_bytes - before) * 8 / (now - since) if now > since else None,
        )
        self._answered = self._exchanged = False
        return report

    @property
    def rtt_s(self) -> float | None:
        """Of the last exchange, without the player's delay."""
        return self._pacing.path.rtt_s

    @property
    def min_rtt_s(self) -> float | None:
        """The shortest lately."""
        return self._pacing.path.min_rtt_s

    @property
    def queue_delay_s(self) -> float | None:
        """One-way delay above the lowest lately."""
        return self._pacing.path.queue_delay_s

    @property
    def delivered_rate(self) -> float | None:
        """Bit/s on the wire, overhead included, that arrived: the best lately."""
        return self._pacing.path.rate

    @property
    def loss(self) -> float | None:
        """Share of messages that were lost, lately, 0..1."""
        return self._sent.loss
