"""Losses as lists: the same for everybody, with the share and the bursts asked for, told when they change."""

from itertools import groupby

import pytest

from quality.lab.link import Link
from quality.lab.settings import LinkSettings
from transport_webrtc.bench.network.drops import LENGTH, changes, drop_list

RANDOM = LinkSettings(loss=0.1)
BURSTS = LinkSettings(loss=0.1, burst=3)


@pytest.mark.parametrize(("settings", "burst"), [(RANDOM, 1.11), (BURSTS, 3)])
def test_a_list_has_the_share_and_the_bursts(settings: LinkSettings, burst: float) -> None:
    drops = drop_list(settings, "1")
    runs = [len(list(run)) for lost, run in groupby(drops) if lost]
    assert sum(drops) / LENGTH == pytest.approx(0.1, abs=0.02)
    assert sum(runs) / len(runs) == pytest.approx(burst, rel=0.1)


def test_a_seed_fixes_it_and_another_one_changes_it() -> None:
    assert drop_list(RANDOM, "1 down") == drop_list(RANDOM, "1 down") != drop_list(RANDOM, "2 down")


def test_a_link_told_so_loses_what_the_list_says() -> None:
    link: Link[int] = Link(seed=99, start=0.0)
    link.set(now=0.0, **changes(None, BURSTS, "7"))
    arrived = []
    for number in range(500):
        link.offer(number / 50, 100, number)
        arrived += link.due(number / 50)
    assert arrived == [number for number, lost in enumerate(drop_list(BURSTS, "7")[:500]) if not lost]


def test_only_what_changes_is_told() -> None:
    narrow = RANDOM.changed({"rate_kbps": 40})
    assert changes(RANDOM, narrow, "1") == {"rate_kbps": 40}
    assert changes(narrow, narrow, "1") == {}


def test_all_and_nothing_need_no_list() -> None:
    clean, dead = LinkSettings(), LinkSettings(loss=1.0)
    assert changes(clean, dead, "1") == {"loss": 1.0, "loss_list": ()}
    assert changes(dead, clean, "1") == {"loss": 0.0, "loss_list": ()}
    assert changes(RANDOM, clean, "1") == {"loss": 0.0, "loss_list": ()}
