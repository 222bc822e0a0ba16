"""`legato voices calibrate`: measures what each tier costs here and how it sounds, with a bar, or a line a step."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from adaptive.speech.calibration.figures import Calibration, TierFigures
    from adaptive.speech.voice import VoiceInfo


def calibrate(names: Sequence[str], *, again: bool) -> Mapping[str, tuple["VoiceInfo", "Calibration"]]:
    """Each of these voices with what was measured of it, or is kept from before unless it is to be measured `again`.

    Raises ValueError for an unknown name, ModelFilesError.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from adaptive.speech.calibration.files import calibrated
    from adaptive.speech.calibration.measure import measure
    from adaptive.speech.registry import load_voice
    from quality.tiers import judge_tier, missing

    console = Console(stderr=True)
    if (sentence := missing()) is not None:
        console.print(sentence)
    said: set[str] = set()
    found: dict[str, tuple[VoiceInfo, Calibration]] = {}
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        for name in names:
            task = bar.add_task(f"{name}: is being loaded", total=1.0)

            def tell(what: str, share: float, task: Any = task) -> None:
                bar.update(task, description=what, completed=share)
                if not console.is_terminal and what not in said:
                    console.print(what, markup=False, highlight=False)
                said.add(what)

            voice = load_voice(name, progress=tell, every_tier=True)
            voice.warm()
            english = any(language.split("-")[0] == "en" for language in voice.info.languages)
            judge = partial(judge_tier, english=english)
            found[name] = (
                voice.info,
                calibrated(
                    voice, partial(measure, voice, judge=judge, progress=tell), whole=True, again=again, progress=tell
                ),
            )
            bar.update(task, description=f"{name}: is measured", completed=1.0)
    return found


def tier_figures(tier: "TierFigures", left_out: Mapping[str, str]) -> dict[str, Any]:
    """A tier as `--json` prints it."""
    from adaptive.speech.calibration.figures import usual_length

    return {
        "name": tier.name,
        "cost": tier.cost[usual_length(tier.cost)],
        "visqol": tier.quality.visqol,
        "mel_lsd": tier.quality.mel_lsd,
        "wer": tier.quality.wer,
        "lengths": [
            {"frames": frames, "cost": cost, "decoder": tier.decoder[frames]}
            for frames, cost in sorted(tier.cost.items())
        ],
        "left_out": left_out.get(tier.name),
    }


def show(name: str, calibration: "Calibration") -> None:
    """A table: a row for each tier, a column for each length of a chunk."""
    from rich.console import Console
    from rich.table import Table

    _, left_out = calibration.ladder()
    table = Table(title=f"{name}: CPU seconds for a second of speech, by the model frames of a chunk", box=None)
    lengths = sorted(calibration.tiers[0].cost)
    for column in ("tier", *map(str, lengths), "ViSQOL", "mel-LSD, dB", "WER"):
        table.add_column(column, justify="left" if column == "tier" else "right")
    for tier in calibration.tiers:
        quality = (tier.quality.visqol, tier.quality.mel_lsd, tier.quality.wer)
        told = ("–" if figure is None else f"{figure:.2f}" for figure in quality)
        table.add_row(tier.name, *(f"{tier.cost[frames]:.3f}" for frames in lengths), *told)
    Console(width=110).print(table)
    for sentence in left_out.values():
        typer.echo(sentence)
