"""The data track: takes speech ahead of its time, has it encoded and delivered, and tells where the player is."""

import asyncio
from collections.abc import Callable, Collection
from typing import Any, Protocol

from aiortc import RTCDataChannel

from adaptive.codec.carried import LOOK_AHEAD, CarriedEncoder, Setting
from adaptive.control.plan import Bandwidth, Codec, Format, Plan
from adaptive.delivery import Ack, Delivery, PlayerState
from adaptive.utterance.pipeline import AHEAD_STEP

from ..speaking.ahead import Place, Taken
from .audio_track import COMPLEXITY
from .client_clock import ClientClock

RAW = {
    Bandwidth.NB: Format(codec=Codec.ULAW, rate=8_000),
    Bandwidth.MB: Format(codec=Codec.ULAW, rate=12_000),
    Bandwidth.WB: Format(codec=Codec.ULAW, rate=16_000),
    Bandwidth.SWB: Format(codec=Codec.PCM16, rate=24_000),
    Bandwidth.FB: Format(codec=Codec.PCM16, rate=24_000),
}
"""What a rung becomes for a client that does not decode Opus: 64 to 384 kb/s."""
HELD_UP_S = 0.05
"""So late is a timer of a process that is held up; and for so long it then says nothing of the path."""
LATEST_S = 1.0
"""The longest that nothing is looked at while something is on its way."""


class Source(Protocol):
    """Where speech comes from."""

    def __call__(self, ticks: int, *, timed: bool) -> Taken | None:
        """At most so many ticks of it; `timed`: the player can be told when something may not sound yet."""


