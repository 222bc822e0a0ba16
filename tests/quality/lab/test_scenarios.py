"""Scenarios load, say what they do, and do what they say on the real link."""

from itertools import pairwise
from pathlib import Path

import pytest

from quality.lab.link import Link
from quality.lab.scenarios import BASE, LEAD_IN_S, ORDER, cut, load, names, parse

SECONDS = 16
PACKET_BYTES = 150
PER_S = 50


def carried(name: str) -> list[tuple[float, float]]:
    """(when it was sent, when it arrived) of 20 ms packets down the scenario, in seconds from the speech's start."""
    scenario = load(name)
    link: Link[float] = Link(seed=3, start=-LEAD_IN_S)
    got: list[tuple[float, float]] = []
    settings = None
    for count in range(round(-LEAD_IN_S * PER_S), SECONDS * PER_S):
        now = count / PER_S
        wanted = scenario.settings("down", now)
        if wanted != settings:
            link.set(now=now, **{n: getattr(wanted, n) for n in wanted.__dataclass_fields__})
            settings = wanted
        link.offer(now, PACKET_BYTES, now)
        for step in range(20):
            at = now + step / 1000
            got += [(sent, at) for sent in link.due(at)]
    return got


def test_all_are_there_with_a_sentence_each() -> None:
    assert names() == ORDER
    for name in names():
        says = load(name).says
        assert says.endswith("."), name
        assert load(name).settings("down", -LEAD_IN_S - 1).delay_ms == BASE["delay_ms"]
        assert load(name).settings("up", 1).delay_ms == BASE["delay_ms"]


@pytest.mark.parametrize(("name", "share"), [("clean", 0), ("random5", 0.05), ("random10", 0.1), ("random20", 0.2)])
def test_random_loss_begins_before_the_speech_and_has_its_share(name: str, share: float) -> None:
    before = {round(sent * PER_S) for sent, _ in carried(name) if sent < 0}
    during = {round(sent * PER_S) for sent, _ in carried(name) if 0 <= sent < SECONDS - 1}
    assert len(during) / ((SECONDS - 1) * PER_S) == pytest.approx(1 - share, abs=3 * (share * (1 - share) / 750) ** 0.5)
    assert len(before) / (LEAD_IN_S * PER_S) == pytest.approx(1 - share, abs=3 * (share * (1 - share) / 250) ** 0.5)
    assert load(name).settings("up", 1).loss == 0


def test_bursts_are_three_packets_long() -> None:
    arrived = {round(sent * PER_S) for sent, _ in carried("burst10")}
    lost = [n for n in range(round(-LEAD_IN_S * PER_S), (SECONDS - 1) * PER_S) if n not in arrived]
    runs = 1 + sum(b - a > 1 for a, b in pairwise(lost))
    assert len(lost) / runs == pytest.approx(3, abs=1)


def test_jitter_is_in_order_and_of_thirty_milliseconds() -> None:
    trips = carried("jitter30")
    assert [sent for sent, _ in trips] == sorted(sent for sent, _ in trips)
    late = [arrived - sent for sent, arrived in trips]
    assert max(late) > 0.1
    assert min(late) < 0.05


@pytest.mark.parametrize(("name", "kbps"), [("step40", 40), ("step24", 24)])
def test_a_step_holds_for_six_seconds_with_a_queue_of_thirty_kilobytes(name: str, kbps: float) -> None:
    trips = carried(name)
    passed = sum(PACKET_BYTES * 8 for _, arrived in trips if 4 <= arrived < 9)
    assert passed / 5000 == pytest.approx(kbps, rel=0.05)
    assert max(arrived - sent for sent, arrived in trips if sent < 2.9) < 0.06
    assert max(arrived - sent for sent, arrived in trips if sent > 9.1) < 0.06
    assert load(name).squeeze == (3, 9, kbps)
    assert load(name).settings("down", 4).queue_bytes == 30_000
    assert load(name).settings("up", 4).rate_kbps is None


@pytest.mark.parametrize(("name", "seconds"), [("outage3", 3), ("outage10", 10)])
def test_an_outage_lets_nothing_pass_either_way(name: str, seconds: float) -> None:
    sent = [at for at, _ in carried(name)]
    assert not [at for at in sent if 3 <= at < 3 + seconds]
    assert [at for at in sent if 2.5 < at < 3]
    assert [at for at in sent if 3 + seconds < at]
    assert load(name).settings("up", 4).loss == 1
    assert load(name).settings("up", 3 + seconds).loss == 0


def test_a_trace_begins_so_that_the_speech_meets_its_second(tmp_path: Path) -> None:
    """One opportunity a millisecond but for a hole in the trace's second 7."""
    trace = tmp_path / "radio.down"
    trace.write_text("\n".join(str(ms) for ms in range(1, 60_001) if not 7000 <= ms < 8000))
    scenario = load(f"{trace}@6")
    opportunities = scenario.settings("down", 0).trace
    hole = (LEAD_IN_S + 1) * 1000
    assert not [at for at in opportunities if hole <= at < hole + 1000]
    assert [at for at in opportunities if hole - 2 <= at < hole]
    assert scenario.name == "radio.down@6"
    assert scenario.settings("down", 0).queue_bytes == 60_000


def test_a_trace_goes_round() -> None:
    assert cut((10, 20, 30), 25, 40) == (5, 15, 25, 35, 40)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[[step]]\nat_s = 1\nloss = .1", "no TOML"),
        ("[[step]]\nat_s = 1\nloss = 0.1", "does not say"),
        ('says = "x."\nwhat = 1', "means nothing"),
        ('says = "x."\n[[step]]\nloss = 0.1', "no time"),
        ('says = "x."\n[[step]]\nat_s = 1\nlos = 0.1', "no setting 'los'"),
        ('says = "x."\n[[step]]\nat_s = 1\nloss = 2', "loss must be"),
        ('says = "x."\n[[step]]\nat_s = 1\ndirection = "left"', "down, up or both"),
        ('says = "x."\n[[step]]\nat_s = 2\n[[step]]\nat_s = 1', "order of time"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse("mine", text)


@pytest.mark.parametrize("name", ["rndom5", "nowhere.toml", "nowhere.down@5", "README.md@x"])
def test_an_unknown_scenario_is_refused_with_a_sentence(name: str) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        load(name)
