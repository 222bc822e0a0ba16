"""What the benches leave in their folder: a report of the same kind, with a picture of what was measured in it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..reported import Pictures, drawn, leave

if TYPE_CHECKING:
    from .network.asked import Asked
    from .network.rows import Folder

SAYS = {
    "first-audio": "How soon a text can be heard, from the call that hands it over to 20 ms of samples above -45 dBFS,"
    " beside the same texts rendered whole.",
    "media": "What sending costs beside aiortc's own path, in percent of one core a session, and how late packets leave"
    " while a core renders.",
}
PICTURED = {"ms": "ms", "percent": "% of a core a session"}
"""Units whose figures are drawn side by side."""
PESQ_MOST = 4.7


def leave_figures(folder: Path, bench: str, figures: Mapping[str, Any], *, settings: Sequence[str]) -> None:
    """A bench whose result is one object of figures; `settings` names those that were asked for."""
    measured = {name: value for name, value in figures.items() if name not in settings}
    leave(
        folder,
        title=f"legato bench {bench}",
        says=SAYS[bench],
        settings={name: figures.get(name) for name in settings},
        figures=measured,
        pictures=drawn(lambda: _side_by_side(bench, measured)),
    )


def _side_by_side(bench: str, measured: Mapping[str, Any]) -> Pictures:
    from quality.plots import bars
    from quality.report.model import label

    pictures = {}
    for unit, y in PICTURED.items():
        of_unit = {
            label(name)[0]: float(value)
            for name, value in measured.items()
            if name.endswith(f"_{unit}") and isinstance(value, int | float)
        }
        if of_unit:
            picture = bars({name: {"": value} for name, value in of_unit.items()}, title=f"legato bench {bench}", y=y)
            pictures[f"{unit}.png"] = (picture.png(), f"Figures in {y}.")
    return pictures


def leave_network(
    folder: "Folder", asked: "Asked", rows: Sequence[Mapping[str, Any]], medians: Sequence[Mapping[str, Any]]
) -> None:
    """The bench of networks: medians, every row, the picture of every network, and every recording."""
    from quality.report import Recording, Table

    pictures = dict(drawn(lambda: _scores(medians)))
    for scenario in asked.scenarios:
        file = folder.path / f"{scenario.name.replace('/', '_')}.png"
        if file.is_file():
            pictures[file.name] = (file.read_bytes(), f"{scenario.name}: {scenario.says}")
    recordings = []
    for row in rows:
        key = str(row["sender"]), str(row["scenario"]), int(row["seed"])
        file = folder.run(key, int(row["attempt"])) / "heard.wav"
        pesq = "not judged" if row.get("pesq") is None else f"PESQ-WB {row['pesq']:.2f}"
        caption = f"{key[1]}, {key[0]}, seed {key[2]}: {pesq}{'' if row['valid'] else ', not valid'}"
        recordings.append(Recording(file=str(file.relative_to(folder.path)), caption=caption))
    leave(
        folder.path,
        title="legato bench network",
        says="What a headless Chromium hears behind bad networks, sent by Legato and by others, in turns.",
        settings=json.loads(json.dumps(asked.common, default=str)),
        figures={"rows": len(rows), "invalid": sum(not row["valid"] for row in rows)},
        tables=[
            Table(title="Medians over the valid runs", rows=tuple(medians)),
            Table(title="Every run", rows=tuple(rows)),
        ],
        recordings=recordings,
        seeds=sorted({int(row["seed"]) for row in rows}),
        pictures=pictures,
    )


def _scores(medians: Sequence[Mapping[str, Any]]) -> Pictures:
    from quality.plots import bars

    scores: dict[str, dict[str, float | None]] = {}
    for median in medians:
        scores.setdefault(str(median["scenario"]), {})[str(median["sender"])] = median["pesq"]
    picture = bars(scores, title="PESQ-WB by network and sender", y="PESQ-WB, 1 to 4.64", limits=(1, PESQ_MOST))
    return {"pesq.png": (picture.png(), "Medians over the valid runs, against what was sent.")}
