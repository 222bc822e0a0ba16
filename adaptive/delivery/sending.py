"""The next message: which frames, and with how many copies."""

from collections.abc import Sequence

from adaptive.ticks import to_seconds

from .answering import LONG_TICKS, news_s
from .bundling import FIRST_TICKS, MESSAGE_COST, PLENTY_FROM, bundle_ticks, together
from .pacing import Pacing
from .repair import MANY, MOST, START_TICKS, chances, copies_for
from .stock import Stock
from .transmissions import Kept, Transmissions
from .wire import HEADER_BYTES, LENGTH_BYTES, Flush, SpeechMessage

FULL_S = 0.05
"""A message that is not full waits so long for more, where the listener is ahead or the path is full anyway; and for as
long as the listener has plenty."""
COPY_BYTES = 1000
"""On their way beyond the window: copies of the first 140 ms of speech."""


class Sending:
    """One epoch after another over one path after another."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch % 0x10000
        self.stock, self.pacing, self.sent = Stock(), Pacing(), Transmissions()
        self.holds: dict[int, int] = {}
        """Client clock in ms before which an utterance may not sound."""
        self.rare = False
        """The player answers rarely, after the newest message."""
        self.waits_since: float | None = None
        """A message that is not full waits for more."""

    def flush(self) -> None:
        """The next epoch: nobody waits for anything of this one."""
        self.epoch = (self.epoch + 1) % 0x10000
        self.sent.forget()
        self.holds.clear()
        self.stock = Stock()
        self.waits_since = None

    def move(self) -> None:
        """Another path: everything on its way is lost, and nothing is known."""
        self.stock.repair.lose(self.sent.lose_all())
        self.stock.playhead.doubtful = True
        self.pacing = Pacing()

    def flush_message(self) -> bytes:
        """Says which epoch it is."""
        return Flush(epoch=self.epoch, number=self.sent.next()).pack()

    def message(self, now: float) -> bytes | None:
        """What is to leave now, the most urgent first."""
        return self._probe(now) or self._copy(now) or self._again(now) or self._new(now)

    def waiting(self, now: float) -> list[float]:
        """Times at which `message` may have something, if no news comes before."""
        pacing, repair, times = self.pacing, self.stock.repair, []
        free_at = max(now, pacing.free_at)
        if self.sent.in_flight:
            times.append(pacing.probe_at())
        copy_at = repair.next_copy()
        if copy_at is not None and self.copies_fit(now):
            times.append(max(copy_at, free_at))
        opens_at = pacing.opens_at(now, self.sent.in_flight)
        if opens_at is not None:
            free_at = max(free_at, opens_at)
            if repair.lost(self.stock.playhead.past):
                times.append(free_at)
            elif self.stock.unsent:
                times.append(max(free_at, self._waits_until(now)) if self._waiting(now) else free_at)
        return times

    def _probe(self, now: float) -> bytes | None:
        """What is needed soonest, where an answer is overdue."""
        if not self.sent.in_flight or now < self.pacing.probe_at():
            return None
        self.pacing.probed(now, lossy=self.lossy)
        frames = self.stock.soonest()
        return self._message(now, frames[: together([kept.frame for kept in frames], FIRST_TICKS)]) if frames else None

    def _copy(self, now: float) -> bytes | None:
        """Half of its cost counts, so that copies do not hold up what follows."""
        due_at = self.stock.repair.next_copy()
        if due_at is None or now < max(due_at, self.pacing.free_at) or not self.copies_fit(now):
            return None
        frames = self.stock.repair.copies(now, self.stock.playhead.past)
        return self._message(now, frames, share=0.5) if frames else None

    @property
    def lossy(self) -> bool:
        """So much is lost that a missing answer says little."""
        return (self.sent.loss or 0.0) >= MANY

    def _again(self, now: float) -> bytes | None:
        """Lost frames, the soonest needed first."""
        if not self.open(now):
            return None
        stock = self.stock
        lost = stock.repair.lost(stock.playhead.past)
        if not lost:
            return None
        frames = lost[: together([kept.frame for kept in lost], self.bundle(now))]
        spare = not self.pacing.congested or (self.sent.loss or 0.0) >= MOST
        if not spare or chances(frames[0].place - stock.place(now), self.pacing.path.min_rtt_s, self.sent.loss):
            return self._message(now, frames)
        return self._message(now, frames, copies=copies_for(self.sent.loss))

    def _new(self, now: float) -> bytes | None:
        stock = self.stock
        if not stock.unsent or not self.open(now):
            return None
        ahead = stock.sent_ahead(now)
        count, whole = stock.bundle(self.bundle(now))
        if not whole and (ahead > START_TICKS or self.pacing.congested):
            self.waits_since = now if self.waits_since is None else self.waits_since
            if now < self._waits_until(now):
                return None
        self.waits_since = None
        near = ahead < START_TICKS or (
            (self.sent.loss or 0.0) >= MANY and not chances(ahead, self.pacing.path.min_rtt_s, self.sent.loss)
        )
        copies = copies_for(self.sent.loss) if near and not self.pacing.congested else 0
        return self._message(now, stock.take(count), copies=copies)

    def _waiting(self, now: float) -> bool:
        """More is waited for, or will be when it is looked at."""
        few = self.stock.unsent_ticks < self.bundle(now) and not self.stock.unsent[-1].frame.last
        return self.waits_since is not None or (few and self.stock.sent_ahead(now) > PLENTY_FROM)

    def _waits_until(self, now: float) -> float:
        """When a message leaves that is not full."""
        spare = self.stock.sent_ahead(now) - PLENTY_FROM
        return max((self.waits_since or now) + FULL_S, now + to_seconds(spare) if spare > 0 else 0.0)

    def _message(self, now: float, frames: Sequence[Kept], *, copies: int = 0, share: float = 1.0) -> bytes:
        """Sends frames that `together` allows; `share` of the cost counts for the pace."""
        first, sent = frames[0].frame, self.sent
        payloads = tuple(kept.frame.payload for kept in frames)
        size = MESSAGE_COST + HEADER_BYTES + sum(map(len, payloads)) + LENGTH_BYTES * len(payloads)
        self.rare = first.ticks * len(frames) >= LONG_TICKS
        self.pacing.answer_s = news_s(self.rare)
        self.pacing.sent(now, size * share, alone=not sent.in_flight)
        if copies:
            due_s = to_seconds(frames[0].place - self.stock.place(now))
            self.stock.repair.copy(now, frames, copies, due_s=due_s)
        message = SpeechMessage(
            epoch=self.epoch,
            utterance=first.utterance,
            number=sent.send(now, frames, size),
            position=first.position,
            ticks=first.ticks,
            format=first.format,
            frames=payloads,
            last=frames[-1].frame.last,
            not_before=self.holds.get(first.utterance),
        )
        return message.pack()

    def open(self, now: float) -> bool:
        """The path takes more now."""
        return now >= self.pacing.free_at and self.sent.in_flight < self.pacing.window(now)

    def copies_fit(self, now: float) -> bool:
        """What needs copies cannot wait; they may exceed the window by so much that a narrow path bears it."""
        window, loss = self.pacing.window(now), self.sent.loss or 0.0
        return self.sent.in_flight < window + (COPY_BYTES if loss < MANY else copies_for(loss) * window)

    def bundle(self, now: float) -> int:
        """Ticks for the next message."""
        path, stock = self.pacing.path, self.stock
        return bundle_ticks(
            stock.sent_ahead(now), congested=self.pacing.congested, rate=path.rate, frame=stock.frame_ticks
        )
