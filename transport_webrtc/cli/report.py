"""`legato report`: one report's page made anew, or two reports compared."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .simulated import table
from .words import JSON

if TYPE_CHECKING:
    from quality.report import Comparison

COMPARED = Path("compared")
HELP = """Read what a bench or a simulation left with `--out`.

With one folder, makes its page, report.html, anew from report.json, pictures and recordings. With two, says how the
second differs from the first, and writes a page with both side by side.

Examples:

`legato simulate --trace step40 --out before`

`legato report before after --out compared`
"""


def register(app: typer.Typer) -> None:
    """Adds the verb."""

    @app.command(help=HELP)
    def report(
        first: Annotated[Path, typer.Argument(help="Folder with a report.json.")],
        second: Annotated[Path | None, typer.Argument(help="Another one, of the same kind of run.")] = None,
        out: Annotated[
            Path, typer.Option(help="With two folders: where the page of their comparison goes.")
        ] = COMPARED,
        as_json: Annotated[bool, typer.Option("--json", help=JSON)] = False,
    ) -> None:
        from quality.report import compare, read, rebuild, write_comparison

        try:
            if second is None:
                page = rebuild(first)
                found: dict[str, Any] = read(first).as_dict()
            else:
                compared = compare(read(first), read(second))
                page = write_comparison(out, compared, first=first, second=second)
                _show(compared)
                found = {
                    "settings": [list(line) for line in compared.settings],
                    "figures": [list(line) for line in compared.figures],
                    "change_percent": compared.changes,
                }
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
        except OSError as error:
            typer.echo(f"The page cannot be written: {error}.", err=True)
            raise typer.Exit(1) from None
        typer.echo(f"Written: {page}", err=True)
        if as_json:
            typer.echo(json.dumps(found | {"page": str(page)}))


def _show(compared: "Comparison") -> None:
    from quality.report.model import label, shown

    changes = compared.changes
    lines = []
    for name, first, second in compared.figures:
        words = " ".join(filter(None, label(name)))
        moved = changes.get(words)
        lines.append([words, shown(first), shown(second), "" if moved is None else f"{moved:+.1f} %"])
    table(compared.first.title, ["figure", "first", "second", "change"], lines)
    if compared.settings:
        told = [[name, shown(first), shown(second)] for name, first, second in compared.settings]
        table("What was set otherwise", ["setting", "first", "second"], told)
