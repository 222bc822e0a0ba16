"""The command `legato`: one file a verb, each loading what it needs only when it runs."""

from importlib import import_module

import typer

VERBS = ("serve", "say", "listen", "simulate", "bench", "voices", "doctor")


def make_app() -> typer.Typer:
    """The command line with all its verbs."""
    app = typer.Typer(
        name="legato",
        help="Speech that follows the listener's network without a seam.\n\nStart with: legato serve --lab",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
    )
    for verb in VERBS:
        import_module(f"{__name__}.{verb}").register(app)
    return app


def main() -> None:
    """The entry point."""
    make_app()()
