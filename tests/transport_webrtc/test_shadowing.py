"""When a listener's speech is heard again, and when the machine is left alone; then the whole way, with a far end."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription

from adaptive.codec.redundancy import RedundancyPacker
from adaptive.control.fates import Fates, Feedback
from adaptive.control.plan import Bandwidth, Plan, Reason, Rung
from adaptive.control.reports import HeardReport
from adaptive.ticks import to_seconds
from quality.shadow import Carried, Estimate, Frame
from transport_webrtc import aiortc_private
from transport_webrtc.bench.far_end import FarEnd, for_far_end, offer_more
from transport_webrtc.media.block import Block
from transport_webrtc.shadowing import LEAST, PERIOD_S, SLICE, SPAN_S, STRETCH, UNKNOWN, Shadowing

STEP_S = 0.2
FRAME = 960
ESTIMATE = Estimate(opinion=3.3, distance_db=1.5, damage=0.05, missing=0.05, seconds=2.0)


class ScriptedShadow:
    """Costs what it is told to, and keeps what it is made of."""

    def __init__(self, scene: "Scene", frames: Sequence[Frame], carried: Sequence[Carried], allowance_s: float) -> None:
        self.frames, self.carried, self.allowance_s = frames, carried, allowance_s
        self._scene = scene
        self._left = sum(len(frame.samples) for frame in frames)

    def work(self, ticks: int) -> bool:
        assert ticks == SLICE
        self._scene.now += self._scene.slice_s
        self._left -= ticks
        return self._left > 0

    def estimate(self) -> Estimate | None:
        return ESTIMATE


@dataclass
class Scene:
    """A track, its fates and their shadowing, on a clock of the test's."""

    slice_s: float = 0.001
    lost: frozenset[int] = frozenset()
    deaf: bool = False
    """No feedback comes."""
    red: bool = True
    now: float = 100.0
    made: list[ScriptedShadow] = field(default_factory=list)
    told: list[tuple[float, float]] = field(default_factory=list)
    """When which opinion was told."""

    def __post_init__(self) -> None:
        self.fates = Fates()
        self.packer = RedundancyPacker(payload_type=111)
        self.tick = 0
        self._next_tick_at = self.now
        self._untold: list[float | None] = []
        self.shadowing = Shadowing(
            self.fates,
            red=self.red,
            lookahead=312,
            every_s=STEP_S,
            clock=lambda: self.now,
            on_estimate=lambda estimate, at: self.told.append((at, estimate.opinion)),
            make=self._make,
        )

    def _make(self, frames: Sequence[Frame], carried: Sequence[Carried], *, allowance_s: float, lookahead: int) -> Any:
        assert lookahead == 312
        self.made.append(ScriptedShadow(self, frames, carried, allowance_s))
        return self.made[-1]

    def run(self, seconds: float, *, speech: bool = True, utterance: str = "u") -> "Scene":
        """Frames of 20 ms, feedback every 100 ms, a tick every 200 ms."""
        until = self.now + seconds
        while self.now < until:
            samples = np.zeros(FRAME, np.float32)
            block = Block(samples=samples, utterance=utterance, start=0) if speech else None
            frame = bytes([0xF8, *self.tick.to_bytes(6, "big")])
            payload = self.packer.pack(frame, timestamp=self.tick, distances=(3,)) if self.red else frame
            self.shadowing.left(self.tick, frame, payload, block)
            place = self.fates.count
            self.fates.sent(self.now, size=100)
            self._untold.append(None if place in self.lost else self.now + 0.05)
            if len(self._untold) == 5:
                self._feedback()
            self.tick += FRAME
            self.now += to_seconds(FRAME)
            if self.now >= self._next_tick_at:
                self.shadowing.tick(self.now, held_s=0.08)
                self._next_tick_at = self.now + STEP_S
        return self

    def _feedback(self) -> None:
        if not self.deaf:
            arrivals = tuple(None if at is None else round((at - 64.0) * 1e6) for at in self._untold)
            base = self.fates.count - len(self._untold)
            self.fates.feedback(self.now, Feedback(base=base, number=0, reference=1000, arrivals_us=arrivals))
            self.fates.report(self.now)
        self._untold.clear()

    def stall(self, seconds: float) -> None:
        """The loop is held up: nothing leaves and nothing ticks."""
        self.now += seconds
        self.shadowing.tick(self.now, held_s=0.08)
        self._next_tick_at = self.now + STEP_S


def test_two_seconds_are_judged_in_ten_with_what_became_of_each_packet() -> None:
    lost = frozenset(range(7, 2000, 10))
    scene = Scene(lost=lost).run(60)
    assert len(scene.made) == 6
    assert len(scene.told) == 6
    assert {opinion for _, opinion in scene.told} == {ESTIMATE.opinion}
    shadow = scene.made[2]
    assert sum(len(frame.samples) for frame in shadow.frames) == STRETCH
    first = shadow.frames[0].timestamp
    assert [frame.timestamp for frame in shadow.frames] == list(range(first, first + STRETCH, FRAME))
    assert all(frame.packet[1:] == frame.timestamp.to_bytes(6, "big") for frame in shadow.frames)
    for packet in shadow.carried:
        gone = packet.timestamp // FRAME in lost
        assert packet.fate.known
        assert (packet.fate.delay_s is None) is gone
        if packet.timestamp >= 3 * FRAME:
            assert packet.copies == (packet.timestamp - 3 * FRAME,)
    behind = shadow.carried[-1].timestamp - shadow.frames[-1].timestamp
    assert behind >= 341 * 48, "the last frame's copies are among what is known"
    assert shadow.allowance_s == pytest.approx(0.08, abs=0.001)
    at, _ = scene.told[2]
    spoken_from = 100.0 + to_seconds(first)
    assert at - SPAN_S <= spoken_from
    assert at >= spoken_from + to_seconds(STRETCH)


