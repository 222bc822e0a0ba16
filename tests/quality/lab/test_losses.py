import itertools

import pytest

from quality.lab import Fate, Link, LinkSettings


def fates(settings: LinkSettings, *, seed: int, count: int, gap_s: float = 0.02) -> list[bool]:
    """True for each packet lost, `count` packets offered every `gap_s`."""
    link: Link[int] = Link(settings, seed=seed)
    return [link.offer(n * gap_s, 200, n) is Fate.LOST for n in range(count)]


def runs(lost: list[bool]) -> list[int]:
    return [len(list(group)) for value, group in itertools.groupby(lost) if value]


@pytest.mark.parametrize("loss", [0.01, 0.05, 0.1, 0.2, 0.5])
def test_the_share_lost_is_the_share_asked_for(loss: float) -> None:
    shares = [sum(fates(LinkSettings(loss=loss), seed=seed, count=5000)) / 5000 for seed in range(5)]
    deviation = (loss * (1 - loss) / 5000) ** 0.5
    assert all(abs(share - loss) <= max(0.005, 3 * deviation) for share in shares)
    assert abs(sum(shares) / 5 - loss) <= max(0.005, 3 * deviation / 5**0.5)


@pytest.mark.parametrize(("loss", "burst"), [(0.03, 2), (0.1, 3), (0.2, 5)])
def test_bursts_have_their_mean_length_and_their_share(loss: float, burst: float) -> None:
    lost = fates(LinkSettings(loss=loss, burst=burst), seed=3, count=60_000)
    lengths = runs(lost)
    assert sum(lengths) / len(lengths) == pytest.approx(burst, rel=0.07)
    assert sum(lost) / len(lost) == pytest.approx(loss, abs=0.007)


def test_independent_losses_come_as_chance_has_them() -> None:
    lengths = runs(fates(LinkSettings(loss=0.2), seed=1, count=20_000))
    assert sum(lengths) / len(lengths) == pytest.approx(1 / 0.8, rel=0.05)


def test_a_seed_fixes_the_drop_list_whatever_the_time() -> None:
    settings = LinkSettings(loss=0.1, burst=3, jitter_ms=20, delay_ms=50, duplicate=0.1)
    slow = fates(settings, seed=7, count=2000, gap_s=1.0)
    assert fates(settings, seed=7, count=2000, gap_s=0.001) == slow
    assert fates(settings, seed=8, count=2000) != slow


def test_a_change_of_settings_leaves_what_follows_in_step() -> None:
    """Each packet spends one random number, so losses after an interlude are those without it."""
    plain = fates(LinkSettings(loss=0.1), seed=4, count=3000)
    link: Link[int] = Link(LinkSettings(loss=0.1), seed=4)
    lost = []
    for n in range(3000):
        if n in (1000, 1500):
            link.set(loss=1.0 if n == 1000 else 0.1)
        lost.append(link.offer(n * 0.02, 200, n) is Fate.LOST)
    assert all(lost[1000:1500])
    assert lost[:1000] == plain[:1000]
    assert lost[1500:] == plain[1500:]


def test_a_loss_list_is_followed_and_repeated() -> None:
    assert fates(LinkSettings(loss_list=(True, False, False), loss=0.9), seed=0, count=7) == [
        True,
        False,
        False,
    ] * 2 + [True]


def test_bad_times_may_let_some_through_and_good_ones_lose_some() -> None:
    """Elliott's channel: the share is as asked for, and losses are denser within bad times than between them."""
    lost = fates(LinkSettings(loss=0.1, burst=20, bad_loss=0.5, good_loss=0.02), seed=3, count=100_000)
    assert sum(lost) / len(lost) == pytest.approx(0.1, abs=0.01)
    after = [later for now, later in itertools.pairwise(lost) if now]
    bad = (0.1 - 0.02) / 0.48
    assert sum(after) / len(after) == pytest.approx((bad * 0.5 * (0.95 * 0.5 + 0.05 * 0.02) + 0.02**2) / 0.1, rel=0.1)


def test_shares_that_cannot_go_together_are_refused() -> None:
    with pytest.raises(ValueError, match="lies between"):
        LinkSettings(loss=0.3, burst=3, bad_loss=0.2)
    with pytest.raises(ValueError, match="at most 25%"):
        LinkSettings(loss=0.3, burst=1.01, bad_loss=0.5)
