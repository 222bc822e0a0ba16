"""Reports on disk."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from .comparing import Comparison
from .model import Picture, Report
from .page import comparison_page, page

JSON, HTML = "report.json", "report.html"
CHANGES = "changes.png"


def write(folder: str | Path, report: Report, *, pictures: Mapping[str, tuple[bytes, str]] | None = None) -> Path:
    """Writes everything into `folder` and returns the page; `pictures` is file name → (PNG, caption), which are added
    to those that the report has in its folder already."""
    at = Path(folder)
    at.mkdir(parents=True, exist_ok=True)
    for name, (png, _) in (pictures or {}).items():
        (at / name).write_bytes(png)
    added = tuple(Picture(file=name, caption=caption) for name, (_, caption) in (pictures or {}).items())
    report = replace(report, pictures=(*report.pictures, *added))
    (at / JSON).write_text(json.dumps(report.as_dict(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return rebuild(at)


def read(folder: str | Path) -> Report:
    """The report of a folder. Raises ValueError with a sentence."""
    file = Path(folder) / JSON
    if not file.is_file():
        raise ValueError(f"There is no {JSON} in {folder}; a bench or a simulation writes one with --out.")
    try:
        return Report.of(json.loads(file.read_text(encoding="utf-8")))
    except ValueError as error:
        raise ValueError(f"{file} cannot be read: {error}.") from None


def rebuild(folder: str | Path) -> Path:
    """Makes the page of a folder anew. Raises ValueError with a sentence."""
    at = Path(folder)
    (at / HTML).write_text(page(read(at), at), encoding="utf-8")
    return at / HTML


def write_comparison(folder: str | Path, comparison: Comparison, *, first: str | Path, second: str | Path) -> Path:
    """Writes the page of a comparison of the reports in two folders, and its picture where figures changed."""
    from ..plots import changes

    at = Path(folder)
    at.mkdir(parents=True, exist_ok=True)
    moved = {name: percent for name, percent in comparison.changes.items() if percent}
    picture = changes(moved, title="Second against first").png() if moved else None
    if picture is not None:
        (at / CHANGES).write_bytes(picture)
    html = comparison_page(comparison, picture=picture, first=Path(first), second=Path(second))
    (at / HTML).write_text(html, encoding="utf-8")
    return at / HTML
