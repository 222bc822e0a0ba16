"""The oracle is never below a contender, and better than any where it can be."""

import os
from pathlib import Path

import pytest

from adaptive.control.plan import Bandwidth, Plan, Protection, Reason, Rung
from adaptive.control.profiles import PROFILES
from quality.lab import comparison
from quality.lab.comparison import Kept, Task, compare, verdict
from quality.lab.contenders import ANA, DEFAULT, ORACLE, Scheduled, make
from quality.lab.foresight import MOST_RATE, actions, draft, foresee, residual
from quality.lab.oracle import recorded, search
from quality.lab.scenarios import load, parse
from quality.lab.simulator import simulate
from quality.lab.traces import parse as parse_trace
from quality.lab.windows import Window, all_hurting

PROFILE = PROFILES["voice_chat"]
RIVALS = [name for name in DEFAULT if name != ORACLE]
SECONDS = 12


def fading() -> Window:
    rates = [40] * 8 + [3] * 6 + [0] * 2 + [2] * 4 + [40] * 20
    text = "\n".join(str(1000 * s + 1000 * n // count) for s, count in enumerate(rates) for n in range(count))
    return Window(trace=parse_trace("fading", text), start_s=6, seconds=SECONDS)


def lossy() -> Window:
    return Window(trace=parse_trace("lossy", "00010000010000100000011100000000" * 40), start_s=0, seconds=SECONDS)


def stalled() -> Window:
    rows = [f"{at},{1500 - (at - 9000) if 9000 <= at < 10500 else 40}" for at in range(0, 30_000, 50)]
    return Window(trace=parse_trace("stalled", "t_ms,rtt_ms\n" + "\n".join(rows)), start_s=4, seconds=SECONDS)


@pytest.mark.parametrize("window", [fading(), lossy(), stalled()], ids=lambda window: window.trace.name)
def test_nobody_is_better_than_the_oracle(window):
    scenario = window.scenario()
    runs = {
        name: simulate(scenario, make(name, profile=PROFILE), profile=PROFILE, seconds=SECONDS, seed=1)
        for name in RIVALS
    }
    best = search(
        scenario, profile=PROFILE, seconds=SECONDS, seed=1, rivals=[recorded(r) for r in runs.values()], tries=20
    )
    assert all(best.opinion >= run.summary["mean_opinion"] for run in runs.values())
    again = Scheduled(best.schedule)
    replayed = simulate(scenario, again, profile=PROFILE, seconds=SECONDS, seed=1)
    assert replayed.summary == best.simulation.summary


@pytest.mark.long
@pytest.mark.skipif("LEGATO_TRACES" not in os.environ, reason="LEGATO_TRACES names no folder of traces")
def test_nobody_is_better_than_the_oracle_on_recorded_traces(tmp_path):
    scenarios = [window.scenario() for window in all_hurting(Path(os.environ["LEGATO_TRACES"]))]
    rows = compare(
        scenarios,
        DEFAULT,
        profile=PROFILE.name,
        seconds=60,
        seed=0,
        kept=Kept(tmp_path / "rows"),
        on_row=lambda row, kept: None,
    )
    best = {row["trace"]: row["mean_opinion"] for row in rows if row["controller"] == ORACLE}
    assert all(row["mean_opinion"] <= best[row["trace"]] for row in rows)


def test_a_recorded_schedule_repeats_its_simulation():
    scenario = load("step24")
    first = simulate(scenario, make("adaptive", profile=PROFILE), profile=PROFILE, seconds=SECONDS, seed=2)
    replayed = simulate(scenario, Scheduled(recorded(first)), profile=PROFILE, seconds=SECONDS, seed=2)
    assert replayed.rows == first.rows


def test_without_rivals_it_still_finds_what_a_loss_or_a_step_asks_for():
    for name, least in (("random10", 3.9), ("step40", 4.0)):
        fixed = simulate(load(name), make("fixed:32000", profile=PROFILE), profile=PROFILE, seconds=SECONDS, seed=1)
        best = search(load(name), profile=PROFILE, seconds=SECONDS, seed=1, tries=0)
        assert best.opinion >= max(least, fixed.summary["mean_opinion"] + 0.5)


def test_the_draft_goes_under_a_bottleneck_before_it_comes():
    path = foresee(load("step24"), seconds=SECONDS)
    choices = [action for action in actions(PROFILE) if action.delay_s == PROFILE.clean_playout_delay_s]
    plan = draft(path, choices, steps=34)
    rates = [action.rung.bitrate for action in plan]
    assert max(rates[18:26]) <= 12_000
    assert min(rates[:12]) >= 24_000


def test_actions_stay_within_the_rate_everybody_is_held_to():
    from adaptive.control.ladder import wire_rate

    assert max(wire_rate(action.rung, action.protection) for action in actions(PROFILE)) <= MOST_RATE


def test_residual_loss_counts_what_comes_in_time():
    def left(protection: Protection, *, delay_s: float, burst: float = 1.0) -> float:
        return residual(protection, loss=0.1, burst=burst, frame_s=0.02, delay_s=delay_s, rtt_s=0.1)

    assert left(Protection(), delay_s=0.3) == 0.1
    assert left(Protection(copies=(6,)), delay_s=0.3) == pytest.approx(0.01)
    assert left(Protection(copies=(6,)), delay_s=0.06) == 0.1
    assert left(Protection(copies=(1,)), delay_s=0.3, burst=3) > 4 * left(Protection(copies=(6,)), delay_s=0.3, burst=3)
    assert left(Protection(nack=True), delay_s=0.3) == pytest.approx(0.01)
    assert left(Protection(nack=True), delay_s=0.1) == 0.1


def test_rows_are_kept_and_a_beaten_oracle_searches_again(tmp_path, monkeypatch):
    scenario = parse("loss", 'says = "Loss."\n[[step]]\nat_s = -5\nloss = 0.05')
    told: list[tuple[str, bool]] = []

    def once(kept: Kept):
        told.clear()
        return compare(
            [scenario],
            ["fixed:24000", ORACLE],
            profile=PROFILE.name,
            seconds=4,
            seed=0,
            kept=kept,
            on_row=lambda row, known: told.append((row["controller"], known)),
        )

    monkeypatch.setattr("quality.lab.oracle.TRIES", 0)
    file = tmp_path / "deep" / "rows.jsonl"
    first = once(Kept(file))
    assert told == [("fixed:24000", False), (ORACLE, False)]
    with file.open("a") as out:
        out.write("not a row\n")
    assert once(Kept(file)) == first
    assert told == [("fixed:24000", True), (ORACLE, True)]
    beaten = Kept(file)
    task = Task(scenario=scenario, controller=ORACLE, profile=PROFILE.name, seconds=4, seed=0)
    beaten.put(task, {**first[1], "mean_opinion": 1.2})
    again = once(beaten)
    assert told == [("fixed:24000", True), (ORACLE, False)]
    assert again[1]["mean_opinion"] >= again[0]["mean_opinion"]
    monkeypatch.setattr(comparison, "_digest", lambda *, oracle: "other code")
    once(Kept(file))
    assert told == [("fixed:24000", False), (ORACLE, False)]


def test_the_verdict():
    def row(trace: str, controller: str, opinion: float, ups: int = 0):
        return {"trace": trace, "controller": controller, "mean_opinion": opinion, "up_changes": ups, "seconds": 60}

    rows = [
        row("a", "adaptive", 3.0, 5), row("a", ANA, 2.5), row("a", "fixed:1", 2.0), row("a", ORACLE, 3.1),
        row("b", "adaptive", 2.0, 7), row("b", ANA, 2.2), row("b", "fixed:1", 2.2), row("b", ORACLE, 2.4),
    ]  # fmt: skip
    found = verdict(rows)
    assert found["of_oracle_mean"] == pytest.approx((2 / 2.1 + 1 / 1.4) / 2, abs=1e-3)
    assert found["of_oracle_least"] == pytest.approx(1 / 1.4, abs=1e-3)
    assert found["most_below_best_fixed"] == pytest.approx(0.2)
    assert found["held"] == {
        "of_oracle_mean": False, "of_oracle_each": False, "above_ana": True, "above_every_fixed": True,
        "never_far_below_fixed": False, "seldom_up": False,
    }  # fmt: skip
    alone = verdict([entry for entry in rows if entry["controller"] == "adaptive"])
    assert set(alone["held"].values()) == {None, False}


def test_a_schedule_holds_its_last_plan_and_takes_the_voice_s_best_tier():
    from adaptive.control.reports import ComputeReport

    plans = tuple(
        (at, Plan(rung=Rung(bitrate=b, bandwidth=Bandwidth.FB, frame_ms=20), tier="full", reason=Reason.FORCED))
        for at, b in ((0.0, 24_000), (0.1, 32_000))
    )
    scheduled = Scheduled(plans)
    assert [scheduled.plan(5.0 + at).rung.bitrate for at in (0, 0.09, 0.1, 9.0)] == [24_000, 24_000, 32_000, 32_000]
    scheduled.on_compute(ComputeReport(at=6.0, tiers=("best", "rest")))
    assert scheduled.plan(6.0).tier == "best"
