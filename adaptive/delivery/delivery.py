"""The one object a data track owns: frames in, messages out when they are due, acknowledgements in, facts out."""

from adaptive.control.reports import NetworkReport, Source
from adaptive.ticks import to_seconds, to_ticks

from .answering import RARE_S
from .frames import Frame
from .playhead import Played
from .probing import Probing
from .sending import Sending
from .wire import DELAY_UNKNOWN, HEADER_BYTES, MAX_MESSAGE_BYTES, Ack, Flush, PlayerState

FLUSH_EVERY_S, FLUSH_NARROW_S = 0.03, 0.15
"""A flush is repeated until it is acknowledged; more and more rarely, as it fills a narrow path, and rarely where it
may be one and nothing sounds."""
SLOW_S = 0.35
"""Without an answer to a message sent while nothing else was on its way: the path is narrow, or there is none."""
OVERDUE_S = 0.08
"""That an answer may come later than usual: a busy machine holds it up for as long."""
BACKLOG_BYTES, BACKLOG_S = 2500, 0.01
"""In the channel's queue above which nothing is due, and when to look again."""
SILENT_S = 0.5
"""An acknowledgement comes every 100 to 200 ms from a player that plays or ran out, but where answers are rare."""
AT_ONCE = 16
"""Messages, so that other listeners have their turn."""
MEMORY_BYTES = 1_000_000
"""Of frames that have not arrived."""
LARGEST_FRAME = MAX_MESSAGE_BYTES - HEADER_BYTES - 6


