"""One look for all pictures."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito, "Color universal design" (2008); yellow is left out, as it is too light for lines."""
DASHES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
FAINT, GRID = "#9aa5b1", "#e3e7ec"
DPI = 110
TITLE_SIZE = 11


class Picture:
    """A figure of one or more axes, one above the other."""

    def __init__(
        self, *, title: str, width: float = 7.5, height: float = 3.8, rows: int = 1, heights: tuple[float, ...] = ()
    ) -> None:
        """`width` and `height` in inches; `heights` are the rows' shares."""
        from matplotlib.figure import Figure

        self.figure = Figure(figsize=(width, height), layout="constrained")
        found: Any = self.figure.subplots(rows, 1, sharex=rows > 1, squeeze=False, height_ratios=heights or None)
        self.axes: list[Axes] = [row[0] for row in found]
        self.figure.suptitle(title, fontsize=TITLE_SIZE, x=0.01, ha="left")
        for axes in self.axes:
            axes.grid(color=GRID)
            axes.set_axisbelow(True)
            axes.spines[["top", "right"]].set_visible(False)

    def legends(self, **options: Any) -> "Picture":
        """A legend for every row that names anything."""
        for axes in self.axes:
            if axes.get_legend_handles_labels()[0]:
                axes.legend(frameon=False, fontsize="small", **options)
        return self

    def save(self, path: str | Path) -> None:
        """As PNG, SVG or PDF, by the name."""
        self.figure.savefig(path, dpi=DPI)

    def png(self) -> bytes:
        """The bytes of a PNG."""
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format="png", dpi=DPI)
        return buffer.getvalue()

    def _repr_png_(self) -> bytes:
        return self.png()


def styles() -> Iterator[dict[str, Any]]:
    """Colour, dash and marker of one line after the other, no two alike for a long while."""
    number = 0
    while True:
        yield {
            "color": COLOURS[number % len(COLOURS)],
            "linestyle": DASHES[(number // len(COLOURS) + number) % len(DASHES)],
            "marker": MARKERS[number % len(MARKERS)],
        }
        number += 1
