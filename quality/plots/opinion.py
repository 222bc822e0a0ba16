"""The opinion table beside what it was made of."""

from collections.abc import Mapping, Sequence
from typing import Any

from .picture import COLOURS, FAINT, MARKERS, Picture

Point = Mapping[str, Any]
"""As `quality.opinion_table` writes them: `heard` was measured, `told` and `told_voice` are the table's."""


def opinion_fit(points: Sequence[Point], *, title: str = "What the table tells of what was measured") -> Picture:
    """Told over heard, 1..4.5, by protection, all voices' constants above and each voice's own below; the line is where
    the two are equal."""
    picture = Picture(title=title, width=6.0, height=9.0, rows=2)
    names = list(dict.fromkeys(point["protection"] for point in points))
    for axes, told, label in zip(
        picture.axes, ("told", "told_voice"), ("one table for all voices", "a table for each voice"), strict=True
    ):
        axes.plot([1, 4.5], [1, 4.5], color=FAINT, lw=1)
        for place, name in enumerate(names):
            of = [point for point in points if point["protection"] == name]
            axes.plot(
                [point["heard"] for point in of],
                [point[told] for point in of],
                linestyle="none",
                marker=MARKERS[place % len(MARKERS)],
                color=COLOURS[place % len(COLOURS)],
                markersize=4,
                alpha=0.6,
                label=name,
            )
        axes.set(ylabel=f"told: {label}", xlim=(0.9, 4.6), ylim=(0.9, 4.6))
    picture.axes[-1].set_xlabel("heard: ViSQOL and PESQ on the scale of G.107.2")
    return picture.legends(loc="upper left")


def opinion_residuals(points: Sequence[Point], *, title: str = "Told less heard") -> Picture:
    """How far the table is off at each loss, each voice by its own constants above and by all voices' below."""
    picture = Picture(title=title, height=6.0, rows=2)
    voices = list(dict.fromkeys(point["voice"] for point in points))
    kinds = sorted({(point["loss"], point["burst"]) for point in points})
    for axes, told in zip(picture.axes, ("told_voice", "told"), strict=True):
        axes.axhline(0, color=FAINT, lw=1)
        for place, voice in enumerate(voices):
            errors = [
                [p[told] - p["heard"] for p in points if p["voice"] == voice and (p["loss"], p["burst"]) == kind]
                for kind in kinds
            ]
            at = [number + 0.3 * (place - (len(voices) - 1) / 2) for number in range(len(kinds))]
            colour = COLOURS[place % len(COLOURS)]
            axes.boxplot(
                errors,
                positions=at,
                widths=0.22,
                manage_ticks=False,
                boxprops={"color": colour},
                whiskerprops={"color": colour},
                capprops={"color": colour},
                medianprops={"color": colour},
                flierprops={"markeredgecolor": colour, "markersize": 3},
            )
            axes.plot([], [], color=colour, label=voice)
        axes.set_ylabel("own table" if told == "told_voice" else "common table")
    labels = [f"{100 * loss:g} %" + (f"\nruns of {burst:g}" if burst > 1 else "") for loss, burst in kinds]
    picture.axes[-1].set_xticks(range(len(kinds)), labels, fontsize="small")
    picture.axes[-1].set_xlabel("packets lost")
    return picture.legends(loc="upper right")
