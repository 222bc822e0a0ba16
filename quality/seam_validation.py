"""Judges the seam judge on seams whose faults are known, class by class: python -m quality.seam_validation --help"""

import json
import sys
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import numpy as np
import typer

from adaptive.speech.voice import Samples

from .seam_classes import FAULTY, GOOD, HIDDEN, Speech, by_chance, judged, plosives
from .seam_judge import FAIL, LIMIT, Seam

VOICES = ("joe", "heart")
TEXTS = (
    "She had your dark suit in greasy wash water all year, and Peter Piper picked a peck of pickled peppers.",
    "The quick brown fox jumps over the lazy dog, while many people watch from the bridge.",
)
SEAMS = 200
"""Of each class, over all voices."""
CAUGHT = 0.75
"""Of the seams of a faulty class, at least."""


def validate(
    speech: dict[str, list[Samples]], *, seams: int = SEAMS, seed: int = 7, on_seam: Callable[[], None] = lambda: None
) -> list[dict[str, Any]]:
    """A row for each class: how many seams, and what share of them the judge flagged, over all voices and by voice."""
    texts = {voice: [Speech.of(samples) for samples in clips] for voice, clips in speech.items()}
    rows = []
    for name, make in (GOOD | FAULTY | HIDDEN).items():
        chance = np.random.default_rng(seed)
        found: dict[str, list[tuple[Seam, int]]] = {voice: [] for voice in texts}
        for voice, clips in texts.items():
            share = seams // (len(texts) * len(clips))
            for clip in clips:
                places = plosives(clip.samples, share) if name == "plosives" else by_chance(clip.samples, share, chance)
                for place in places:
                    switch = make(clip, place, chance)
                    found[voice].append((judged(switch, place), switch.lag))
                    on_seam()
        rows.append(_row(name, found))
    return rows


def _row(name: str, found: dict[str, list[tuple[Seam, int]]]) -> dict[str, Any]:
    every = [pair for pairs in found.values() for pair in pairs]
    ratios = [seam.r for seam, _ in every]
    row: dict[str, Any] = {"class": name, "seams": len(every)}
    row["flagged_125"], row["flagged_150"] = (_share(ratios, limit) for limit in (LIMIT, FAIL))
    row["worst_r"] = round(max(ratios), 3)
    row["lag_caught"] = round(float(np.mean([seam.lag_samples == lag for seam, lag in every])), 3)
    row["flagged_150_by_voice"] = {voice: _share([s.r for s, _ in pairs], FAIL) for voice, pairs in found.items()}
    row["held"] = _held(name, row)
    return row


def _share(ratios: list[float], limit: float) -> float:
    return round(float(np.mean([r > limit for r in ratios])), 3)


def _held(name: str, row: dict[str, Any]) -> bool:
    if name in GOOD:
        return bool(row["flagged_125"] == 0)
    return bool(row["lag_caught" if name in HIDDEN else "flagged_150"] >= CAUGHT)


def rendered() -> dict[str, list[Samples]]:
    """The speech that seams are put into, 48 kHz."""
    import adaptive

    return {voice: [adaptive.render(text, voice=voice, seed=1).samples for text in TEXTS] for voice in VOICES}


def _lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    yield f"{'class':24}{'seams':>6}{'r > 1.25':>10}{'r > 1.5':>10}{'worst r':>10}{'lag found':>11}"
    for row in rows:
        shares = (
            f"{row['flagged_125']:>10.1%}{row['flagged_150']:>10.1%}{row['worst_r']:>10.2f}{row['lag_caught']:>11.1%}"
        )
        yield f"{row['class']:24}{row['seams']:>6}{shares}{'' if row['held'] else '  not held'}"


def main(
    seams: Annotated[int, typer.Option(help="Of each class, over two voices.", min=8)] = SEAMS,
    seed: Annotated[int, typer.Option(help="Of the places.")] = 7,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on the last line.")] = False,
) -> None:
    """Seconds to a minute. Ends with 1 where the judge does not hold what is asked of it."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("Speaking", total=None)
        speech = rendered()
        progress.update(task, description="Judging seams", total=seams * len(GOOD | FAULTY | HIDDEN))
        rows = validate(speech, seams=seams, seed=seed, on_seam=lambda: progress.advance(task))
    held = all(row["held"] for row in rows)
    print("\n".join(_lines(rows)), file=sys.stderr if as_json else sys.stdout)
    if as_json:
        print(json.dumps({"voices": VOICES, "texts": TEXTS, "seed": seed, "held": held, "rows": rows}))
    raise typer.Exit(0 if held else 1)


if __name__ == "__main__":
    typer.run(main)
