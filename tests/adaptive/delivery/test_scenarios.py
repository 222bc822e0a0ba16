"""Whole rides on virtual time, 50 ms each way: what the player hears where the network is bad."""

from typing import Any

import pytest

Settings = Any
OFF, ON = {"loss": 1.0}, {"loss": 0.0}


def outage(begin: float, end: float) -> dict[float, Any]:
    def set_both(**changes: float) -> Any:
        def change(ride: Any) -> None:
            ride.to.set(now=ride.now, **changes)
            ride.fro.set(now=ride.now, **changes)

        return change

    return {begin: set_both(**OFF), end: set_both(**ON)}


def kbps(steps: list[tuple[float, float]]) -> Any:
    return {"steps": tuple(steps)}


def test_a_clean_path(ride: Any, link: Settings) -> None:
    heard = ride(link(delay_ms=50), link(delay_ms=50)).run(15)
    assert heard.player.whole == [1]
    assert (heard.player.concealed, heard.player.starved_s) == (0, 0.0)
    assert heard.player.first_sound <= 0.06
    assert heard.rungs == []
    assert heard.sent_bytes * 8 / 12 < 42_000
    assert heard.sent < 90


@pytest.mark.parametrize("loss", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("seed", [1, 2])
def test_random_loss_both_ways(ride: Any, link: Settings, loss: float, seed: int) -> None:
    path = link(delay_ms=50, loss=loss)
    heard = ride(path, path, seed=seed).run(15)
    assert heard.player.whole == [1]
    assert heard.player.starved_s == 0.0
    assert heard.player.concealed_late <= 0.001 * 12 * 48_000
    assert heard.player.first_sound <= 0.15


def test_forty_percent_both_ways(ride: Any, link: Settings) -> None:
    path = link(delay_ms=50, loss=0.4)
    players = [ride(path, path, seed=seed, starts=((0.0, 6.0),)).run(10).player for seed in range(10)]
    assert all(player.whole == [1] for player in players)
    assert sum(player.starved_s for player in players) <= 0.5
    assert sum(player.concealed_late for player in players) <= 0.005 * 10 * 6 * 48_000
    assert sorted(player.first_sound for player in players)[8] <= 0.35


def test_known_loss_protects_the_next_start(ride: Any, link: Settings) -> None:
    """What the first utterance learned makes the beginnings of later ones whole."""
    path = link(delay_ms=50, loss=0.3)
    heard = ride(path, path, starts=((0.0, 4.0), (8.0, 2.0), (14.0, 2.0), (20.0, 2.0))).run(25)
    assert heard.player.whole == [1, 2, 3, 4]
    late = heard.player.concealed_by
    assert sum(late.get(number, 0) for number in (2, 3, 4)) <= 0.06 * 48_000


def test_bursts(ride: Any, link: Settings) -> None:
    path = link(delay_ms=50, loss=0.1, burst=3)
    heard = ride(path, path, seed=2).run(15)
    assert heard.player.whole == [1]
    assert heard.player.starved_s == 0.0
    assert heard.player.concealed_late <= 0.001 * 12 * 48_000


@pytest.mark.parametrize("capacity", [24, 40])
def test_a_narrow_stretch_with_a_lead_of_three_seconds(ride: Any, link: Settings, capacity: int) -> None:
    path = link(delay_ms=50, steps=((0, 300), (5, capacity), (11, 300)))
    heard = ride(path, link(delay_ms=50), starts=((0.0, 18.0),), lead_s=3.0).run(22)
    assert heard.player.whole == [1]
    assert (heard.player.starved_s, heard.player.concealed) == (0.0, 0)


@pytest.mark.parametrize(("capacity", "silence"), [(40, 0.7), (24, 1.4)])
def test_a_path_that_is_narrow_from_the_start(ride: Any, link: Settings, capacity: int, silence: float) -> None:
    heard = ride(link(delay_ms=50, rate_kbps=capacity), link(delay_ms=50), starts=((0.0, 15.0),)).run(20)
    assert heard.player.whole == [1]
    assert heard.player.concealed == 0
    assert heard.player.starved_s <= silence
    assert heard.to.flow(20).overflow_packets == 0


def test_twelve_kilobits(ride: Any, link: Settings) -> None:
    """What was sent before anything was known has to pass; from then on there is no silence."""
    heard = ride(link(delay_ms=50, rate_kbps=12), link(delay_ms=50), starts=((0.0, 20.0),)).run(30)
    assert heard.player.whole == [1]
    assert heard.player.concealed == 0
    assert heard.player.starved_s <= 4.0
    assert heard.player.starved_after(6.0) == 0.0


def test_an_outage_within_the_lead(ride: Any, link: Settings) -> None:
    path = link(delay_ms=50)
    heard = ride(path, path, starts=((0.0, 15.0),), events=outage(6, 9)).run(20)
    assert heard.player.whole == [1]
    assert (heard.player.starved_s, heard.player.concealed) == (0.0, 0)


def test_an_outage_of_ten_seconds_in_narration(ride: Any, link: Settings) -> None:
    path = link(delay_ms=50)
    heard = ride(path, path, starts=((0.0, 32.0),), lead_s=15.0, events=outage(15, 25)).run(34)
    assert heard.player.whole == [1]
    assert (heard.player.starved_s, heard.player.concealed) == (0.0, 0)


def test_an_outage_as_long_as_the_lead(ride: Any, link: Settings) -> None:
    path = link(delay_ms=50)
    heard = ride(path, path, starts=((0.0, 15.0),), lead_s=3.0, events=outage(6, 9)).run(20)
    assert heard.player.whole == [1]
    assert heard.player.concealed == 0
    assert heard.player.starved_s <= 0.5


def test_a_start_like_umts(ride: Any, link: Settings) -> None:
    """Nearly nothing for a second, then 3 s of nothing, as on the drive of the trace from 175 s on."""
    down = link(delay_ms=50, steps=((0, 5), (1, 200), (2.5, 0), (5.5, 60), (7, 150), (9, 20), (11, 200)))
    up = link(delay_ms=50, steps=((0, 20), (1, 100), (2.5, 0), (5.5, 60)))
    heard = ride(down, up, starts=((0.0, 15.0),)).run(22)
    assert heard.player.whole == [1]
    assert heard.player.concealed == 0
    assert heard.player.starved_s <= 0.6


def test_jitter_that_reorders(ride: Any, link: Settings) -> None:
    path = link(delay_ms=50, jitter_ms=20, reorder=True)
    heard = ride(path, path).run(15)
    assert heard.player.whole == [1]
    assert heard.player.starved_s == 0.0
    assert heard.player.concealed_late == 0
