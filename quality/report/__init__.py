"""What a bench or a simulation leaves behind: one folder with `report.json`, `report.html` and its pictures.

The page is one file that needs no other: pictures and recordings are in it. Two folders can be compared.
"""

from .comparing import Comparison, compare
from .folder import read, rebuild, write, write_comparison
from .model import Picture, Recording, Report, Table, versions

__all__ = [
    "Comparison",
    "Picture",
    "Recording",
    "Report",
    "Table",
    "compare",
    "read",
    "rebuild",
    "versions",
    "write",
    "write_comparison",
]
