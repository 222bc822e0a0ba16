"""The controller in the simulator: a real link, and a listener that plays, asks again and tells of every packet."""

from statistics import median

import pytest

from adaptive.control import PROFILES, AdaptiveController, Plan, Protection, Reason, wire_rate
from adaptive.control.guard import Guarded
from adaptive.control.ladder import LOWEST, START
from quality.lab.scenarios import load
from quality.lab.simulator import Simulation, simulate

CHAT = PROFILES["voice_chat"]
SEEDS = (1, 2, 3)
STEP_AT_S, STEP_ENDS_S = 3.0, 9.0


def heard(name, *, seconds=20, controller=None, seed=1) -> Simulation:
    controller = controller or AdaptiveController(profile=CHAT)
    return simulate(load(name), controller, profile=CHAT, seconds=seconds, seed=seed)


def first(simulation, wanted, *, after) -> float:
    return next(look.at_s for look in simulation.looks if look.at_s >= after and wanted(look.plan))


def test_a_clean_path_is_left_alone() -> None:
    clean = heard("clean")
    assert {(look.plan.rung, look.plan.protection, look.plan.playout_delay_s) for look in clean.looks} == {
        (START, Protection(), CHAT.clean_playout_delay_s)
    }
    assert clean.summary["mean_delay_ms"] <= 120


@pytest.mark.parametrize(
    ("name", "within_s", "queue_ms", "silence_s"), [("step40", 0.5, 200, 0.1), ("step24", 1.0, 600, 0.4)]
)
def test_a_capacity_that_falls_is_followed(name, within_s, queue_ms, silence_s) -> None:
    silences = []
    for seed in SEEDS:
        simulation = heard(name, seconds=30, seed=seed)
        capacity = 1000 * (load(name).squeeze or (0, 0, 0))[2]
        rates = [(look.at_s, wire_rate(look.plan.rung, look.plan.protection)) for look in simulation.looks]
        assert next(at for at, rate in rates if at >= STEP_AT_S and rate <= capacity) - STEP_AT_S <= within_s
        assert max(look.queue_ms or 0 for look in simulation.looks) <= queue_ms
        assert first(simulation, lambda plan: plan.rung == START, after=STEP_ENDS_S) <= STEP_ENDS_S + 15
        silences.append(simulation.summary["silence_added_s"])
    assert median(silences) <= silence_s


@pytest.mark.parametrize(
    ("name", "concealed"), [("random5", 0.005), ("random10", 0.008), ("random20", 0.012), ("burst10", 0.02)]
)
def test_loss_is_repaired_from_the_first_word_on(name, concealed) -> None:
    runs = [heard(name, seed=seed) for seed in SEEDS]
    assert median(run.summary["concealed_share"] for run in runs) <= concealed
    for run in runs:
        at_start = next(look.plan for look in run.looks if look.at_s >= 0)
        assert at_start.protection.copies or at_start.protection.nack
        assert all(look.plan.rung.bitrate >= 24_000 for look in run.looks)
        assert all(not look.plan.protection.fec for look in run.looks)
        assert max(look.plan.playout_delay_s for look in run.looks) <= CHAT.playout_delay_s


def test_jitter_is_left_to_the_receiver() -> None:
    for seed in SEEDS:
        jitter = heard("jitter30", seed=seed)
        assert {look.plan.rung for look in jitter.looks} == {START}
        assert jitter.summary["concealed_share"] <= 0.003


def test_an_outage_is_no_reason_to_protect() -> None:
    outage = heard("outage3")
    assert {look.plan.protection for look in outage.looks} == {Protection()}
    assert first(outage, lambda plan: plan.rung == START, after=6.0) <= 10.5


class Cautious:
    """Somebody's own controller, as a notebook would have it: the lowest rung while anything is lost."""

    def __init__(self, *, profile):
        self.lost, self.tier = 0.0, "full"

    def on_network(self, report):
        if report.loss is not None:
            self.lost = report.loss

    def on_compute(self, report):
        self.tier = report.tiers[0] if report.tiers else self.tier

    def on_content(self, report): ...
    def on_heard(self, report): ...
    def on_carrier(self, carrier): ...

    def plan(self, now):
        rung = LOWEST if self.lost else START
        return Plan(rung=rung, tier=self.tier, reason=Reason.LOSS if self.lost else Reason.STEADY)


def test_anybodys_controller_runs_in_the_simulator_and_behind_the_servers_guard() -> None:
    alone = heard("random10", controller=Cautious(profile=CHAT), seconds=10)
    safe = Plan(rung=START, tier="full", reason=Reason.START)
    guarded = heard("random10", controller=Guarded(Cautious(profile=CHAT), safe=safe), seconds=10)
    assert alone.rows == guarded.rows
    assert {look.plan.rung for look in alone.looks} == {LOWEST, START}
    assert not any(look.plan.reason is Reason.ERROR for look in guarded.looks)
