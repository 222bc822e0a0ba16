"""`legato doctor`: looks at this machine and says what to do next."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer

from . import checks
from .checks import CHECKS, Finding, State
from .words import JSON

_COLOURS = {State.OK: "green", State.WARN: "yellow", State.FAIL: "red"}


def examine(*, port: int | None = None) -> Iterator[Finding]:
    """Every check's finding, `port` being looked at in place of the server's own; one that cannot even be made is a
    failure too."""
    for check in CHECKS:
        try:
            yield checks.port(port) if check is checks.port else check()
        except Exception as error:  # whatever is broken here is what people want to know
            name = check.__name__
            todo = "If this is not plain from the message, report it with the output of legato doctor --json."
            yield Finding(name=name, state=State.FAIL, found=f"{type(error).__name__}: {error}", todo=todo)


def _show(finding: Finding) -> None:
    colour = _COLOURS[finding.state]
    typer.echo(f"{typer.style(f'{finding.state:4}', fg=colour)}  {finding.name:<11} {finding.found}")
    if finding.todo is not None:
        typer.echo(f"{'':18}{finding.todo}")


def register(app: typer.Typer) -> None:
    """Adds the verb."""

    @app.command()
    def doctor(
        port: Annotated[
            int | None,
            typer.Option(min=0, max=65535, help="The port that a server is to have. [LEGATO_PORT, else 8080]"),
        ] = None,
        as_json: Annotated[bool, typer.Option("--json", help=JSON)] = False,
    ) -> None:
        """Check that everything Legato needs is here, and say what to do where it is not. Exits with 1 on a failure.

        Example: `legato doctor --port 8099`
        """
        findings = []
        for finding in examine(port=port):
            findings.append(finding)
            if not as_json:
                _show(finding)
        ok = all(finding.state is not State.FAIL for finding in findings)
        if as_json:
            typer.echo(json.dumps({"ok": ok, "checks": [asdict(finding) for finding in findings]}))
        raise typer.Exit(0 if ok else 1)
