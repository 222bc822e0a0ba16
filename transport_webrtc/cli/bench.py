"""`legato bench`: measures this machine; every figure that the project quotes comes from here."""

import typer


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    from ..bench import first_audio, heard, media, network

    bench = typer.Typer(
        name="bench",
        help="Measure this machine: how soon speech begins, what sending it costs, and what is heard on a bad network.",
        no_args_is_help=True,
        rich_markup_mode="markdown",
    )
    first_audio.register(bench)
    heard.register(bench)
    media.register(bench)
    network.register(bench)
    app.add_typer(bench)
