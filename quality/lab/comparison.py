"""All contenders over many windows: rows that are kept, so that an interrupted run goes on, and what they say.

A row is kept with a digest of the code that made it, so that changed code is simulated again. The oracle's rows outlive
a changed controller: an oracle that a contender beats is searched again, from that contender's own plans.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

import adaptive.control
import quality.lab
from adaptive.control.profiles import PROFILES

from .contenders import ADAPTIVE, ANA, ORACLE, make
from .oracle import recorded, search
from .scenarios import Scenario
from .simulator import simulate

Row = dict[str, Any]
Key = tuple[str, ...]

MEAN_SHARE, EACH_SHARE, BELOW_FIXED, UPS_A_MINUTE = 0.90, 0.80, 0.15, 6.0
"""What the adaptive controller is held to: of the oracle's opinion above 1 on average and on each window, how far below
the best fixed one it may be on any, and how often it may rise."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """One contender on one window."""

    scenario: Scenario
    controller: str
    profile: str
    seconds: int
    seed: int

    @property
    def key(self) -> Key:
        """By which its row is kept."""
        code = _digest(oracle=self.controller == ORACLE)
        return (self.scenario.name, self.controller, self.profile, str(self.seconds), str(self.seed), code)


def run(task: Task, *, rivals: Iterable[str] = ()) -> Row:
    """Simulates it; the oracle begins from the plans of `rivals`."""
    profile = PROFILES[task.profile]

    def play(name: str) -> Any:
        return simulate(
            task.scenario, make(name, profile=profile), profile=profile, seconds=task.seconds, seed=task.seed
        )

    if task.controller == ORACLE:
        known = [recorded(play(name)) for name in rivals]
        best = search(task.scenario, profile=profile, seconds=task.seconds, seed=task.seed, rivals=known)
        result = best.simulation
    else:
        result = play(task.controller)
    return row(task, result.summary)


def row(task: Task, summary: dict[str, Any]) -> Row:
    """The figures of one simulation as the command prints them."""
    named = {"trace": task.scenario.name, "controller": task.controller, "profile": task.profile, "carrier": "audio"}
    return {**named, "seed": task.seed, **summary}


class Kept:
    """Rows in a file of one JSON object a line; what cannot be read in it is simulated again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: dict[Key, Row] = {}
        if path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    entry = json.loads(line)
                    self._rows[tuple(entry["key"])] = entry["row"]
                except (ValueError, KeyError, TypeError):
                    continue

    def get(self, task: Task) -> Row | None:
        """The row, if it is there."""
        return self._rows.get(task.key)

    def put(self, task: Task, row: Row) -> None:
        """Keeps it at once."""
        self._rows[task.key] = row
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": task.key, "row": row}) + "\n")


def compare(
    scenarios: Sequence[Scenario],
    controllers: Sequence[str],
    *,
    profile: str,
    seconds: int,
    seed: int,
    kept: Kept,
    on_row: Callable[[Row, bool], None],
) -> list[Row]:
    """Every controller on every scenario, the oracle last; `on_row` is told each row and whether it was kept."""
    rivals = [name for name in controllers if name != ORACLE]
    rows: list[Row] = []
    for scenario in scenarios:
        here: list[Row] = []
        for name in [*rivals, *([ORACLE] if ORACLE in controllers else [])]:
            task = Task(scenario=scenario, controller=name, profile=profile, seconds=seconds, seed=seed)
            found = kept.get(task)
            best = max((other["mean_opinion"] for other in here), default=0.0)
            known = found is not None and not (name == ORACLE and found["mean_opinion"] < best)
            if not known:
                found = run(task, rivals=rivals)
                kept.put(task, found)
            assert found is not None
            here.append(found)
            on_row(found, known)
        rows += here
    return rows


def verdict(rows: Sequence[Row]) -> dict[str, Any]:
    """Over all windows: means by controller, and how the adaptive one stands against the others; None is unknown."""
    by: dict[str, dict[str, Row]] = {}
    for entry in rows:
        by.setdefault(entry["controller"], {})[entry["trace"]] = entry
    means = {name: round(mean(entry["mean_opinion"] for entry in of.values()), 3) for name, of in by.items()}
    adaptive, oracle = by.get(ADAPTIVE, {}), by.get(ORACLE, {})
    shares = {
        trace: (entry["mean_opinion"] - 1) / max(1e-9, oracle[trace]["mean_opinion"] - 1)
        for trace, entry in adaptive.items()
        if trace in oracle
    }
    below = {trace: _best_fixed(by, trace) - entry["mean_opinion"] for trace, entry in adaptive.items()}
    fixed = [value for name, value in means.items() if name.startswith("fixed")]
    ups = max((60 * entry["up_changes"] / entry["seconds"] for entry in adaptive.values()), default=None)
    return {
        "windows": len({entry["trace"] for entry in rows}),
        "mean_opinion": means,
        "of_oracle_mean": round(mean(shares.values()), 3) if shares else None,
        "of_oracle_least": round(min(shares.values()), 3) if shares else None,
        "most_below_best_fixed": round(max(below.values()), 3) if below and fixed else None,
        "most_ups_a_minute": ups,
        "held": _held(means, shares, below if fixed else {}, ups),
    }


def _held(means: dict[str, float], shares: dict[str, float], below: dict[str, float], ups: float | None) -> Row:
    own = means.get(ADAPTIVE)
    fixed = [value for name, value in means.items() if name.startswith("fixed")]
    return {
        "of_oracle_mean": mean(shares.values()) >= MEAN_SHARE if shares else None,
        "of_oracle_each": min(shares.values()) >= EACH_SHARE if shares else None,
        "above_ana": own > means[ANA] if own is not None and ANA in means else None,
        "above_every_fixed": own > max(fixed) if own is not None and fixed else None,
        "never_far_below_fixed": max(below.values()) <= BELOW_FIXED if below else None,
        "seldom_up": ups <= UPS_A_MINUTE if ups is not None else None,
    }


def _best_fixed(by: dict[str, dict[str, Row]], trace: str) -> float:
    return max(
        (of[trace]["mean_opinion"] for name, of in by.items() if name.startswith("fixed") and trace in of),
        default=float("nan"),
    )


@cache
def _digest(*, oracle: bool) -> str:
    """Of everything that a row depends on."""
    lab = Path(quality.lab.__path__[0])
    control = Path(adaptive.control.__path__[0])
    files = sorted(lab.glob("*.py"))
    files += [control / "ladder.py", control / "opinion.py"] if oracle else sorted(control.glob("*.py"))
    files += sorted(control.glob("*.json"))
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
