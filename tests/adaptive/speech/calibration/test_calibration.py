"""Tiers are measured, kept, believed only if whole, and those that do not pay are left out."""

import json
import multiprocessing
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from adaptive.speech.calibration import files
from adaptive.speech.calibration.figures import Calibration, TierFigures, TierQuality
from adaptive.speech.calibration.fitting import fitted
from adaptive.speech.calibration.measure import CLAUSES, measure, measure_quickly
from adaptive.speech.voice import SwitchPoint, VoiceInfo

BURNT_S = {"full": 0.004, "mixed": 0.001, "light": 0.004}
"""CPU seconds of a decoding."""


class Clause:
    frames = 40
    words = ()

    def decode(self, start: int, count: int, *, tier: str, tail: int = 0) -> np.ndarray:
        end = time.process_time() + BURNT_S[tier]
        while time.process_time() < end:
            pass
        return np.zeros((count + min(tail, self.frames - start - count)) * 240, np.float32)


class Burning:
    """A voice whose tiers cost what they are told to."""

    fingerprint = "one"

    def __init__(self) -> None:
        self.info = VoiceInfo(
            name="burning",
            languages=("en-US",),
            licence="",
            rate=24_000,
            frame_samples=240,
            tiers=("full", "mixed", "light"),
            switch=SwitchPoint.CHUNK,
        )

    def prepare(self, clause: str, *, speed: float = 1.0, seed: int = 0, tier: str | None = None) -> Clause:
        return Clause()

    def warm(self) -> None: ...

    def leave_out(self, tiers: Sequence[str]) -> None:
        kept = tuple(tier for tier in self.info.tiers if tier not in tiers)
        self.info = VoiceInfo(**{**vars(self.info), "tiers": kept})


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LEGATO_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("LEGATO_DEVICE", "cpu")
    return tmp_path


def quiet(what: str, share: float) -> None: ...


def figures(**costs: float | tuple[float, float]) -> Calibration:
    def tier(name: str, told: float | tuple[float, float]) -> TierFigures:
        cost, visqol = told if isinstance(told, tuple) else (told, None)
        return TierFigures(name=name, cost={36: cost}, decoder={36: cost}, quality=TierQuality(visqol=visqol))

    return Calibration(whole=True, tiers=tuple(tier(name, told) for name, told in costs.items()))


def test_costs_are_what_is_spent_by_tier_and_length() -> None:
    found = measure_quickly(Burning(), progress=quiet)
    full, mixed, _ = found.tiers
    short, usual = sorted(full.cost)
    assert (short, usual) == (21, 42)
    assert full.decoder[short] == pytest.approx(2 * 0.004 / 0.4, rel=0.3)
    assert full.decoder[usual] == pytest.approx(0.004 / 0.4, rel=0.3)
    assert mixed.decoder[usual] < 0.5 * full.decoder[usual]
    assert found.ladder()[0] == ("full", "mixed")


def test_a_judge_hears_every_tier_against_the_best() -> None:
    heard = []

    def judge(said, rate: int) -> TierQuality:
        heard.append(([text for text, _, _ in said], rate))
        return TierQuality(visqol=4.7 - len(heard) / 10)

    shares: list[float] = []
    found = measure(Burning(), judge=judge, progress=lambda what, share: shares.append(share))
    assert shares == sorted(shares)
    assert shares[0] == 0 < shares[-1] < 1
    assert heard == [(list(CLAUSES), 24_000)] * 3
    assert found.losses() == pytest.approx({"full": 0.0, "mixed": 0.1, "light": 0.2})
    assert measure_quickly(Burning(), progress=quiet).losses() == {}


@pytest.mark.parametrize(
    ("tiers", "worth"),
    [
        ({"full": 0.10, "mixed": 0.07, "light": 0.05}, ("full", "mixed", "light")),
        ({"full": 0.10, "mixed": 0.11, "light": 0.05}, ("full", "light")),
        ({"full": 0.10, "mixed": 0.07, "light": 0.068}, ("full", "mixed")),
        ({"full": 0.10, "fp32": 0.08, "mixed": 0.07}, ("fp32", "mixed")),
        ({"full": 0.10, "fp32": 0.12, "mixed": 0.07}, ("full", "mixed")),
        ({"full": (0.10, 4.7), "bf16": (0.085, 4.4), "mixed": (0.07, 4.6)}, ("full", "mixed")),
        ({"full": (0.10, 4.7), "bf16": (0.08, 4.65), "mixed": (0.075, 4.6)}, ("full", "bf16")),
    ],
)
def test_what_does_not_pay_is_left_out_and_said_so(tiers, worth) -> None:
    ladder, left_out = figures(**tiers).ladder()
    assert ladder == worth
    assert set(left_out) == set(tiers) - set(worth)
    assert all(f"{name} is left out: " in sentence for name, sentence in left_out.items())


def test_a_worker_measures_once_and_lets_go_of_what_does_not_pay(caplog) -> None:
    voice = Burning()
    first = fitted(voice, progress=quiet)
    assert voice.info.tiers == ("full", "mixed")
    assert "light is left out" in caplog.text
    begun = time.process_time()
    assert fitted(Burning(), progress=quiet) == first
    assert time.process_time() - begun < 0.05


@pytest.mark.parametrize("damage", ["truncated", "another number", "not ours"])
def test_a_damaged_file_is_measured_again(damage: str, caplog) -> None:
    good, again = figures(full=0.1), figures(full=0.2)
    voice = Burning()
    voice.info = VoiceInfo(**{**vars(voice.info), "tiers": ("full",)})
    assert files.calibrated(voice, lambda: good, whole=True, progress=quiet) == good
    assert files.kept("burning") == good
    path = files.path_of("burning", "one")
    text = path.read_text()
    path.write_text({"truncated": text[:-9], "another number": text.replace("0.1", "0.01"), "not ours": "[]"}[damage])
    assert files.load("burning", "one") is None
    assert "is not used" in caplog.text
    assert files.calibrated(voice, lambda: again, whole=True, progress=quiet) == again
    assert files.load("burning", "one") == again


def test_another_model_machine_or_depth_is_measured_anew(monkeypatch) -> None:
    files.save("burning", "one", Calibration(tiers=figures(full=0.1).tiers, whole=False))
    assert files.load("burning", "two") is None
    voice = Burning()
    voice.info = VoiceInfo(**{**vars(voice.info), "tiers": ("full",)})
    whole = figures(full=0.3)
    assert files.calibrated(voice, lambda: whole, whole=False, progress=quiet).tiers[0].cost == {36: 0.1}
    assert files.calibrated(voice, lambda: whole, whole=True, progress=quiet) == whole
    monkeypatch.setenv("LEGATO_RENDER_THREADS", "7")
    assert files.load("burning", "one") is None


def _measure_in_turn(counter: str) -> None:
    def take() -> Calibration:
        with Path(counter).open("a") as file:
            file.write("x")
        time.sleep(0.2)
        return figures(full=0.1, mixed=0.07, light=0.05)

    files.calibrated(Burning(), take, whole=True, progress=quiet)


def test_of_several_processes_one_measures(cache: Path) -> None:
    counter = cache / "measured"
    processes = [
        multiprocessing.get_context("fork").Process(target=_measure_in_turn, args=(str(counter),)) for _ in range(3)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(20)
        assert process.exitcode == 0
    assert counter.read_text() == "x"
    assert json.loads(files.path_of("burning", "one").read_text())["calibration"]["whole"]
