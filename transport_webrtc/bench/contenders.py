"""The ways of sending that `legato bench media` compares: both answer offers and say how late packets left."""

import dataclasses
import time
from collections.abc import Sequence
from typing import Any, Protocol

from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription

from adaptive.control.base import Controller
from adaptive.control.controller import AdaptiveController
from adaptive.control.fixed import FixedController
from adaptive.control.ladder import START
from adaptive.control.plan import Plan, Protection
from adaptive.control.profiles import Profile
from adaptive.speech.voice import Samples

from ..aiortc_private import gather_on_loopback
from ..carrying import Wanted
from ..listeners import Listeners
from ..media.audio_track import OpusAudioTrack
from ..media.sending import Lateness
from ..messages import SayMessage
from ..observability import Metrics
from ..settings import Settings
from ..signalling.sdp import parse_offer
from .recorded import VOICE, RecordedRenderer
from .stock import StockTrack

PROTECTION = Protection(copies=(3,), nack=True)


class Contender(Protocol):
    """Serves all sessions of one process."""

    async def answer(self, offer: str) -> str:
        """One more session; returns the answer."""
        ...

    def connected(self) -> int:
        """How many sessions are."""
        ...

    def lateness(self) -> Sequence[Lateness]:
        """Of every track, from now on: earlier packets are forgotten."""
        ...

    def packets(self) -> int:
        """Sent so far, by all."""
        ...

    def repeats(self) -> int:
        """Packets sent again because they were asked for."""
        ...

    def rungs(self) -> list[str]:
        """What is sent at present."""
        ...

    async def close(self) -> None:
        """Ends all sessions."""


class Protected(AdaptiveController):
    """Hears and decides all that the adaptive controller does, but always sends at one rung, and protected, so that
    what that costs is measured whatever the network is like."""

    _chosen: Plan | None = None
    _held: Plan | None = None

    def plan(self, now: float) -> Plan:
        """At the rung of a clean network; the same object for as long as nothing changes."""
        chosen = super().plan(now)
        if self._held is None or chosen is not self._chosen:
            self._chosen = chosen
            self._held = dataclasses.replace(chosen, rung=START, protection=PROTECTION)
        return self._held


class Legato:
    """Listeners as a server makes them: speaker, track, metrics; the renderer is a recording.

    `sends`: `legato`, the audio track with the adaptive controller, and protection; `data`, the data track with that
    controller; `alone`, the audio track at the same rung, and nothing decides. What comes back from the listeners
    depends on what they are.
    """

    def __init__(self, samples: Samples, *, sessions: int, seconds: float, sends: str) -> None:
        renderer = RecordedRenderer(samples, seconds)
        self._carrier: Wanted = "data" if sends == "data" else "audio"
        options: dict[str, Any] = {"voices": (VOICE,), "voice": VOICE, "max_listeners": sessions}
        options |= {"lab": False, "shadow": False}
        settings = Settings(**options)
        metrics = Metrics(renderer, lambda: list(self._listeners), time.monotonic)
        self._listeners = Listeners(
            settings,
            renderer,
            metrics,
            controller={"legato": _protected, "data": _adaptive}.get(sends, _fixed),
            most_connecting=sessions,  # all are offered before the first connects
        )

    async def answer(self, offer: str) -> str:
        listener, answer = await self._listeners.welcome(
            parse_offer(offer), voice=None, profile=None, carrier=self._carrier
        )
        listener.say(SayMessage(say="A recording."))
        return answer

    def connected(self) -> int:
        return sum(
            listener.state == "connected" and listener.carrying.carrier == self._carrier for listener in self._listeners
        )

    def lateness(self) -> Sequence[Lateness]:
        for track in self._tracks():
            track.stats.lateness = Lateness()
        return [track.stats.lateness for track in self._tracks()]

    def packets(self) -> int:
        return sum(track.stats.frames for track in self._tracks())

    def repeats(self) -> int:
        return sum(track.stats.repeats for track in self._tracks())

    def rungs(self) -> list[str]:
        return sorted({str(listener.plan.rung) for listener in self._listeners if listener.plan is not None})

    async def close(self) -> None:
        await self._listeners.close()

    def _tracks(self) -> list[OpusAudioTrack]:
        return [listener.line.track for listener in self._listeners]


def _protected(profile: Profile) -> Controller:
    return Protected(profile=profile)


def _adaptive(profile: Profile) -> Controller:
    return AdaptiveController(profile=profile)


def _fixed(profile: Profile) -> Controller:
    return FixedController(profile=profile, rung=START)


class Stock:
    """aiortc as it comes."""

    def __init__(self, samples: Samples) -> None:
        self._samples = samples
        self._tracks: list[StockTrack] = []
        self._connections: list[RTCPeerConnection] = []

    async def answer(self, offer: str) -> str:
        connection, track = RTCPeerConnection(RTCConfiguration(iceServers=[])), StockTrack(self._samples)
        self._connections.append(connection)
        self._tracks.append(track)
        sender = connection.addTrack(track)
        await connection.setRemoteDescription(RTCSessionDescription(sdp=offer, type="offer"))
        gather_on_loopback(sender, always=True)
        await connection.setLocalDescription(await connection.createAnswer())
        return connection.localDescription.sdp

    def connected(self) -> int:
        return sum(connection.connectionState == "connected" for connection in self._connections)

    def lateness(self) -> Sequence[Lateness]:
        for track in self._tracks:
            track.lateness = Lateness()
        return [track.lateness for track in self._tracks]

    def packets(self) -> int:
        return sum(track.packets for track in self._tracks)

    def repeats(self) -> int:
        return 0

    def rungs(self) -> list[str]:
        return ["96k stereo 20ms"]

    async def close(self) -> None:
        for connection in self._connections:
            await connection.close()
