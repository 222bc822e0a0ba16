"""What a notebook has to be. That it runs is shown by running it, `pytest --nbmake notebooks`, as `make test` does."""

import ast
import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def cells(notebook: Path, kind: str) -> list[str]:
    found = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == kind]


def test_all_are_there() -> None:
    assert [notebook.stem[3:] for notebook in NOTEBOOKS] == [
        "rate_and_loss",
        "first_audio",
        "in_the_car",
        "your_controller",
    ]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_opens_with_a_question_shows_two_pictures_and_ends_with_what_was_found(notebook: Path) -> None:
    told = cells(notebook, "markdown")
    assert told[0].split("**")[1].endswith("?")
    assert "## What was found" in told[-2]
    assert told[-1].startswith("- **")
    drawn = [code for code in cells(notebook, "code") if isinstance(_last(code), ast.Call)]
    pictures = [code for code in drawn if _last(code).func.id in ("curves", "bars", "grid", "timelines", "opinions")]
    assert len(pictures) >= 2
    assert "assert" in cells(notebook, "code")[-1], "the finding is held to the figures"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_committed_clean_and_repeats_nothing_of_the_packages(notebook: Path) -> None:
    raw = json.loads(notebook.read_text(encoding="utf-8"))
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in raw["cells"])
    lengths = [
        node.end_lineno - node.lineno + 1
        for code in cells(notebook, "code")
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.end_lineno
    ]
    assert all(length <= 20 for length in lengths)


def _last(code: str) -> ast.expr | None:
    statement = ast.parse(code).body[-1]
    return statement.value if isinstance(statement, ast.Expr) else None