class DataTrack:
    """One listener's, from the moment its `speech` channel is there. Used from the event loop only."""

    def __init__(
        self,
        channel: RTCDataChannel,
        source: Source,
        *,
        clock: Callable[[], float],
        plan: Plan | None,
        codecs: Collection[Codec] = tuple(Codec),
        on_ack: Callable[[], None],
        on_standing: Callable[[], None],
    ) -> None:
        """`codecs` are those that the client decodes. `on_ack` is called after each acknowledgement, `on_standing` when
        one is overdue."""
        self.delivery = Delivery()
        self._channel = channel
        self._source = source
        self._clock = clock
        self._codecs = codecs
        self._on_ack, self._on_standing = on_ack, on_standing
        self._standing = False
        self._timer_at = 0.0
        self._held_up_at = float("-inf")
        """When a timer was last late: answers may wait to be read."""
        self._encoder = CarriedEncoder(Setting(), complexity=COMPLEXITY)
        self.moved = False
        """It goes on from an earlier connection."""
        self._number: int | None = None
        """Of the stretch that is being encoded; None where the next samples begin one."""
        self._lacks = True
        """There was room for speech, and no speech."""
        self._timer: asyncio.TimerHandle | None = None
        self._client = ClientClock()
        if plan is not None:
            self.apply(plan)
        self._client.asked(clock())
        self.flush()  # whatever the player holds is of another server's time; and its answer tells its clock

    @property
    def open(self) -> bool:
        """Messages can be sent."""
        return self._channel.readyState == "open"

    def apply(self, plan: Plan) -> None:
        """The plan under which the next frame is encoded."""
        rung, form = plan.rung, plan.format
        if form.codec not in self._codecs:
            form = RAW[rung.bandwidth]
        self._encoder.set(
            Setting(format=form, bitrate=rung.bitrate, bandwidth=rung.bandwidth, ticks=rung.frame_ms * 48)
        )

    def wake(self) -> None:
        """There may be something to take; where nothing was lacking, it is looked at when there is room for more."""
        if self._lacks:
            self._pump_at(self._clock())

    def acked(self, raw: bytes) -> None:
        """A binary message of the `feedback` channel. Raises ValueError with a sentence where it says nothing."""
        now, ack = self._clock(), Ack.unpack(raw)
        self._client.answered(now, ack)
        self.delivery.acked(now, ack)
        self._on_ack()
        self._pump()

    def flush(self) -> Place | None:
        """Everything that was sent is to be dropped; where the player is when that arrives."""
        place = self.where((self.delivery.min_rtt_s or 0.0) / 2)
        self.delivery.flush(self._clock())
        self._number = None
        self._pump_at(self._clock())
        return place

    def stop(self) -> Place | None:
        """Everything that was sent is to be dropped, and nothing is to follow. Where the player was when what came of
        it last left it; where it stopped it says with its next answer."""
        last = self.where(-(self.delivery.min_rtt_s or 0.0) / 2)
        self.flush()
        return last

    def where(self, after_s: float = 0.0) -> Place | None:
        """Where the player is, or will be so long after now where nothing stops it."""
        played = self.delivery.position(self._clock() + after_s)
        if played is None:
            return None
        moving = self.delivery.state is PlayerState.PLAYING
        return Place(number=played.utterance, position=played.position, moving=moving)

    def lead_s(self) -> float:
        """Speech that the player is known to have beyond that."""
        return self.delivery.lead_s(self._clock())

    def as_dict(self) -> dict[str, Any]:
        """For the listener's snapshot."""
        delivery = self.delivery
        return {
            "state": delivery.state.name.lower(),
            "bytes": delivery.sent_bytes,
            "rtt_ms": _ms(delivery.rtt_s),
            "min_rtt_ms": _ms(delivery.min_rtt_s),
            "queue_delay_ms": _ms(delivery.queue_delay_s),
            "delivered_kbps": None if delivery.delivered_rate is None else round(delivery.delivered_rate / 1000, 1),
            "loss": None if delivery.loss is None else round(delivery.loss, 4),
            "epoch": delivery.epoch,
        }

    def close(self) -> None:
        """Sends nothing any more."""
        self._stop()
        self._encoder.close()
        self._channel.remove_all_listeners()

    def part(self) -> None:
        """The connection is gone, and the player plays on what it has."""
        self._stop()
        self._channel.remove_all_listeners()
        self.delivery.moved(self._clock())

    def move(self, channel: RTCDataChannel, *, on_ack: Callable[[], None], on_standing: Callable[[], None]) -> None:
        """The same player has another connection: what it lacks goes again, and nothing twice."""
        self._channel, self.moved = channel, True
        self._on_ack, self._on_standing = on_ack, on_standing
        self._pump()

    def _pump(self) -> None:
        """Sends what is due, takes what there is room for, and comes back when there will be more."""
        if not self.open:
            return
        now = self._clock()
        self.delivery.backlog(self._channel.bufferedAmount)
        standing = self.delivery.standing_s(now) is not None and now - self._held_up_at > HELD_UP_S
        before, self._standing = self._standing, standing
        if self._standing and not before:
            self._on_standing()  # what is encoded from now on is to be of another plan
        self._send(now)
        while self._take(now):
            self._send(now)
        at = self.delivery.next_time(now)
        self._pump_at(None if at is None else max(at, now + 0.001))

    def _send(self, now: float) -> None:
        for message in self.delivery.due(now):
            self._channel.send(message)
        self.delivery.backlog(self._channel.bufferedAmount)

    def _take(self, now: float) -> bool:
        """Some speech, if it is wanted and there; whether there was."""
        room = self.delivery.room(now)
        # What an encoder looks ahead comes on top at a beginning, so that the first message is whole.
        ticks = -(-(room + (LOOK_AHEAD if self._number is None else 0)) // AHEAD_STEP) * AHEAD_STEP
        taken = self._source(ticks, timed=self._client.known) if room else None
        self._lacks = bool(room) and taken is None
        if taken is None:
            return False
        if taken.not_before is not None:
            client_ms = self.delivery.client_ms(taken.not_before)
            self.delivery.held(taken.number, client_ms or self._client.ms(taken.not_before))
        self.delivery.lead_limit_s = taken.lead_s
        if taken.number != self._number:
            self._number = taken.number
            self._encoder.restart(taken.before, utterance=taken.number, position=0)
        frames = self._encoder.push(taken.samples)
        for frame in [*frames, *(self._encoder.finish() if taken.last else ())]:
            self.delivery.add(frame)
        if taken.last:
            self._number = None
        return True

    def _pump_at(self, at: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        now = self._clock()
        wait_s = LATEST_S if at is None else at - now
        self._timer_at = now + max(wait_s, 0.0)
        self._timer = asyncio.get_running_loop().call_later(max(wait_s, 0.0), self._timed)

    def _timed(self) -> None:
        self._timer, now = None, self._clock()
        if now - self._timer_at > HELD_UP_S:
            self._held_up_at = now
        self._pump()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 1)
