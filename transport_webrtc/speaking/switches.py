"""What a new plan changes in the frames, as it is told. Pure."""

from collections.abc import Iterator
from typing import Any

from adaptive.control.plan import Plan


def switches(before: Plan, plan: Plan) -> Iterator[dict[str, Any]]:
    """The data of one `switched` event for each thing that changed."""
    for kind, old, new in (
        ("rung", before.rung, plan.rung),
        ("bandwidth", before.rung.bandwidth, plan.rung.bandwidth),
        ("protection", before.protection, plan.protection),
        ("format", f"{before.format.codec} {before.format.rate}", f"{plan.format.codec} {plan.format.rate}"),
    ):
        if old != new:
            yield {"kind": kind, "from": str(old), "to": str(new), "reason": str(plan.reason)}
