"""A listener's present as JSON: what `GET /v1/listen/{id}` answers. Pure."""

from typing import Any

from adaptive.control.plan import Plan
from adaptive.control.reports import ComputeReport, ContentReport, HeardReport

from .steering import Change, Steering


def steering_as_dict(steering: Steering, now: float, origin: float) -> dict[str, Any]:
    """What is decided for a listener that connected at `origin`, and on what grounds."""
    return {
        "plan": steering.plan and plan_as_dict(steering.plan, (steering.plan_at or now) - origin),
        "reports": reports_as_dict(steering, origin),
        "opinion": steering.opinion(),
        "heard_opinion": steering.heard_opinion(now),
        "plans": changes_as_list(list(steering.changes), origin),
    }


def plan_as_dict(plan: Plan, at: float) -> dict[str, Any]:
    """`at`: seconds since the listener connected."""
    return {
        "at": round(at, 3),
        "carrier": plan.carrier,
        "bitrate": plan.rung.bitrate,
        "bandwidth": plan.rung.bandwidth,
        "frame_ms": plan.rung.frame_ms,
        "codec": plan.format.codec,
        "rate": plan.format.rate,
        "protection": str(plan.protection),
        "loss_hint": plan.protection.loss_hint,
        "playout_delay_ms": _ms(plan.playout_delay_s),
        "lead_s": plan.lead_s,
        "tier": plan.tier,
        "chunk_frames": plan.chunk_frames,
        "reason": plan.reason,
    }


def changes_as_list(changes: list[Change], origin: float) -> list[dict[str, Any]]:
    """Plans with the seconds since `origin` at which they began to hold."""
    return [plan_as_dict(change.plan, change.at - origin) for change in changes]


def reports_as_dict(steering: Steering, origin: float) -> dict[str, Any]:
    """The newest report of each kind, None where there was none. Loss, which may be that of three packets in a report,
    is that of the last 3 s of speech, before any repair; `residual` is what repair is expected to leave of it."""
    return {
        "network": _network(steering, origin),
        "compute": _compute(steering.compute, origin),
        "content": _content(steering.content, origin),
        "heard": _heard(steering.heard, origin),
    }


def _network(steering: Steering, origin: float) -> dict[str, Any] | None:
    report = steering.network
    return (
        None
        if report is None
        else {
            "at": round(report.at - origin, 3),
            "source": report.source,
            "rtt_ms": _ms(report.rtt_s),
            "loss": _rounded(steering.loss, 4),
            "residual": _rounded(steering.residual_loss(), 4),
            "jitter_ms": _ms(report.jitter_s),
            "queue_delay_ms": _ms(report.queue_delay_s),
            "received_kbps": _kbps(report.received_rate),
            "sent_kbps": _kbps(report.sent_rate),
        }
    )


def _compute(report: ComputeReport | None, origin: float) -> dict[str, Any] | None:
    return (
        None
        if report is None
        else {
            "at": round(report.at - origin, 3),
            "tiers": list(report.tiers),
            "cost": {tier: round(cost, 4) for tier, cost in report.cost.items()},
            "ready_s": _rounded(report.ready_s, 3),
            "target_s": _rounded(report.target_s, 3),
        }
    )


def _content(report: ContentReport | None, origin: float) -> dict[str, Any] | None:
    return (
        None
        if report is None
        else {
            "at": round(report.at - origin, 3),
            "sounding": report.sounding,
            "pauses": [[round(start, 3), round(end, 3)] for start, end in report.pauses],
            "remaining_s": _rounded(report.remaining_s, 3),
        }
    )


def _heard(report: HeardReport | None, origin: float) -> dict[str, Any] | None:
    return (
        None
        if report is None
        else {
            "at": round(report.at - origin, 3),
            "position": report.position,
            "concealed": _rounded(report.concealed, 4),
            "buffered_ms": _ms(report.buffered_s),
        }
    )


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 1)


def _kbps(rate: float | None) -> float | None:
    return None if rate is None else round(rate / 1000, 2)
