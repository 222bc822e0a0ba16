"""The network goes away for longer than any connection lives, and speech that was sent ahead sounds on."""

import time
from collections.abc import Callable

import pytest
from bare import Bare, Played
from recordings import RATE, gaps_s, lasts_s, rendered, runs

pytestmark = pytest.mark.browser

DEAD = {"down": {"loss": 1}, "up": {"loss": 1}}
COUNT = "one two three four five six seven eight nine ten eleven twelve"
SLACK_S = 0.01
"""A codec rounds the edges of a tone."""


def heard_whole(bare: Bare, text: str) -> Played:
    """It was rendered from its first tick to its last, with the pauses of its clauses and no other."""
    heard, expected, player = bare.played(), rendered(text), bare.player()
    lasted_s, silences_s = lasts_s(heard.samples), gaps_s(heard.samples)
    print(f"{lasted_s:.3f} s of {lasts_s(expected):.3f}, silences {silences_s}, {player}")
    assert lasted_s == pytest.approx(lasts_s(expected), abs=SLACK_S)
    assert silences_s == pytest.approx(gaps_s(expected), abs=SLACK_S)
    assert (player["concealed_ticks"], player["starved_s"]) == (0, 0)
    return heard


@pytest.mark.long
def test_a_story_goes_on_through_ten_seconds_without_a_network(server, listen: Callable) -> None:
    bare = Bare(listen(server)).join(profile="narration", carrier="data")
    text = " ".join([COUNT] * 11)
    utterance = bare.say(text)
    bare.reach(utterance, 15 * RATE, within_s=30)
    assert server.get(bare.ear.listener)["lead_s"] > 14
    server.ask("PUT", f"{bare.ear.listener}/network", DEAD)
    bare.ear.rest(10)
    server.ask("PUT", f"{bare.ear.listener}/network", {"preset": "clean"})
    bare.wait("finished", utterance, within_s=60)
    bare.ear.rest(0.2)
    heard_whole(bare, text)
    assert len(bare.ear.listeners) > 1, "it tried to come back meanwhile"


def test_an_instruction_for_later_is_heard_without_the_network(server, listen: Callable) -> None:
    at_s, before_s, text = 2.5, 1.0, "one two three four five six seven"
    bare = Bare(listen(server)).join(profile="navigation", carrier="data")
    clock_ms, asked = bare.clock_ms(), time.monotonic()
    utterance = bare.say(text, at=at_s)
    bare.ear.rest(at_s - before_s - (time.monotonic() - asked))
    server.ask("PUT", f"{bare.ear.listener}/network", DEAD)
    bare.page.wait_for_function(
        "() => listener.stats().then(({player}) => player.played > 0 && player.state === 'empty')", timeout=20_000
    )
    assert not bare.told("finished", utterance), "the network was there"
    server.ask("PUT", f"{bare.ear.listener}/network", {"preset": "clean"})
    bare.wait("finished", utterance)
    heard = heard_whole(bare, text)
    late_s = (runs(heard.samples)[0][0] - heard.at((asked + at_s) * 1000 + clock_ms)) / RATE
    print(f"it began {late_s * 1000:+.1f} ms after its time")
    assert 0 <= late_s < 0.05
