"""Makes the opinion table that controllers use, from measurements: python -m quality.opinion_table --help

Each rung is judged clean by ViSQOL (audio mode, which hears bandwidth and overlooks how coarsely it is coded) and by
PESQ-WB (which hears that, and is deaf above 8 kHz). Both become ratings R of the E-model's fullband scale (ITU-T
G.107.2), whose mean gives Ie. What PESQ loses from clean to lossy is added to it, and Bpl is fitted to that, for random
losses and for bursts of three: once for all voices together and once for each. Rows with protection check it.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

import typer

from adaptive.control.opinion import TABLE, Table
from adaptive.control.plan import Protection, Rung
from adaptive.speech.voice import Samples

from . import opinion_measuring as measuring
from .opinion_fit import fitted, points, residuals
from .opinion_measuring import Condition, Row

POINTS = Path(__file__).with_name("opinion_points.json")
"""What was measured and what the table tells of it."""
CACHE = Path("~/.cache/legato")


def settings() -> dict[str, Any]:
    """All that decides what is measured; measurements of other settings are not gone on from."""
    return {
        "voices": measuring.VOICES,
        "texts": measuring.TEXTS,
        "losses": measuring.LOSSES,
        "bursts": measuring.BURSTS,
        "seeds": measuring.SEEDS,
        "protections": [str(protection) for protection in measuring.PROTECTIONS],
        "protected_losses": measuring.PROTECTED_LOSSES,
    }


def kept_rows() -> Path:
    """Where the rows of these settings are kept."""
    digest = hashlib.sha256(json.dumps(settings()).encode()).hexdigest()[:12]
    return CACHE.expanduser() / f"opinion-{digest}.jsonl"


def read(rows: Path) -> dict[Condition, Row]:
    """The rows measured so far; a line that was cut off is measured again."""
    kept: dict[Condition, Row] = {}
    for line in rows.read_text().splitlines() if rows.exists() else ():
        try:
            fields = json.loads(line)
        except json.JSONDecodeError:
            continue
        was = fields.pop("condition")
        protection = Protection(**{**was["protection"], "copies": tuple(was["protection"]["copies"])})
        condition = Condition(**{**was, "rung": Rung(**was["rung"]), "protection": protection})
        kept[condition] = Row(condition=condition, **fields)
    return kept


def made(rows: Sequence[Row]) -> dict[str, Any]:
    """The table."""
    plain = [row for row in rows if row.condition.protection == Protection()]

    def entries(of: Sequence[Row]) -> list[dict[str, Any]]:
        return [fitted([row for row in of if row.condition.rung == rung]) for rung in measuring.rungs()]

    voices = {name: entries([row for row in plain if row.condition.voice == name]) for name in measuring.VOICES}
    return {
        "made_by": "python -m quality.opinion_table",
        "settings": settings(),
        "rungs": entries(plain),
        "voices": voices,
    }


_speech: dict[str, list[Samples]] = {}


def _prepare(speech: Mapping[str, list[Samples]]) -> None:
    _speech.update(speech)


def _measured(condition: Condition) -> Row:
    return measuring.measure(condition, _speech)


def main(
    out: Annotated[Path, typer.Option(help="The table to write.")] = TABLE,
    told: Annotated[Path, typer.Option(help="Where what was measured and what it tells is written.")] = POINTS,
    rows: Annotated[
        Path | None, typer.Option(help="Where measurements are kept and gone on from.", show_default="in ~/.cache")
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes that measure.")] = 2,
) -> None:
    """Measures every rung under loss and writes the opinion table: ten minutes on two cores, resumable."""
    from rich.progress import track

    rows = rows or kept_rows()
    rows.parent.mkdir(parents=True, exist_ok=True)
    kept = read(rows)
    wanted = list(measuring.conditions())
    missing = [condition for condition in wanted if condition not in kept]
    speech = measuring.rendered() if missing else {}
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=_prepare, initargs=(speech,)) as pool:
        for row in track(pool.map(_measured, missing), total=len(missing), description="Measuring opinions"):
            kept[row.condition] = row
            with rows.open("a") as file:
                file.write(json.dumps(asdict(row)) + "\n")
    found = [kept[condition] for condition in wanted]
    table = made(found)
    measured = list(points(found, Table(rungs=table["rungs"], voices=table["voices"])))
    table["residuals"] = residuals(measured)
    out.write_text(json.dumps(table, indent=1) + "\n")
    told.write_text("[\n" + ",\n".join(map(json.dumps, measured)) + "\n]\n")
    typer.echo(json.dumps({"rungs": len(table["rungs"]), "rows": len(found), "residuals": table["residuals"]}))


if __name__ == "__main__":
    typer.run(main)
