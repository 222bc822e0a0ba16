"""What a listener's steering knows of loss, from reports however small."""

import pytest

from adaptive.control.fixed import FixedController
from adaptive.control.plan import Bandwidth, Plan, Protection, Rung
from adaptive.control.profiles import PROFILES
from adaptive.control.reports import ComputeReport, ContentReport, HeardReport, NetworkReport, Source
from transport_webrtc.line import CALM_STEP_S, PLENTY_S, STEP_S, gap_s
from transport_webrtc.steering import Steering

RUNG = Rung(bitrate=24_000, bandwidth=Bandwidth.FB, frame_ms=20)


def steering(protection: Protection, applied: list[Plan] | None = None) -> Steering:
    controller = FixedController(profile=PROFILES["voice_chat"], rung=RUNG, protection=protection)
    made = Steering(controller, apply=lambda plan, before: (applied if applied is not None else []).append(plan))
    step(made, 0.0)
    return made


def step(made: Steering, now: float) -> None:
    made.step(now, compute=ComputeReport(at=now, tiers=("full",)), content=ContentReport(at=now, sounding=True))


def report(made: Steering, at: float, mask: tuple[bool | None, ...]) -> None:
    known = [lost for lost in mask if lost is not None]
    loss = sum(known) / len(known) if known else None
    made.on_network(
        NetworkReport(at=at, source=Source.TWCC, rtt_s=0.1, loss=loss, packets=len(known) or None, lost_mask=mask)
    )


def test_loss_is_that_of_some_seconds_however_few_packets_a_report_tells() -> None:
    made = steering(Protection())
    assert made.loss is None
    report(made, 0.1, (True, False))
    assert made.loss == 0.5
    for number in range(200):
        report(made, 0.2 + number * 0.06, (number % 4 == 0, None, False))
    assert made.loss == pytest.approx(1 / 8, abs=0.02)
    report(made, 20.0, (True, True, True))
    assert made.loss < 0.16


@pytest.mark.parametrize(
    ("protection", "buffered_s", "least", "most"),
    [
        (Protection(), 0.25, 0.1, 0.1),
        (Protection(copies=(3,)), 0.25, 0.0, 0.02),
        (Protection(copies=(3,)), 0.05, 0.1, 0.1),
        (Protection(copies=(3,), nack=True), 0.25, 0.0, 0.005),
    ],
)
def test_what_repair_leaves_of_it_depends_on_how_long_the_listener_waits(
    protection: Protection, buffered_s: float, least: float, most: float
) -> None:
    made = steering(protection)
    assert made.residual_loss() is None
    for number in range(100):
        report(made, number * 0.06, tuple(place == number % 10 for place in range(10)))
    made.on_heard(HeardReport(at=6.0, buffered_s=buffered_s))
    assert made.residual_loss() == pytest.approx((least + most) / 2, abs=(most - least) / 2 + 1e-6)


def test_a_plan_that_stays_is_applied_once() -> None:
    applied: list[Plan] = []
    made = steering(Protection(), applied)
    for now in (0.1, 0.2, 0.3):
        step(made, now)
    assert len(applied) == len(made.changes) == 1


@pytest.mark.parametrize(("lead_s", "gap"), [(None, STEP_S), (0.0, STEP_S), (2.9, STEP_S), (6.0, CALM_STEP_S)])
def test_plans_are_rarer_where_there_is_plenty_ahead(lead_s, gap) -> None:
    """They cost as much with six seconds in store as with none, where they could save something."""
    assert gap_s(lead_s) == gap
    assert CALM_STEP_S <= 0.25 * PLENTY_S, "a plan that comes late still finds speech in store"
