"""The command `legato`: one file a verb, each loading what it needs only when it runs."""

import os
import shutil
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

VERBS = ("serve", "say", "listen", "simulate", "bench", "report", "voices", "doctor")
DISTRIBUTION = "legato-speech"


def make_app() -> typer.Typer:
    """The command line with all its verbs."""
    app = typer.Typer(
        name="legato",
        help=f"Speech that follows the listener's network without a seam.\n\nStart with: {typed()} serve --lab",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
    )

    @app.callback()
    def legato(
        show_version: Annotated[
            bool, typer.Option("--version", is_eager=True, callback=_version, help="Show the version and exit.")
        ] = False,
    ) -> None: ...

    for verb in VERBS:
        import_module(f"{__name__}.{verb}").register(app)
    return app


def typed() -> str:
    """The command as it has to be typed here: by its path where its environment is not active."""
    command = Path(sys.argv[0])
    if command.name != "legato" or shutil.which("legato") is not None:
        return "legato"
    near = os.path.relpath(command)
    return near if len(near) < len(str(command)) else str(command)


def _version(wanted: bool) -> None:
    if wanted:
        try:
            typer.echo(f"legato {version(DISTRIBUTION)}")
        except PackageNotFoundError:
            typer.echo("legato, from its source tree")
        raise typer.Exit


def main() -> None:
    """The entry point."""
    make_app()(prog_name="legato")
