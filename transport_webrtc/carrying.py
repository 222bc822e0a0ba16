"""Which carrier has the speech of one listener: the data track where the client plays it, else the audio track."""

import asyncio
import logging
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, Literal

from aiortc import RTCDataChannel

from adaptive.control.plan import Carrier, Codec, Plan
from adaptive.control.reports import HeardReport, NetworkReport

from .carrier_of_turn import CarrierOfTurn
from .media.data_track import DataTrack
from .speaker import Speaker
from .speaking.ahead import Place

log = logging.getLogger(__name__)

Wanted = Literal["auto", "data", "audio"]

OPENS_S: dict[Wanted, float] = {"auto": 1.0, "data": 4.0, "audio": 0.0}
"""The `speech` channel is waited for so long from connecting on; legato.js gives up after 3 s."""
TOGETHER_S = 0.05
"""Channels of one offer are opened in one go: so long after another one it is not to be expected any more."""
RESTING_GAP_S = 1.0
"""Between packets of silence on the audio track while the data track carries speech: five a second would be a fifth of
what a path at 12 kb/s delivers."""
STOPS_S = 0.3
"""For a player to say where it stopped; one that failed says nothing."""
BACK = "reconnected"
"""Why speech goes on."""
OUTAGE = "outage"
"""Why nobody hears what is said."""
REPORT_S = 0.1
"""Between two reports of the path, at least."""


