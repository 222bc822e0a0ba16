"""`legato simulate`: a controller on a scenario or a trace, in virtual time."""

import json
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Adds the verb."""

    @app.command()
    def simulate(
        trace: Annotated[str, typer.Option(help="A scenario, or a Mahimahi trace as FILE@SECONDS.")] = "clean",
        controller: Annotated[
            str, typer.Option(help="adaptive, fixed:24000, fixed:32000+fec, or a name.")
        ] = "adaptive",
        profile: Annotated[str, typer.Option(help="What the use wants.")] = "voice_chat",
        seed: Annotated[int, typer.Option(help="Of losses, jitter and frame sizes.")] = 0,
        seconds: Annotated[int, typer.Option(min=1, max=3600, help="Of speech.")] = 12,
        as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
    ) -> None:
        """Simulate one listener on a bad network, hundreds of times faster than it would be heard."""
        from adaptive.control.profiles import PROFILES
        from adaptive.control.registry import load_controller
        from quality.lab.simulator import simulate as run
        from quality.lab.windows import find

        try:
            chosen = PROFILES[profile]
        except KeyError:
            raise typer.BadParameter(f"there is no profile {profile!r}; there are {', '.join(PROFILES)}") from None
        try:
            scenario, who = find(trace, seconds=seconds), load_controller(controller, profile=chosen)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
        simulation = run(scenario, who, profile=chosen, seconds=seconds, seed=seed)
        figures = {"trace": scenario.name, "controller": controller, "profile": profile, "carrier": "audio"}
        figures |= simulation.summary
        if not as_json:
            for row in simulation.rows:
                typer.echo(f"{row.at_s:5.0f} s  {row.opinion:.2f}  {row.rung:14} {row.protection:10} {row.tier}")
        typer.echo(json.dumps(figures))
