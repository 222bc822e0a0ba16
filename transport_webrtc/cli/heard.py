"""What `legato listen` heard, for people: a labelled table on standard error."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any


def show(figures: dict[str, Any], out: Path | None) -> None:
    """Prints what `--json` holds."""
    from rich.console import Console
    from rich.table import Table

    console = Console(stderr=True, highlight=False)
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(no_wrap=True)
    for name, value in rows(figures):
        table.add_row(name, value)
    console.print(table)
    if out is not None:
        console.print(f"Heard: {out}", markup=False)


def rows(figures: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Labels and values, in the order in which things happen."""
    packets, messages = figures["packets"], figures["messages"]
    yield "voice, profile", f"{figures['voice']}, {figures['profile']}"
    yield "carrier", f"{figures['carrier']}: {figures['carrier_why']}"
    yield "connected after", _with_unit(figures["connected_ms"], "ms")
    yield "first audio after", _with_unit(figures["first_audio_ms"], "ms")
    yield "speech heard", _with_unit(figures["duration_s"], "s")
    yield "speech rendered", _with_unit(figures["rendered_s"], "s")
    yield "heard up to", _with_unit(figures["position_s"], "s")
    yield "speech lost", _with_unit(figures["lost_speech_s"], "s")
    yield "speech repaired", _with_unit(figures["repaired_s"], "s")
    yield "largest gap", _with_unit(figures["largest_gap_ms"], "ms")
    share = figures["concealed_share"]
    yield "concealed", _with_unit(None if share is None else round(100 * share, 2), "%")
    if messages is not None:
        yield "messages", f"{messages['received']} received, {messages['lost']} lost on the way"
    came = f"{packets['received']} received, {packets['lost']} lost, {packets['discarded']} came too late"
    yield "audio packets", came
    yield from plan_rows(figures["plans"])


def plan_rows(plans: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """A row for each plan that differs from the one before it, with the reason of the change."""
    for text, same in groupby(plans, key=_plan):
        first = next(same)
        yield f"plan from {max(first['at_s'], 0):.1f} s", f"{text} ({str(first['reason']).replace('_', ' ')})"


def _plan(plan: dict[str, Any]) -> str:
    rung = f"{plan['bitrate'] / 1000:g} kb/s {plan['bandwidth']} {plan['frame_ms']} ms"
    return f"rung {rung}, protection {plan['protection']}, tier {plan['tier']}"


def _with_unit(value: float | None, unit: str) -> str:
    return "not measured" if value is None else f"{value:g} {unit}"
