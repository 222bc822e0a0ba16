"""Two reports side by side: what was set otherwise, how figures differ, rows that are of the same thing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .model import Report, Table, label, shown

INSTANT = "at_s"
NAMING = ("seed", INSTANT)
"""Numbers that say which row it is."""
Line = tuple[str, Any, Any]
"""Name, and the value in the first and in the second; None where it has none."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What differs from `first` to `second`."""

    first: Report
    second: Report
    settings: tuple[Line, ...]
    """Settings, seeds and versions that are not the same."""
    figures: tuple[Line, ...]
    tables: tuple[Table, ...]
    """One for each that both have: a row for each pair, and for each number its value in both and the difference."""

    @property
    def changes(self) -> dict[str, float]:
        """Percent of the first, for each figure that is a number in both and not nothing in the first."""
        return {
            " ".join(filter(None, label(name))): 100 * (b - a) / abs(a)
            for name, a, b in self.figures
            if is_number(a) and is_number(b) and a
        }


def compare(first: Report, second: Report) -> Comparison:
    """`second` against `first`."""
    both = [(table, other) for table in first.tables for other in second.tables if other.title == table.title]
    told = {**_told(first)}, {**_told(second)}
    return Comparison(
        first=first,
        second=second,
        settings=tuple(line for line in _lines(*told) if shown(line[1]) != shown(line[2])),
        figures=_lines(first.figures, second.figures),
        tables=tuple(_paired(table, other) for table, other in both),
    )


def is_number(value: Any) -> bool:
    """A measured one."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _told(report: Report) -> dict[str, Any]:
    return {**report.settings, "seeds": report.seeds, **report.versions}


def _lines(first: Mapping[str, Any], second: Mapping[str, Any]) -> tuple[Line, ...]:
    return tuple((name, first.get(name), second.get(name)) for name in dict.fromkeys([*first, *second]))


def _paired(first: Table, second: Table) -> Table:
    """Rows of one instant belong together; where rows are of no instant, those with the same words, and where several
    have the same, in their order."""
    rows = [*first.rows, *second.rows]
    columns = list(dict.fromkeys([*first.columns, *second.columns]))
    values = {name: [row[name] for row in rows if row.get(name) is not None] for name in columns}
    numbers = [name for name in columns if name not in NAMING and all(map(is_number, values[name]))]
    words = [name for name in columns if name not in numbers]
    keys = [INSTANT] if INSTANT in columns else words
    others: dict[str, list[Mapping[str, Any]]] = {}
    for row in second.rows:
        others.setdefault(_key(row, keys), []).append(row)
    lines = []
    for row in first.rows:
        same = others.get(_key(row, keys))
        other: Mapping[str, Any] = same.pop(0) if same else {}
        line = {name: row.get(name) for name in keys}
        for name in columns:
            if name in keys:
                continue
            a, b = row.get(name), other.get(name)
            line |= {name: a, f"second {name}": b}
            if name in numbers:
                line[f"difference {name}"] = None if a is None or b is None else b - a
        lines.append(line)
    return Table(title=first.title, rows=tuple(lines))


def _key(row: Mapping[str, Any], names: list[str]) -> str:
    return repr([shown(row.get(name)) for name in names])
