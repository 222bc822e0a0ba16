"""Values side by side: bars in groups, a grid of numbers, changes from one run to another."""

from collections.abc import Mapping, Sequence

from .picture import COLOURS, FAINT, Picture

LEGEND_CHARACTERS = 80
"""Names side by side under bars."""
MOST_CHANGE = 200.0
"""Percent; what changed by more is drawn as this much, with its number beside it."""


def bars(
    named: Mapping[str, Mapping[str, float | None]],
    *,
    title: str,
    y: str,
    limits: tuple[float | None, float | None] = (None, None),
) -> Picture:
    """`named` is group → name → value; None is left out. `y` is the label with its unit."""
    names = list(dict.fromkeys(name for group in named.values() for name in group))
    picture = Picture(title=title, width=max(7.5, 0.35 * len(named) * len(names)))
    axes, width = picture.axes[0], 0.8 / max(1, len(names))
    for place, name in enumerate(names):
        known = [(at, group[name]) for at, group in enumerate(named.values()) if group.get(name) is not None]
        axes.bar(
            [at - 0.4 + width * (place + 0.5) for at, _ in known],
            [value or 0.0 for _, value in known],
            width=0.92 * width,
            color=COLOURS[place % len(COLOURS)],
            hatch=("", "//", "..")[place // len(COLOURS) % 3],
            label=name,
        )
    axes.set_xticks(range(len(named)), list(named), fontsize="small", rotation=20 if len(named) > 6 else 0)
    axes.set(ylabel=y, ylim=limits)
    beside = max(1, round(LEGEND_CHARACTERS / (6 + max(map(len, names), default=0))))
    return picture.legends(ncols=min(beside, len(names)), loc="upper left", bbox_to_anchor=(0, -0.12))


def grid(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float]],
    *,
    title: str,
    x: str,
    y: str,
    unit: str,
    form: str = "{:.2f}",
) -> Picture:
    """`values` are [row][column], each written in its cell; darker is more (the map `cividis`, safe for all eyes)."""
    picture = Picture(title=title, height=1.6 + 0.4 * len(rows))
    axes = picture.axes[0]
    axes.grid(False)
    image = axes.imshow(values, cmap="cividis_r", aspect="auto")
    low, high = image.get_clim()
    for row, line in enumerate(values):
        for column, value in enumerate(line):
            dark = value > low + 0.6 * (high - low)
            axes.text(column, row, form.format(value), ha="center", va="center", color="white" if dark else "black")
    axes.set_xticks(range(len(columns)), list(columns))
    axes.set_yticks(range(len(rows)), list(rows))
    axes.set(xlabel=x, ylabel=y)
    picture.figure.colorbar(image, ax=axes, label=unit)
    return picture


def changes(percent: Mapping[str, float], *, title: str) -> Picture:
    """By how much each figure changed, in percent of the first run."""
    names = list(percent)[::-1]
    picture = Picture(title=title, height=1.2 + 0.26 * max(1, len(names)))
    axes = picture.axes[0]
    shown = [max(-MOST_CHANGE, min(MOST_CHANGE, percent[name])) for name in names]
    axes.barh(range(len(names)), shown, color=[COLOURS[0] if value < 0 else COLOURS[1] for value in shown])
    for place, name in enumerate(names):
        axes.annotate(
            f"{percent[name]:+.1f} %",
            (shown[place], place),
            xytext=(4 if shown[place] >= 0 else -4, 0),
            textcoords="offset points",
            ha="left" if shown[place] >= 0 else "right",
            va="center",
            fontsize="small",
        )
    axes.axvline(0, color=FAINT, lw=1)
    axes.set_yticks(range(len(names)), names, fontsize="small")
    axes.margins(x=0.2)
    axes.set(xlabel="change, % of the first")
    return picture
