"""What every verb with `--out` leaves in that folder, so that all of them leave the same: a report."""

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quality.report import Recording, Table

OUT = "Folder for a report: report.json, report.html and pictures, for people and for `legato report`."


Pictures = Mapping[str, tuple[bytes, str]]
"""File name → PNG and caption."""


def drawn(draw: Callable[[], Pictures]) -> Pictures:
    """The pictures, or none and a word about it where there is no matplotlib."""
    try:
        return draw()
    except ImportError:
        print("There are no pictures without matplotlib: pip install legato-speech[judge].", file=sys.stderr)
        return {}


def leave(
    folder: Path,
    *,
    title: str,
    says: str,
    settings: Mapping[str, Any],
    figures: Mapping[str, Any],
    tables: Sequence["Table"] = (),
    recordings: Sequence["Recording"] = (),
    seeds: Sequence[int] = (),
    pictures: Pictures | None = None,
) -> Path:
    """Writes the report and says where. Raises OSError where it cannot."""
    from quality.report import Report, write

    page = write(
        folder,
        Report(
            title=title,
            says=says,
            command=shlex.join(["legato", *sys.argv[1:]]),
            settings=settings,
            figures=figures,
            tables=tuple(tables),
            recordings=tuple(recordings),
            seeds=tuple(seeds),
        ),
        pictures=pictures,
    )
    print(f"Report: {page}", file=sys.stderr)
    return page
