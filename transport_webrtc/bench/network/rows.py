"""A bench's folder: what was asked for, a line for every run so far, and a folder for what each run left behind.

A bench that was interrupted finds here what it need not do again.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ASKED = "bench.json"
ROWS = "rows.jsonl"
RUNS = "runs"

Key = tuple[str, str, int]
"""Sender, scenario, seed."""


class Folder:
    """Owned by one bench at a time."""

    def __init__(self, path: Path, asked: dict[str, Any]) -> None:
        """`asked` is what rows of one folder must have in common. Raises ValueError where it holds those of another
        bench."""
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        file = path / ASKED
        if file.exists():
            before = json.loads(file.read_text(encoding="utf-8"))
            for name, value in asked.items():
                if before.get(name) != value:
                    raise ValueError(
                        f"{path} holds a bench with {name} = {before.get(name)!r}, not {value!r}: choose another --out."
                    )
        else:
            file.write_text(json.dumps(asked, indent=1) + "\n", encoding="utf-8")
        self._rows = list(self._read())

    def add(self, row: dict[str, Any]) -> None:
        """One more run, on disk when this returns."""
        self._rows.append(row)
        with (self.path / ROWS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def attempts(self, key: Key) -> list[dict[str, Any]]:
        """Rows of that run so far, in the order in which they were made."""
        return [row for row in self._rows if (row["sender"], row["scenario"], row["seed"]) == key]

    def best(self, key: Key) -> dict[str, Any] | None:
        """The valid row of that run, else the last one, else None."""
        attempts = self.attempts(key)
        return next((row for row in attempts if row["valid"]), attempts[-1] if attempts else None)

    def run(self, key: Key, attempt: int) -> Path:
        """The folder of one attempt."""
        sender, scenario, seed = key
        name = f"{scenario}-{sender}-{seed}".replace(":", "_").replace("/", "_")
        return self.path / RUNS / (name if not attempt else f"{name}-again{attempt}")

    def _read(self) -> Iterator[dict[str, Any]]:
        file = self.path / ROWS
        if not file.exists():
            return
        for line in file.read_text(encoding="utf-8").splitlines():
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                return  # the bench was killed in the middle of its last line