class Carrying:
    """One listener's. Until the carrier is settled nothing is said."""

    def __init__(
        self,
        speaker: Speaker,
        *,
        wanted: Wanted,
        codecs: Collection[Codec],
        clock: Callable[[], float],
        on_carrier: Callable[[Carrier, Carrier | None, str], None],
        on_network: Callable[[NetworkReport], None],
        on_heard: Callable[[HeardReport], None],
    ) -> None:
        """`codecs`: those that the client plays on its data track. `on_carrier(carrier, before, why)` is called at
        every change."""
        self.carrier: Carrier | None = None
        """None while that is open."""
        self.why = "The client has not connected yet."
        self.track: DataTrack | None = None
        self._kept: DataTrack | None = None
        self._speaker = speaker
        self._wanted = wanted
        self._codecs = codecs
        self._clock = clock
        self._on_carrier = on_carrier
        self._on_network = on_network
        self._on_heard = on_heard
        self._plan: Plan | None = None
        self._connected = False
        self._timer: asyncio.TimerHandle | None = None
        self._leaving: tuple[Place | None, str] | None = None
        """Where the player was last known to be while it is asked where it stopped, and why it was."""
        self._ran_out_at: Place | None = None
        """Where the player was last known to be when the network went away for longer than its lead."""
        self._reported_at = float("-inf")
        self._returning: asyncio.TimerHandle | None = None
        """Until a player that goes on said where it is."""

        self.of_turn = CarrierOfTurn(
            speaker,
            present=lambda: None if self._leaving is not None else self.carrier,
            has_track=lambda: self.track is not None and self.track.open,
            change=self._change,
            clock=clock,
        )

    def connected(self, *, channels: bool) -> None:
        """The connection stands; `channels`: the client offered data channels."""
        self._connected = True
        if self._wanted == "audio":
            self._settle(Carrier.AUDIO, "The audio track was asked for.")
        elif self.track is not None:
            self._settle(Carrier.DATA, "The client offers a data track.")
        elif not channels:
            self._settle(Carrier.AUDIO, "The client offers no data track.")
        else:
            self._wait(OPENS_S[self._wanted])

    def another_opened(self) -> None:
        """Another channel of the client opened."""
        if self.carrier is None and self._wanted == "auto" and self._connected:
            self._wait(TOGETHER_S)

    def opened(self, channel: RTCDataChannel) -> None:
        """The `speech` channel opened. Of several the first counts."""
        if self.track is not None or (self._wanted == "audio" and self._kept is None):
            return
        track, self._kept = self._kept, None
        if track is None:
            track = DataTrack(
                channel,
                self._speaker.ahead.take,
                clock=self._clock,
                plan=self._plan,
                codecs=self._codecs,
                on_ack=self._acked,
                on_standing=self._report,
            )
        else:
            track.move(channel, on_ack=self._acked, on_standing=self._report)
        self.track = self._speaker.ahead.player = track
        channel.on("close", lambda: self._lost("The data track was closed."))
        if self._connected and self._wanted != "audio":
            self._settle(Carrier.DATA, "The client offers a data track.")

    def keep(self, track: DataTrack) -> None:
        """The player of an earlier connection goes on where the client offers a data track again."""
        self._kept = track

    def part(self) -> DataTrack | None:
        """The connection is gone: the track of a player that may go on over another one."""
        if self._leaving is not None:
            self._left()
        if self._ran_out_at is not None:  # what it has was thrown away
            self._speaker.ahead.take_up(replace(self._ran_out_at, moving=False))
            self._ran_out_at = None
        track, self.track, self._kept = self.track or self._kept, None, None
        if track is not None:
            track.part()
        return track

    def acknowledged(self, raw: bytes) -> None:
        """A binary message of the `feedback` channel; one that says nothing is dropped."""
        if self.track is None:
            return
        try:
            self.track.acked(raw)
        except ValueError as error:
            log.debug("An acknowledgement was dropped: %s", error)

    def ask(self, carrier: Carrier) -> None:
        """The client asks for that carrier, also for what sounds. Raises Refused."""
        self.of_turn.claim(carrier)
        self._wanted = "audio" if carrier is Carrier.AUDIO else "data"  # also of a channel that opens late
        if self._connected:
            self._settle(carrier, "The client asked for it.")

    def expect_loss(self, loss: float) -> None:
        """So much is lost on the way to the listener, 0..1, by what the audio track's packets showed."""
        if self.track is not None:
            self.track.delivery.expect_loss(loss)

    def look(self, now: float) -> None:
        """A few times a second: where the network went away for longer than the lead, speech is held, and goes on by
        its `keep` where the player says it stopped. What was sent would sound first, in the midst of a word."""
        self.of_turn.look()
        on = self.carrier is Carrier.DATA and self._leaving is None and self._ran_out_at is None
        if on and self.track is not None and self.track.delivery.ran_out(now) and self.track.where() is not None:
            log.info("The data track is out of reach.")
            self._ran_out_at = self.track.stop()
            self._speaker.away(OUTAGE)

    def apply(self, plan: Plan) -> None:
        """The plan under which the next frame is encoded."""
        self._plan = plan
        if self.track is not None:
            self.track.apply(plan)

    def audio_plan(self, plan: Plan, *, narrow: bool = False) -> Plan:
        """The plan for the audio track: while the other carries speech, or could over a narrow path, it is only kept
        alive."""
        rests = plan.carrier is Carrier.DATA and (narrow or self.speaks)
        return replace(plan, idle_gap_s=RESTING_GAP_S) if rests else plan

    @property
    def speaks(self) -> bool:
        """The data track carries speech, whose acknowledgements tell of the path."""
        return self.carrier is Carrier.DATA and self._speaker.ahead.sounding is not None

    @property
    def slow(self) -> bool:
        """The data track found the path so slow that pings and the like weigh on it."""
        return self.track is not None and self.track.delivery.slow(self._clock())

    @property
    def lead_s(self) -> float | None:
        """Speech that the listener has beyond what it hears; None on the audio track."""
        return self._speaker.ahead.lead_s if self.carrier is Carrier.DATA else None

    def as_dict(self) -> dict[str, Any]:
        """For the listener's snapshot."""
        return {
            "carrier": self.carrier,
            "carrier_why": self.why,
            "lead_s": None if (lead_s := self.lead_s) is None else round(lead_s, 3),
            "delivery": None if self.track is None else self.track.as_dict(),
        }

    def close(self) -> None:
        """Carries nothing any more."""
        self._stop_waiting()
        if self._returning is not None:
            self._returning.cancel()
            self._returning = None
        for track in (self.track, self._kept):
            if track is not None:
                track.close()

    def _settle(self, carrier: Carrier, why: str) -> None:
        self._left()
        self.of_turn.own = carrier
        if carrier is self.carrier:
            return
        if self.carrier is Carrier.DATA and self.track is not None:
            self._leave(self.track, why)
        else:
            self._change(carrier, why)

    def _leave(self, track: DataTrack, why: str) -> None:
        """From the data track to the audio track: the player says where it stopped, unless it is gone already."""
        self._leaving = (track.stop(), why)
        self._speaker.ahead.stopped = True
        self._timer = asyncio.get_running_loop().call_later(STOPS_S if track.open else 0.0, self._left)

    def _left(self) -> None:
        self._stop_waiting()
        leaving, self._leaving = self._leaving, None
        if leaving is not None and self.track is not None:
            last, why = leaving
            self._change(Carrier.AUDIO, why, stopped_at=self.track.where() or last)

    def _change(self, carrier: Carrier, why: str, *, stopped_at: Place | None = None) -> None:
        ran_out_at, self._ran_out_at = self._ran_out_at, None
        if ran_out_at is not None:
            self._speaker.back(OUTAGE, stopped_at=stopped_at or ran_out_at)
        before, self.carrier, self.why = self.carrier, carrier, why
        self._speaker.carry_ahead(carrier is Carrier.DATA, stopped_at=stopped_at)
        self._on_carrier(carrier, before, why)
        if before is None:
            self._speaker.connected()
            if self.track is None or not self.track.moved:
                self._speaker.back(BACK)
            else:
                self._returning = asyncio.get_running_loop().call_later(STOPS_S, self._returned)

    def _lost(self, why: str) -> None:
        """The data track is gone, and does not come back on this connection."""
        if Carrier.DATA in (self.carrier, self.of_turn.own):
            self._settle(Carrier.AUDIO, why)
        if self.track is not None:
            self.track.close()

    def _returned(self) -> None:
        """The player said where it is, or says nothing."""
        if self._returning is not None and self.track is not None:
            self._returning.cancel()
            self._returning = None
            self._speaker.back(BACK, stopped_at=self.track.where(), kept=True)

    def _acked(self) -> None:
        self._returned()
        if self._leaving is not None and self.track is not None and self.track.where() is not None:
            self._left()
        if self._ran_out_at is not None and self.track is not None and (stopped_at := self.track.where()) is not None:
            self._ran_out_at = None
            self._speaker.back(OUTAGE, stopped_at=stopped_at)
        self._speaker.ahead.follow()
        if self._clock() - self._reported_at >= REPORT_S:
            self._report()

    def _report(self) -> None:
        """What the data track knows of the path, where it carries the speech."""
        if self.carrier is not Carrier.DATA or self.track is None:
            return
        now = self._clock()
        report = self.track.delivery.report(now)
        if report is not None:
            self._reported_at = now
            self._on_heard(HeardReport(at=now, position=self._speaker.position(), buffered_s=self.track.lead_s()))
            self._on_network(report)

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        why = "The client offers no data track."
        self._timer = asyncio.get_running_loop().call_later(seconds, self._settle, Carrier.AUDIO, why)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
