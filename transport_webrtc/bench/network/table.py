"""What is shown: progress while it runs, and the table of medians over the valid seeds, scenario by scenario."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

COLUMNS = (
    ("pesq", "PESQ", "{:.2f}"),
    ("pesq_phrase", "by phrase", "{:.2f}"),
    ("visqol", "ViSQOL", "{:.2f}"),
    ("tier_pesq", "tiers", "{:.2f}"),
    ("concealed_share", "concealed", "{:.1%}"),
    ("silence_added_s", "silence s", "{:.2f}"),
    ("lost_speech_s", "lost s", "{:.2f}"),
    ("first_audio_ms", "first ms", "{:.0f}"),
    ("delay_mean_ms", "delay ms", "{:.0f}"),
    ("buffer_max_ms", "max ms", "{:.0f}"),
    ("under_capacity_ms", "under ms", "{:.0f}"),
    ("peak_queue_ms", "queue ms", "{:.0f}"),
    ("wire_kbps", "kb/s", "{:.0f}"),
)


def show(summary: Sequence[dict[str, Any]], console: Console) -> None:
    """Prints it. A dash is what was not measured or does not apply."""
    table = Table(
        title="legato bench network",
        caption="medians over the valid runs (n); tiers: PESQ of what Legato sent where it was not the voice's best",
    )
    table.add_column("scenario")
    table.add_column("sender")
    table.add_column("n", justify="right")
    for _, heading, _ in COLUMNS:
        table.add_column(heading, justify="right")
    before = None
    for line in summary:
        if before not in (None, line["scenario"]):
            table.add_section()
        count = f"{line['n']}" + (f" ({line['invalid']} invalid)" if line["invalid"] else "")
        cells = ["–" if line[name] is None else form.format(line[name]) for name, _, form in COLUMNS]
        table.add_row("" if before == line["scenario"] else line["scenario"], line["sender"], count, *cells)
        before = line["scenario"]
    console.print(table)


def progress_of(console: Console) -> Progress:
    """A bar that counts runs and says how long the others will take; gone when it is done."""
    counted = (MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    return Progress(TextColumn("{task.description}"), BarColumn(), *counted, console=console, transient=True)
