"""Curves over a quantity, and how values spread."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .picture import Picture, styles


@dataclass(frozen=True, kw_only=True)
class Curve:
    """What was measured at each x; `low` and `high` around it, if given, are drawn as a band."""

    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


def curves(
    named: Mapping[str, Curve],
    *,
    title: str,
    x: str,
    y: str,
    logarithmic: bool = False,
    ticks: Sequence[float] = (),
    limits: tuple[float | None, float | None] = (None, None),
) -> Picture:
    """One line a name. `x` and `y` are labels with their units; `ticks` names the places on the x axis."""
    picture = Picture(title=title)
    axes = picture.axes[0]
    for (name, curve), style in zip(named.items(), styles(), strict=False):
        axes.plot(curve.x, curve.y, label=name, markersize=4, linewidth=1.6, **style)
        if curve.low:
            axes.fill_between(curve.x, curve.low, curve.high, color=style["color"], alpha=0.15, linewidth=0)
    if logarithmic:
        axes.set_xscale("log")
    if ticks:
        axes.set_xticks(list(ticks), [f"{tick:g}" for tick in ticks], minor=False)
        axes.minorticks_off()
    axes.set(xlabel=x, ylabel=y, ylim=limits)
    return picture.legends()


def spread(
    named: Mapping[str, Sequence[float]],
    *,
    title: str,
    x: str,
    limits: tuple[float | None, float | None] = (None, None),
) -> Picture:
    """The share of values at or below each x: an empirical distribution a name."""
    picture = Picture(title=title)
    axes = picture.axes[0]
    for (name, values), style in zip(named.items(), styles(), strict=False):
        ordered = sorted(values)
        shares = [100 * (place + 1) / len(ordered) for place in range(len(ordered))]
        axes.step([ordered[0], *ordered], [0, *shares], where="post", label=name, **{**style, "marker": None})
    axes.set(xlabel=x, ylabel="at or below, %", ylim=(0, 101), xlim=limits)
    return picture.legends(loc="lower right")