def test_it_waits_for_speech_and_stays_within_an_utterance() -> None:
    scene = Scene().run(30, speech=False)
    assert not scene.made
    scene.run(to_seconds(LEAST) - 0.2).run(3, speech=False)
    assert not scene.made, "so little says nothing"
    scene.run(to_seconds(LEAST) + 0.2).run(5, speech=False)
    assert len(scene.told) == 1
    assert sum(len(frame.samples) for frame in scene.made[0].frames) < STRETCH


def test_packets_without_copies_are_read_as_they_are() -> None:
    scene = Scene(red=False).run(9)
    assert len(scene.told) == 1
    assert {packet.copies for packet in scene.made[0].carried} == {()}


def test_a_listener_that_reports_nothing_is_not_judged() -> None:
    scene = Scene(deaf=True).run(30)
    assert not scene.made
    assert scene.shadowing.left_out >= 2
    assert 0 < UNKNOWN < 1


def test_what_it_costs_decides_how_often() -> None:
    cheap, dear = Scene(slice_s=0.002).run(100), Scene(slice_s=0.02).run(100)
    assert len(cheap.told) == 10
    slices = -(-STRETCH // SLICE)
    assert len(dear.told) == pytest.approx(100 / (slices * 0.02 / 0.01), abs=1)


def test_ticks_that_come_rarely_give_up_nothing_while_nothing_was_begun() -> None:
    """As while the data track has the speech and nothing is urgent."""
    scene = Scene()
    for _ in range(20):
        scene.stall(0.5)
    assert scene.shadowing.left_out == 0
    assert len(scene.run(9).told) == 1


def test_a_loaded_machine_is_left_alone() -> None:
    scene = Scene().run(1)
    scene.stall(0.4)
    scene.run(PERIOD_S - 1)
    assert not scene.made
    assert scene.shadowing.left_out == 1
    scene.run(PERIOD_S)
    assert len(scene.told) == 1, "it comes back"
    slow = Scene(slice_s=0.06).run(100)
    assert not slow.told, "a slice that takes so long shows the load too"
    assert slow.shadowing.left_out >= 5


def test_a_fault_of_its_own_ends_it_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    scene = Scene()

    def broken(*_: Any, **__: Any) -> Any:
        raise ArithmeticError("a number grew too large")

    scene.shadowing._make = broken
    scene.run(30)
    assert scene.shadowing.failed
    assert caplog.text.count("not estimated any more") == 1


@dataclass(kw_only=True)
class Steered:
    """A controller with one plan, that keeps what was heard."""

    profile: Any
    heard: list[HeardReport] = field(default_factory=list)

    def on_heard(self, report: HeardReport) -> None:
        self.heard.append(report)

    def _ignore(self, *_: object, **__: object) -> None: ...

    on_network = on_compute = on_content = on_carrier = _ignore

    def plan(self, now: float) -> Plan:
        return Plan(rung=Rung(bitrate=32_000, bandwidth=Bandwidth.FB, frame_ms=20), tier="full", reason=Reason.FORCED)


async def test_the_estimate_reaches_controller_snapshot_and_metrics(serve, monkeypatch) -> None:
    server = await serve(lab=True)
    controllers: list[Steered] = []

    def load(name: str, *, profile: Any) -> Steered:
        controllers.append(Steered(profile=profile))
        return controllers[-1]

    monkeypatch.setattr("transport_webrtc.listener.load_controller", load)

    async def heard(network: dict[str, Any]) -> float:
        """The opinion of a listener behind that network."""
        pc = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        transceiver = pc.addTransceiver("audio", "recvonly")
        aiortc_private.gather_on_loopback(transceiver.sender, always=False)
        await pc.setLocalDescription(await pc.createOffer())
        offer = offer_more(pc.localDescription.sdp)
        made = await server.client.post("/v1/listen", content=offer, headers={"Content-Type": "application/sdp"})
        await pc.setRemoteDescription(RTCSessionDescription(sdp=for_far_end(made.text), type="answer"))
        location = str(made.url.join(made.headers["location"]))
        listener = server.listeners.get(location.rsplit("/", 1)[1])
        far = FarEnd(transceiver.receiver)
        try:
            await server.until(lambda: listener.state == "connected" and listener.age_s > 1)
            listener.network.set(down=network)
            assert (await server.client.get(location)).json()["heard_opinion"] is None
            await server.client.post(f"{location}/speak", json={"say": "a" * 400})
            await server.until(lambda: listener.heard_opinion() is not None, seconds=25)
            assert "legato_heard_opinion" in (await server.client.get("/metrics")).text
            return (await server.client.get(location)).json()["heard_opinion"]
        finally:
            await far.close()
            await pc.close()

    clean, lossy = await asyncio.gather(heard({}), heard({"loss_list": [False, False, False, True]}))
    assert clean > lossy
    told = [report.opinion for controller in controllers for report in controller.heard if report.opinion is not None]
    assert sorted(round(opinion, 2) for opinion in told) == sorted((clean, lossy))
