"""The data track on virtual time, with real sound."""

import numpy as np
import pytest

from adaptive.control.profiles import PROFILES
from quality.lab.contenders import make
from quality.lab.windows import find
from transport_webrtc.bench.sent_ahead import Ride, ride


def tone(seconds: float) -> np.ndarray:
    return (np.sin(np.arange(round(seconds * 48_000)) / 24) / 4).astype(np.float32)


def heard(scenario: str, profile: str = "voice_chat", seconds: float = 14.0) -> Ride:
    use = PROFILES[profile]
    return ride(find(scenario, seconds=14), make("adaptive", profile=use), tone(seconds), profile=use, seed=1)


def test_on_a_clean_path_everything_is_heard_at_once_and_well() -> None:
    run = heard("clean")
    assert run.first_s is not None
    assert run.first_s < 0.2
    assert run.gaps == ()
    assert max(look.lead_s for look in run.looks) == pytest.approx(PROFILES["voice_chat"].lead_s, abs=0.5)
    played = run.heard[np.flatnonzero(np.abs(run.heard) > 0.01)[0] :]
    assert len(played) == pytest.approx(14 * 48_000, rel=0.01)
    assert np.sqrt(np.mean(played[4800:-4800] ** 2)) == pytest.approx(0.25 / np.sqrt(2), rel=0.05)


def test_an_outage_shorter_than_the_lead_is_not_heard_and_a_longer_one_is_waited_out() -> None:
    assert heard("outage3").silence_s == 0
    long = heard("outage10")
    assert 2.5 < long.silence_s < 6
    assert long.looks[-1].heard_s == pytest.approx(14, abs=0.2), "nothing is skipped"


def test_the_same_seed_gives_the_same_samples() -> None:
    one, two = heard("random20", seconds=5), heard("random20", seconds=5)
    assert np.array_equal(one.heard, two.heard)
    assert one.looks == two.looks
