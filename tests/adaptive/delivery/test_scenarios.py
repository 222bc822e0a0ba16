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
    assert min(heard.encoded) >= 16_000, "it falls early enough to fall little"
    assert (heard.player.starved_s, heard.player.concealed) == (0.0, 0)


@pytest.mark.parametrize(("capacity", "silence"), [(40, 0.7), (24, 1.4)])
def test_a_path_that_is_narrow_from_the_start(ride: Any, link: Settings, capacity: int, silence: float) -> None:
    heard = ride(link(delay_ms=50, rate_kbps=capacity), link(delay_ms=50), starts=((0.0, 15.0),)).run(20)
    assert heard.player.whole == [1]
    assert heard.player.concealed == 0
    assert heard.player.starved_s <= silence
    assert heard.to.flow(20).overflow_packets == 0


def connect(ride: Any) -> None:
    """As the data track does when its channel opens."""
    ride.delivery.flush(ride.now)


@pytest.mark.parametrize(
    ("capacity", "silence", "since"), [(12, 0.35, 0.0), (12, 0.35, 1.0), (16, 0.3, 0.0), (24, 0.15, 1.0)]
)
def test_a_path_found_narrow_before_speech(
    ride: Any, link: Settings, capacity: int, silence: float, since: float
) -> None:
    """Both ways, beside 100 bytes every half second. What the path carries is known before the first word, so that
    nothing is sent that has to pass before speech of the right rung can."""
    path = link(delay_ms=50, steps=((0, 300 if since else capacity), (since, capacity)))
    said_at = 5.0 + since
    heard = ride(path, path, starts=((said_at, 12.0),), events={0.0: connect}, beside=(0.5, 100)).run(said_at + 20)
    assert heard.player.whole == [1]
    assert heard.player.concealed == 0
    assert heard.player.first_sound - said_at <= 0.6, "a probe may be on its way before it"
    assert heard.player.starved_s <= silence
    assert heard.player.starved_after(said_at + 2) == 0.0
    assert heard.to.flow(30).overflow_packets == 0
    if capacity == 12:
        assert set(heard.encoded) <= {6_000, 8_000}


def test_a_narrow_path_that_nobody_knew_of(ride: Any, link: Settings) -> None:
    """What was sent before anything was known has to pass; from then on there is no silence."""
    heard = ride(link(delay_ms=50, rate_kbps=12), link(delay_ms=50), starts=((0.0, 20.0),)).run(30)
    assert heard.player.whole == [1]
    assert heard.player.concealed == 0
    assert heard.player.starved_s <= 4.0
    assert heard.player.starved_after(6.0) == 0.0


@pytest.mark.parametrize("jitter", [0, 30])
def test_a_wide_path_is_never_found_narrow(ride: Any, link: Settings, jitter: float) -> None:
    path = link(delay_ms=50, jitter_ms=jitter, loss=0.05)
    heard = ride(path, path, starts=((40.0, 3.0),), events={0.0: connect}).run(45)
    assert heard.encoded == {32_000: 3 * 48_000}
    assert heard.player.first_sound - 40 <= 0.2
    found = [report.capacity for report in heard.reports if report.capacity is not None and report.at > 5]
    assert min(found) >= 50_000
    assert found.count(64_000) >= 0.9 * len(found)


def test_probes_cost_little(ride: Any, link: Settings) -> None:
    path = link(delay_ms=50)
    heard = ride(path, path, starts=((60.0, 1.0),), events={0.0: connect}).run(59)
    assert heard.probes > 20
    assert heard.sent_bytes * 8 / 59 <= 2_500


def test_a_path_that_widens_while_nothing_is_said(ride: Any, link: Settings) -> None:
    path = link(delay_ms=50, steps=((0, 12), (12, 300)))
    heard = ride(path, path, starts=((4.0, 5.0), (20.0, 4.0)), events={0.0: connect}).run(28)
    assert heard.player.whole == [1, 2]
    assert heard.encoded[32_000] == 4 * 48_000
    assert heard.player.starved_after(20.0) == 0.0


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


def opportunities(*runs: tuple[int, int, int]) -> tuple[int, ...]:
    """Milliseconds at which 1504 bytes may pass: (from, to, between)."""
    return tuple(at for begin, end, gap in runs for at in range(begin, end, gap))


@pytest.mark.parametrize(("said_at", "silence"), [(5.0, 0.2), (0.3, 0.0)])
def test_a_path_that_stands_still_at_the_first_word(ride: Any, link: Settings, said_at: float, silence: float) -> None:
    """Wide until 5 s; then eight packets pass in 1.3 s, none for 3 s, eight, and none for another second."""
    gaps = (
        (5610, 5613, 1),
        (5930, 5931, 1),
        (6271, 6275, 1),
        (9228, 9236, 1),
        (10_590, 11_900, 10),
        (11_900, 40_000, 50),
    )
    down = link(delay_ms=50, trace=opportunities((0, 5000, 40), *gaps), queue_bytes=60_000)
    heard = ride(down, link(delay_ms=50), starts=((said_at, 12.0),), events={0.0: connect}).run(30)
    assert heard.player.whole == [1]
    assert heard.player.concealed == 0
    assert heard.player.starved_s <= silence


def test_a_narrow_path_is_not_filled_with_answers(ride: Any, link: Settings) -> None:
    """12 kb/s both ways: what comes back leaves most of it free, as SCTP's own acknowledgements need it, too."""
    path = link(delay_ms=50, rate_kbps=12)
    heard = ride(path, path, starts=((5.0, 12.0),), events={0.0: connect}).run(5.0)
    before = heard.fro.flow(5.0).offered_bytes
    heard.run(17.0)
    assert (heard.fro.flow(17.0).offered_bytes - before) * 8 / 12 <= 5_000
    assert heard.player.starved_after(7.0) == 0.0


def test_what_was_found_outlasts_the_answers_of_a_player_that_waits(ride: Any, link: Settings) -> None:
    """One that has nothing to play answers once a second: that is no outage."""
    path = link(delay_ms=50, rate_kbps=12)
    for said_at in (4.0, 4.5, 5.5, 6.0, 6.5):
        heard = ride(path, link(delay_ms=50), starts=((said_at, 5.0),), events={0.0: connect}).run(said_at + 0.5)
        assert heard.to.flow(said_at + 0.5).queue_bytes <= 1_200, said_at


def test_a_path_that_moves_again_is_not_taken_for_a_wide_one(ride: Any, link: Settings) -> None:
    """What comes through in a moment after a second of nothing came in a second."""
    down = link(delay_ms=50, steps=((0, 300), (5.05, 0), (6.5, 3000), (6.55, 24), (12, 24)))
    heard = ride(down, link(delay_ms=50), starts=((5.0, 10.0),), events={0.0: connect}).run(20)
    assert max(report.received_rate or 0.0 for report in heard.reports if report.at > 6.5) <= 150_000
    assert heard.player.starved_after(7.0) == 0.0


def test_an_outage_that_the_lead_outlasts_costs_no_quality(ride: Any, link: Settings) -> None:
    path = link(delay_ms=50)
    heard = ride(path, path, starts=((5.0, 15.0),), events={0.0: connect, **outage(8, 11)}).run(25)
    assert heard.player.whole == [1]
    assert heard.encoded == {32_000: 15 * 48_000}
    assert heard.player.starved_s == 0.0
