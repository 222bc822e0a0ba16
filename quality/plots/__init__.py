"""Pictures for reports, notebooks and papers. Needs matplotlib (the extra `judge`).

Every function gives a `Picture`, which shows itself in a notebook and saves itself as PNG, SVG or PDF. Colours are
those of Okabe and Ito (2008), which people with any colour vision tell apart; lines differ by marker or dash as well.
"""

from .curves import Curve, curves, spread
from .groups import bars, changes, grid
from .opinion import opinion_fit, opinion_residuals
from .picture import Picture
from .simulation import opinions, plot
from .timelines import Span, timelines

__all__ = [
    "Curve",
    "Picture",
    "Span",
    "bars",
    "changes",
    "curves",
    "grid",
    "opinion_fit",
    "opinion_residuals",
    "opinions",
    "plot",
    "spread",
    "timelines",
]
