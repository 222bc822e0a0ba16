"""The network adaptor does what libwebrtc's does: gives way, lengthens frames, turns FEC on and off, comes back."""

from adaptive.control.plan import Plan
from adaptive.control.profiles import PROFILES
from adaptive.control.reports import NetworkReport, Source
from quality.lab.baselines import FRAMES_MS, HIGHEST, LOWEST, NetworkAdaptor
from quality.lab.scenarios import load, parse
from quality.lab.simulator import Simulation, simulate

PROFILE = PROFILES["voice_chat"]


def run(scenario, *, seconds: int) -> Simulation:
    return simulate(scenario, NetworkAdaptor(profile=PROFILE), profile=PROFILE, seconds=seconds, seed=1)


def plans(simulation: Simulation, since: float, until: float) -> list[Plan]:
    return [look.plan for look in simulation.looks if since <= look.at_s < until]


def test_on_a_clean_network_it_stays_where_it_began():
    assert {
        (p.rung.bitrate, p.rung.frame_ms, p.protection.fec) for p in plans(run(load("clean"), seconds=20), 0, 20)
    } == {(HIGHEST, 20, False)}


def test_it_goes_under_a_narrow_bottleneck_and_comes_back():
    simulation = run(load("step40"), seconds=30)
    assert simulation.summary["reaction_ms"] <= 1500
    narrow = plans(simulation, 5, 8)
    assert all(plan.rung.bitrate < HIGHEST for plan in narrow)
    assert max(plan.rung.frame_ms for plan in narrow) > FRAMES_MS[0]
    assert {(p.rung.bitrate, p.rung.frame_ms) for p in plans(simulation, 25, 30)} == {(HIGHEST, 20)}
    assert all(LOWEST <= plan.rung.bitrate <= HIGHEST for plan in plans(simulation, 0, 30))


def test_loss_turns_fec_on_and_its_end_off():
    text = 'says = "Loss for 40 s."\n[[step]]\nat_s = 0\nloss = 0.12\n[[step]]\nat_s = 40\nloss = 0.0'
    simulation = run(parse("loss", text), seconds=100)
    assert not any(plan.protection.fec for plan in plans(simulation, 0, 3))
    assert all(plan.protection.fec and plan.protection.loss_hint <= 20 for plan in plans(simulation, 30, 40))
    assert not any(plan.protection.fec for plan in plans(simulation, 90, 100))


def test_much_loss_cuts_the_rate_as_its_loss_controller_does():
    assert min(plan.rung.bitrate for plan in plans(run(load("random20"), seconds=20), 5, 20)) < HIGHEST


def test_reports_without_facts_change_nothing():
    adaptor = NetworkAdaptor(profile=PROFILE)
    before = adaptor.plan(0.0)
    adaptor.on_network(NetworkReport(at=1.0, source=Source.FEEDBACK, rtt_s=4.0))
    assert adaptor.plan(1.0) == before.__class__(**{**vars(before), "reason": adaptor.plan(1.0).reason})
