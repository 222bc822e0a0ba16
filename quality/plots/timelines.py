"""What happened over time, one row above the other, with shaded spans behind."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .picture import FAINT, Picture, styles

Series = Sequence[tuple[float, float | None]]
"""(second, value); None is a gap in the line."""


class Span(NamedTuple):
    """A time with a name."""

    start_s: float
    end_s: float
    name: str


def timelines(
    rows: Mapping[str, Mapping[str, Series]], *, title: str, spans: Sequence[Span] = (), steps: bool = False
) -> Picture:
    """`rows` is label with unit → name → series; `spans` are shaded in all of them and named in the first."""
    picture = Picture(title=title, height=1.0 + 1.6 * len(rows), rows=len(rows))
    for place, (axes, (label, named)) in enumerate(zip(picture.axes, rows.items(), strict=True)):
        for (name, series), style in zip(named.items(), styles(), strict=False):
            values = [float("nan") if value is None else value for _, value in series]
            line = {**style, "marker": None, "linewidth": 1.5, "label": name}
            times = [at for at, _ in series]
            if steps:
                axes.step(times, values, where="post", **line)
            else:
                axes.plot(times, values, **line)
        for span in spans:
            axes.axvspan(span.start_s, span.end_s, color=FAINT, alpha=0.25, linewidth=0)
            if place == 0:
                middle = (span.start_s + span.end_s) / 2
                axes.annotate(
                    span.name, (middle, 1.0), xycoords=("data", "axes fraction"), ha="center", fontsize="small"
                )
        axes.set(ylabel=label)
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    picture.axes[-1].set_xlabel("s")
    return picture.legends(loc="best")