class Delivery:
    """Frames of one listener, delivered ahead of their time; see `pacing`, `repair` and `bundling` for how.

    The owner asks `room` how much new speech is wanted, gives it by `add`, sends what `due` returns at once, and comes
    back at `next_time`, after each acknowledgement and whenever it has new speech.
    """

    def __init__(self, *, lead_limit_s: float = 6.0, epoch: int = 0) -> None:
        """`epoch` goes on from an earlier `Delivery` of the same player."""
        self.lead_limit_s = lead_limit_s
        """How far ahead of what was played frames are delivered; may be set at any time."""
        self.played: Played | None = None
        """As the player said last; None before it said anything about this epoch."""
        self._sending = Sending(epoch)
        self._probing = Probing()
        self._flush_at: float | None = None
        self._flushed_at = 0.0
        self._backlog = 0
        self._reported: tuple[float, int] | None = None
        """When, and the bytes sent until then."""
        self._there = False
        """The player answered."""
        self._answered = self._exchanged = False
        """Since the last report."""

    # What goes in

    def add(self, frame: Frame) -> None:
        """The next frame in order of playing.

        Raises ValueError where it does not follow the frame before it in its utterance, or has no place in a message.
        """
        if not 0 < frame.ticks <= 0xFFFF or len(frame.payload) > LARGEST_FRAME:
            raise ValueError(f"A frame of {frame.ticks} ticks and {len(frame.payload)} bytes fits into no message.")
        self._sending.stock.add(frame)
        self._probing.forget()

    def room(self, now: float) -> int:
        """Ticks of new speech wanted now: what lead, memory and the path leave. Ask again after `due`."""
        if self._backlog > BACKLOG_BYTES or self._sending.stock.size > MEMORY_BYTES or not self._sending.open(now):
            return 0
        bundle = self._sending.bundle(now)
        left = self._lead_left(now)
        return 0 if left < self._step(bundle) else max(0, min(left, bundle - self._sending.stock.unsent_ticks))

    def held(self, utterance: int, client_ms: int) -> None:
        """Position 0 of `utterance` may not sound before `client_ms`; said before its first frame is due."""
        self._sending.holds[utterance] = client_ms % 2**32

    def acked(self, now: float, ack: Ack) -> None:
        """What the player said; an acknowledgement that was overtaken or comes twice does no harm."""
        awaited = self._sending.sent.in_flight > 0
        outcome = self._sending.sent.acked(now, ack)
        self._answered = self._there = True
        path = self._sending.pacing.path
        sent_at = self._probing.sent_at(ack.largest) if outcome.sent_at is None else outcome.sent_at
        if sent_at is not None and ack.delay < DELAY_UNKNOWN:
            path.exchange(now, sent_at=sent_at, arrival=ack.arrival, delay_s=ack.delay / 10_000)
            self._exchanged = True
        self._sending.pacing.answered(
            now, outcome.arrived_bytes, ack.arrival, awaited=awaited, oldest_at=outcome.oldest_at
        )
        self._sending.stock.repair.lose(outcome.lost)
        if self._probing.answered(now, largest=ack.largest, arrival=ack.arrival):
            self._sending.pacing.found(now, self._probing.rate)
        if ack.epoch != self.epoch:
            return
        self._flush_at = None
        at = self._said_at(now, ack)
        if self._sending.stock.playhead.said(now, at, ack):
            self.played = Played(utterance=ack.played_utterance, position=ack.played, at=at)
            if ack.played:
                self._sending.holds.pop(ack.played_utterance, None)
        self._sending.stock.settle()

    def _said_at(self, now: float, ack: Ack) -> float:
        """When it left: by the client's clock, as it may have waited long on its way, where that is known."""
        path = self._sending.pacing.path
        stamped = path.server_s(ack.arrival + ack.delay / 10) if ack.delay < DELAY_UNKNOWN else None
        latest = now - (path.min_rtt_s or 0.0) / 2
        return latest if stamped is None else min(stamped, latest)

    def flush(self, now: float) -> None:
        """An interruption: the epoch rises, and everything unsent and unacknowledged is forgotten."""
        self._sending.flush()
        self.played = None
        self._flush_at = self._flushed_at = now

    def backlog(self, waiting: int) -> None:
        """Bytes that wait in the channel's own queue (`bufferedAmount`); nothing is due while there are too many."""
        self._backlog = waiting

    def moved(self, now: float) -> None:
        """The path is another one: everything on its way counts as lost, and nothing is known of the path."""
        self._sending.move()

    # What comes out

    def due(self, now: float) -> list[bytes]:
        """Messages for the `speech` channel, to be sent now."""
        out = []
        if self._flush_at is not None and now >= self._flush_at:
            quick = self._there and not self._sending.pacing.congested
            least_s = FLUSH_EVERY_S if quick else FLUSH_NARROW_S
            self._flush_at = now + max(least_s, (now - self._flushed_at) / 2)
            out.append(self._sending.flush_message())
        if self._quiet and self._backlog <= BACKLOG_BYTES and now >= self._probing.next_time():
            number = self._sending.sent.next()
            size = self._probing.ask(now, number)
            out.append(Flush(epoch=self.epoch, number=number, size=size).pack())
        while self._backlog <= BACKLOG_BYTES and len(out) < AT_ONCE:
            message = self._sending.message(now)
            if message is None:
                break
            out.append(message)
        return out

    def next_time(self, now: float) -> float | None:
        """When `due` or `room` will have something that it has not now; None while only news can change that."""
        times = [] if self._flush_at is None else [self._flush_at]
        if self._backlog > BACKLOG_BYTES:
            return min([*times, now + BACKLOG_S])
        sending = self._sending
        times += [max(now, self._probing.next_time())] if self._quiet else []
        times += sending.waiting(now)
        if sending.sent.in_flight and (stands_at := sending.pacing.overdue_at + OVERDUE_S) > now:
            times.append(stands_at)
        opens_at = sending.pacing.opens_at(now, sending.sent.in_flight)
        if opens_at is not None:
            opens_at = max(opens_at, sending.pacing.free_at, self._lead_opens(now))
            if now < opens_at < float("inf"):
                times.append(opens_at)
        return min(times, default=None)

    @property
    def _quiet(self) -> bool:
        """Nothing is on its way or sounds, and the player is there: the path can be probed."""
        if not self._there or self._flush_at is not None:
            return False
        over = self.state in (PlayerState.EMPTY, PlayerState.SUSPENDED)
        return over and not self._sending.stock.line.end - self._sending.stock.playhead.wanted

    def _lead_left(self, now: float) -> int:
        """Ticks that the lead leaves for new speech."""
        return to_ticks(self.lead_limit_s) - (self._sending.stock.line.end - self._sending.stock.place(now))

    def _step(self, bundle: int) -> int:
        """New speech is asked for as much at a time."""
        return min(bundle, to_ticks(self.lead_limit_s / 4))

    def _lead_opens(self, now: float) -> float:
        """When the lead leaves room for a message."""
        short = self._step(self._sending.bundle(now)) - self._lead_left(now)
        if short <= 0:
            return now
        return now + to_seconds(short + 1) if self.state is PlayerState.PLAYING else float("inf")

    # What is known

    @property
    def epoch(self) -> int:
        """Raised by each flush."""
        return self._sending.epoch

    @property
    def state(self) -> PlayerState:
        """Of the player, as it said last."""
        return self._sending.stock.playhead.state

    def lead_s(self, now: float) -> float:
        """Speech that the player is known to have beyond what sounds now."""
        return to_seconds(max(0, self._sending.stock.playhead.wanted - self._sending.stock.place(now)))

    def slow(self, now: float) -> bool:
        """Whether what is sent while nothing is said takes so long that nothing needless should be sent beside it."""
        if self._flush_at is not None:
            return now - self._flushed_at > SLOW_S
        return self._quiet and (self._probing.waits_s(now) > SLOW_S or (self.rtt_s or 0.0) > SLOW_S)

    def position(self, now: float) -> Played | None:
        """What sounds now: the player's last word, and what it must have played since."""
        place = self._sending.stock.line.at(self._sending.stock.place(now))
        if place is None or self.played is None:
            return self.played
        return Played(utterance=place[0], position=place[1], at=now)

    def ran_out(self, now: float) -> bool:
        """The path has been silent for `SILENT_S` amid an utterance that the player must have run out of."""
        playhead, end = self._sending.stock.playhead, self._sending.stock.sent_end
        silent_s = max(2 * RARE_S if self._sending.rare else SILENT_S, 3 * (self.rtt_s or 0.0))
        silent = self._flush_at is None and now - self._sending.pacing.progress_at >= silent_s
        return silent and playhead.ran_out(now, end, silent_s)

    def standing_s(self, now: float) -> float | None:
        """How long an answer to speech on its way is overdue; None where none is, or where so much is lost that that
        says little."""
        sending = self._sending
        overdue_s = now - sending.pacing.overdue_at
        return overdue_s if sending.sent.in_flight and not sending.lossy and overdue_s >= OVERDUE_S else None

    def client_ms(self, at: float) -> int | None:
        """The client's clock, ms modulo 2^32, at `at` monotonic seconds; None before the first acknowledgement."""
        return self._sending.pacing.path.client_ms(at)

    def report(self, now: float) -> NetworkReport | None:
        """What was seen of the path since the report before, with the fate of each message; None where nothing was."""
        standing_s = self.standing_s(now)
        if not self._answered:
            return None if standing_s is None else NetworkReport(at=now, source=Source.FEEDBACK, standing_s=standing_s)
        fates = self._sending.sent.fates()
        since, before = self._reported or (now, 0)
        self._reported = now, self._sending.sent.sent_bytes
        report = NetworkReport(
            at=now,
            source=Source.FEEDBACK,
            rtt_s=self.rtt_s if self._exchanged else None,
            loss=sum(fates) / len(fates) if fates else None,
            packets=len(fates) or None,
            lost_mask=fates or None,
            queue_delay_s=self.queue_delay_s if self._exchanged else None,
            received_rate=self.delivered_rate,
            capacity=self._probing.rate if self._quiet else None,
            standing_s=standing_s,
            sent_rate=(self._sending.sent.sent_bytes - before) * 8 / (now - since) if now > since else None,
        )
        self._answered = self._exchanged = False
        return report

    @property
    def sent_bytes(self) -> int:
        """On the wire so far, with everything that a message costs beyond its own bytes."""
        return self._sending.sent.sent_bytes

    @property
    def rtt_s(self) -> float | None:
        """Of the last exchange, without the player's delay."""
        return self._sending.pacing.path.rtt_s

    @property
    def min_rtt_s(self) -> float | None:
        """The shortest lately."""
        return self._sending.pacing.path.min_rtt_s

    @property
    def queue_delay_s(self) -> float | None:
        """One-way delay above the lowest lately."""
        return self._sending.pacing.path.queue_delay_s

    @property
    def delivered_rate(self) -> float | None:
        """Bit/s on the wire, overhead included, that arrived: the best lately."""
        return self._sending.pacing.path.rate

    def expect_loss(self, loss: float) -> None:
        """What others measured of the path, 0..1: the first messages go with as many copies as that needs."""
        self._sending.sent.expect(loss)

    @property
    def loss(self) -> float | None:
        """Share of messages that were lost, lately, 0..1."""
        return self._sending.sent.loss
