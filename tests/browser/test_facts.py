"""What a browser tells of every packet, against what the link really did with it; and what protection repairs there."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from inside import Inside

from adaptive.control.plan import Bandwidth, Plan, Protection, Reason, Rung
from adaptive.control.profiles import Profile
from adaptive.control.reports import NetworkReport
from quality.lab import Fate

pytestmark = pytest.mark.browser

TEXT = "a" * 1_200
"""The tone voice makes 60 ms of each character."""
AGREE = 0.999
MAX_CONCEALED = 0.005
MAX_CONCEALED_REPAIRED = 0.01
HALFWAY = {"delay_ms": 50}
RUNG = Rung(bitrate=24_000, bandwidth=Bandwidth.FB, frame_ms=20)
RTCP = range(192, 224)


@dataclass(kw_only=True)
class Steered:
    """A controller that does what the test wants, and keeps what it is told."""

    profile: Profile
    rung: Rung = RUNG
    protection: Protection = field(default_factory=Protection)
    reports: list[NetworkReport] = field(default_factory=list)
    takes: dict[str, bool] = field(default_factory=dict)

    def on_network(self, report: NetworkReport) -> None:
        self.reports.append(report)

    def on_carrier(self, carrier: object, **takes: bool) -> None:
        self.takes = takes

    def _ignore(self, fact: object) -> None:
        """Nothing moves it."""

    on_compute = on_content = on_heard = _ignore

    def plan(self, now: float) -> Plan:
        return Plan(rung=self.rung, tier="full", reason=Reason.FORCED, protection=self.protection)


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Inside, list[Steered]]]:
    """The server, and the controllers that its listeners get."""
    controllers: list[Steered] = []

    def load(name: str, *, profile: Profile) -> Steered:
        controllers.append(Steered(profile=profile))
        return controllers[-1]

    monkeypatch.setattr("transport_webrtc.listener.load_controller", load)
    server = Inside()
    yield server, controllers
    server.close()


@dataclass
class Speaking:
    """A page that hears a long tone, 50 ms away."""

    ear: Any
    server: Inside
    controller: Steered
    fates: dict[int, Fate] = field(default_factory=dict)
    """By transport-wide number, of the first sending of each packet."""

    def sent(self, datagram: bytes, fate: Fate) -> None:
        """Notes what becomes of a packet on its way down; header extensions are not encrypted (RFC 3711)."""
        if 128 <= datagram[0] < 192 and datagram[1] not in RTCP:
            self.fates.setdefault(number_of(datagram), fate)

    def concealed(self, meanwhile: Callable[[], None]) -> float:
        """Share of what comes out meanwhile that the receiver makes up."""
        before = self.ear.stats()
        meanwhile()
        after = self.ear.stats()
        made_up, total = (after[name] - before[name] for name in ("concealedSamples", "totalSamplesReceived"))
        assert total > 48_000
        return made_up / total

    def told(self) -> list[bool | None]:
        """What was said of every packet, by transport-wide number, as far as it is settled."""
        return [fate for report in self.controller.reports for fate in report.lost_mask or ()]

    def agreement(self, first: int) -> tuple[float, float]:
        """From packet `first` on: share of what was said that is true, and of packets of which nothing was said."""
        told = self.told()
        known = {n: told[n] is (fate is not Fate.CARRIED) for n, fate in self.fates.items() if first <= n < len(told)}
        unknown = [n for n in known if told[n] is None]
        said = [true for n, true in known.items() if told[n] is not None]
        assert len(said) > 100
        return sum(said) / len(said), len(unknown) / len(known)


def number_of(datagram: bytes) -> int:
    """The transport-wide number of an RTP packet: the only element of two bytes in its extension (RFC 8285)."""
    assert datagram[12:14] == b"\xbe\xde"
    at, end = 16, 16 + 4 * int.from_bytes(datagram[14:16], "big")
    while at < end:
        length = (datagram[at] & 0x0F) + 1
        if length == 2 and datagram[at]:
            return int.from_bytes(datagram[at + 1 : at + 3], "big")
        at += 1 + length if datagram[at] else 1
    raise AssertionError(f"no number in {datagram[:end].hex()}")


@pytest.fixture
def speaking(inside: tuple[Inside, list[Steered]], listen: Callable) -> Iterator[Speaking]:
    """Connected, settled, and sounding."""
    server, controllers = inside
    ear = listen(server)
    ear.open("voice=tone&buffer=250&carrier=audio")
    scene = Speaking(ear, server, controllers[0])
    server.do(lambda: server.listener.network.watch(scene.sent))
    server.network(down=HALFWAY, up=HALFWAY)
    ear.rest(0.5)
    ear.say(TEXT, voice="tone")
    ear.wait("sounding", within_s=5)
    ear.rest(1.5)
    yield scene
    ear.page.close()


def check_facts(speaking: Speaking, seconds: float) -> None:
    """The mask is the drop list, though half of what is lost is sent again and all of it travels twice."""
    speaking.controller.protection = Protection(copies=(3,), nack=True)
    first = len(speaking.told())
    speaking.server.network(down={"loss": 0.05, "burst": 2})
    speaking.ear.rest(seconds)
    true, unknown = speaking.agreement(first)
    dropped = sum(fate is Fate.LOST for n, fate in speaking.fates.items() if n >= first)
    repeats = speaking.server.listener.sent.repeats
    print(f"clean uplink: {true:.4%} true, {unknown:.2%} unknown, {dropped} dropped, {repeats} sent again")
    assert true >= AGREE
    assert unknown <= 1 - AGREE
    assert repeats >= dropped / 2 > 0

    first = len(speaking.told())
    speaking.server.network(up={"loss": 0.1})
    speaking.ear.rest(seconds)
    true, unknown = speaking.agreement(first)
    print(f"uplink with 10 % loss: {true:.4%} true, {unknown:.2%} unknown")
    assert true >= AGREE
    assert 0.02 <= unknown <= 0.25


def test_the_mask_is_the_drop_list(speaking: Speaking) -> None:
    assert speaking.controller.takes == {"red": True, "nack": True}
    check_facts(speaking, 3.0)


@pytest.mark.long
def test_the_mask_is_the_drop_list_for_a_minute(speaking: Speaking) -> None:
    check_facts(speaking, 30.0)


def test_protection_and_frames_change_in_the_middle_of_speech_unheard(speaking: Speaking, undisturbed) -> None:
    shares: list[float] = []

    def change() -> None:
        for copies in ((), (1,), (6,), (3, 7), ()):
            speaking.controller.protection = Protection(copies=copies)
            speaking.ear.rest(0.6)
        for frame_ms in (60, 20, 40, 20):
            speaking.controller.rung = replace(RUNG, frame_ms=frame_ms)
            speaking.ear.rest(0.6)

    def once():
        speaking.ear.begin()
        shares.append(speaking.concealed(change))
        return speaking.ear.end()

    undisturbed(once)
    print(f"concealed share {shares[-1]:.2%}")
    assert shares[-1] <= MAX_CONCEALED
    assert speaking.server.listener.sent.copy_bytes > 2_000


def test_copies_and_retransmissions_repair_ten_percent_of_loss(speaking: Speaking, undisturbed) -> None:
    shares: list[float] = []
    speaking.controller.protection = Protection(copies=(3,), nack=True)
    speaking.ear.rest(0.3)
    speaking.server.network(down={"loss": 0.1})

    def once():
        speaking.ear.begin()
        shares.append(speaking.concealed(lambda: speaking.ear.rest(4)))
        return speaking.ear.end()

    undisturbed(once)
    print(f"concealed share {shares[-1]:.2%}")
    assert shares[-1] <= MAX_CONCEALED_REPAIRED
    report = speaking.server.listener.network_report
    assert report.source == "twcc"
    assert report.rtt_s >= 0.1
