"""A voice forced from format to format while it speaks on the data track: no seam, and the bytes that were due."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from adaptive.codec.carried import SEAM_TICKS, CarriedEncoder
from adaptive.codec.pcm import REACH, band_limited
from adaptive.control.plan import Bandwidth, Codec, Format, Plan, Reason, Rung
from adaptive.control.profiles import Profile
from adaptive.delivery import SpeechMessage
from adaptive.delivery.bundling import MESSAGE_COST
from adaptive.delivery.wire import HEADER_BYTES, LENGTH_BYTES
from quality.seam_judge import LIMIT, judge_seam
from transport_webrtc.client import Client

REAL = (pytest.mark.voices, pytest.mark.long)

TEXT = "The boat leaned out of the harbour like an old man leaving a warm room, and every lamp on board swung out."
RUNG = Rung(bitrate=32_000, bandwidth=Bandwidth.FB, frame_ms=20)
WAY = (
    Format(codec=Codec.PCM16, rate=24_000),
    Format(codec=Codec.ULAW, rate=8_000),
    Format(codec=Codec.OPUS, rate=48_000),
    Format(codec=Codec.PCM16, rate=16_000),
    Format(codec=Codec.OPUS, rate=48_000),
    Format(codec=Codec.ULAW, rate=8_000),
)
LEAD_S = 0.4
"""So short that a plan is soon in what is sent."""
AROUND = 9_600
"""Ticks on each side of a seam by which it is judged."""
AUDIBLE = 0.003
TOLERANCE = 0.03


@dataclass(kw_only=True)
class Forced:
    """Takes the next format every `hold_s`, around and around."""

    profile: Profile
    hold_s: float
    begun: float | None = None

    def _ignore(self, fact: object, **_: object) -> None:
        """Nothing moves it."""

    on_network = on_compute = on_content = on_heard = on_carrier = _ignore

    def plan(self, now: float) -> Plan:
        self.begun = now if self.begun is None else self.begun
        form = WAY[int((now - self.begun) / self.hold_s) % len(WAY)]
        return Plan(rung=RUNG, tier="full", reason=Reason.FORCED, format=form)


@dataclass
class Before:
    """What goes into the codecs: for each frame its first tick, its format and the samples at 48 kHz."""

    frames: list[tuple[int, Format, np.ndarray]] = field(default_factory=list)
    said: list[np.ndarray] = field(default_factory=list)

    def stand_before(self, monkeypatch: pytest.MonkeyPatch) -> None:
        frame, push = CarriedEncoder._frame, CarriedEncoder.push

        def framed(encoder: CarriedEncoder, ticks: int, *, last: bool) -> Any:
            start = encoder._position
            self.frames.append((start, encoder._setting.format, encoder._signal(start, start + ticks)))
            return frame(encoder, ticks, last=last)

        def pushed(encoder: CarriedEncoder, samples: np.ndarray) -> Any:
            self.said.append(samples)
            return push(encoder, samples)

        monkeypatch.setattr(CarriedEncoder, "_frame", framed)
        monkeypatch.setattr(CarriedEncoder, "push", pushed)

    def seams(self) -> Iterator[tuple[Format, Format, float]]:
        """Each change of format that can be heard, and the worst of it."""
        said = np.concatenate(self.said)
        padded = np.pad(said, REACH + AROUND)
        branches = {form.rate: band_limited(padded, form.rate) for form in WAY}
        came = np.pad(np.concatenate([samples for _, _, samples in self.frames])[: len(said)], AROUND)
        for (_, old, _), (at, new, _) in pairwise(self.frames):
            if old == new or at > len(said) - AROUND or np.sqrt(np.mean(said[at - 480 : at + 960] ** 2)) < AUDIBLE:
                continue
            first = at - SEAM_TICKS if new.rate < old.rate else at
            around = slice(first, first + 2 * AROUND)
            heard, before, after = (
                signal[around].astype(np.float32) for signal in (came, branches[old.rate], branches[new.rate])
            )
            yield old, new, judge_seam(heard, before, after, at=AROUND, fade=SEAM_TICKS).r


@pytest.mark.parametrize(
    ("voice", "hold_s", "text"),
    [
        pytest.param("tone", 0.25, "mum " * 8, marks=pytest.mark.long),
        pytest.param("joe", 0.6, TEXT * 4, marks=REAL),
        pytest.param("heart", 0.6, TEXT * 4, marks=REAL),
    ],
)
async def test_a_change_of_format_has_no_seam_and_costs_what_is_computed(
    serve: Any, ahead: Any, monkeypatch: pytest.MonkeyPatch, voice: str, hold_s: float, text: str
) -> None:
    monkeypatch.setattr(
        "transport_webrtc.listener.load_controller", lambda name, profile: Forced(profile=profile, hold_s=hold_s)
    )
    from transport_webrtc.listeners import PROFILES

    short = {name: replace(profile, lead_s=LEAD_S) for name, profile in PROFILES.items()}
    monkeypatch.setattr("transport_webrtc.listeners.PROFILES", short)
    before = Before()
    before.stand_before(monkeypatch)
    server = await serve(voices=(voice,), voice=voice, lab=True)
    async with Client(server.url, carrier="data") as client:
        (listener,) = server.listeners
        wire = ahead(listener)
        name = await client.say(text)
        ended = await client.told("finished", id=name, timeout_s=60)
        assert client.ear.player.broken == 0
        assert sum(gap.lost for gap in client.ear.gaps) == 0
        assert client.ear.player.spoken_s == pytest.approx(ended["ticks"] / 48_000, abs=0.03)
    seams = list(before.seams())
    for old, new, r in seams:
        print(f"{old.codec} {old.rate} → {new.codec} {new.rate}: r {r:.2f}")
    assert len({(old, new) for old, new, _ in seams}) >= 4
    assert max(r for _, _, r in seams) <= LIMIT

    left = [(m, size) for (_, m), size in zip(wire.messages, wire.sizes, strict=True) if isinstance(m, SpeechMessage)]
    speech = [message for message, _ in left]
    computed = sum(HEADER_BYTES + MESSAGE_COST + sum(LENGTH_BYTES + len(f) for f in m.frames) for m in speech)
    on_wire = sum(size for _, size in left)
    print(f"{len(speech)} messages, {on_wire} bytes on the wire, {on_wire / computed - 1:+.2%} of what is computed")
    assert on_wire == pytest.approx(computed, rel=TOLERANCE)
    frames: dict[Format, dict[int, tuple[int, int]]] = defaultdict(dict)
    for message in speech:
        for index, payload in enumerate(message.frames):
            frames[message.format][message.position + index * message.ticks] = message.ticks, len(payload)
    assert set(frames) == set(WAY)
    for form, own in frames.items():
        seconds = sum(ticks for ticks, _ in own.values()) / 48_000
        rate = {Codec.PCM16: 16 * form.rate, Codec.ULAW: 8 * form.rate, Codec.OPUS: RUNG.bitrate}[form.codec]
        found = sum(size for _, size in own.values())
        print(f"{form.codec} {form.rate}: {found} bytes in {seconds:.2f} s, {found * 8 / rate / seconds - 1:+.2%}")
        if form.codec is not Codec.OPUS:
            assert found * 8 == pytest.approx(rate * seconds, rel=TOLERANCE)
