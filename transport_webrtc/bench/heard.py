"""`legato bench heard`: how soon a text is heard by a browser that is connected, over and over on one connection."""

import json
import random
import sys
import time
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from adaptive.speech.voice import Samples
from adaptive.ticks import TICK_RATE, to_ticks

from .onset import FRAME, LOUD
from .texts import sentences

if TYPE_CHECKING:
    from quality.lab.scenarios import Scenario

SEED = 11
STEP = to_ticks(0.001)
LONGEST_S = 15.0
"""For a text to be heard out."""
PAUSE_S = 0.4, 1.0
"""Between the end of a text and the next one: by chance, so that no timer keeps step."""


def texts(count: int) -> list[str]:
    """Different ones of some 3 s, the same every time."""
    parts = dict.fromkeys(text.split(",")[1].strip().capitalize() + "." for text in sentences(SEED))
    return list(islice(parts, count))


def onsets(heard: Samples, said_s: list[float]) -> list[float | None]:
    """Seconds from each time in `said_s` until the first 20 ms above −45 dBFS begin to sound in the recording, float32
    at 48 kHz; None where nothing does before the next one."""
    power = np.concatenate([[0.0], np.cumsum(np.square(heard, dtype=np.float64))])
    starts = np.arange(0, max(0, len(heard) - FRAME), STEP)
    loud = starts[power[starts + FRAME] - power[starts] > FRAME * LOUD**2]
    found: list[float | None] = []
    for said, limit in zip(said_s, [*said_s[1:], float("inf")], strict=True):
        place = np.searchsorted(loud, said * TICK_RATE)
        at = loud[place] / TICK_RATE if place < len(loud) else float("inf")
        found.append(at - said if at < limit else None)
    return found


def figures(found: list[float | None]) -> dict[str, Any]:
    """Percentiles over those that were heard."""
    known = [1000 * value for value in found if value is not None]
    percentiles = {f"p{p}_ms": round(float(np.percentile(known, p)), 1) if known else None for p in (50, 90, 99)}
    return {"n": len(found), "failures": len(found) - len(known), **percentiles}


def measure(scenario: "Scenario", *, voice: str, carrier: str, profile: str, count: int, seed: int) -> dict[str, Any]:
    """One connection. Raises RuntimeError where something does not work."""
    from quality.lab.scenarios import LEAD_IN_S

    from .network.clip import Clip
    from .network.cpu import Idle
    from .network.run import Network, recording
    from .network.senders.names import parse_sender
    from .network.stage import Stage

    chance, said = random.Random(seed), []
    clip = Clip("", voice, "", np.zeros(0, np.float32), ())
    with Stage(clip, profile=profile, controller="adaptive", lead_s=None) as stage:
        sender = stage.sender(parse_sender(f"legato:{carrier}", delay_ms=None))
        network = Network(stage.rig, scenario, seed)
        page = sender.connect()
        network.until(-LEAD_IN_S)
        time.sleep(LEAD_IN_S)
        network.until(0)
        idle = Idle()
        for number, text in enumerate(texts(count), start=1):
            said.append(page.evaluate("text => say(text)", text) / 1000)
            finished = f"told().filter(({{event}}) => event === 'finished').length >= {number}"
            page.wait_for_function(finished, timeout=1000 * LONGEST_S)
            idle.stretch()
            time.sleep(chance.uniform(*PAUSE_S))
        ended = page.evaluate("ear.end()")
        network.calm()
        sender.leave()
    if ended["failure"]:
        raise RuntimeError(f"The listener could not record: {ended['failure']}")
    heard, slip = recording(ended, said[0])
    found = onsets(heard, [at - said[0] for at in said])
    return {
        "scenario": scenario.name,
        "voice": voice,
        "carrier": carrier,
        "profile": profile,
        **figures(found),
        "each_ms": [None if value is None else round(1000 * value) for value in found],
        "clock_slip": slip,
        "cpu_idle": idle.share,
    }


def register(app: typer.Typer) -> None:
    """Adds the bench."""

    @app.command("heard")
    def heard(
        scenario: Annotated[
            str, typer.Option(help="The network: a name, a .toml file, FILE@SECONDS of a Mahimahi trace.")
        ] = "clean",
        voice: Annotated[str, typer.Option(help="Who speaks.")] = "joe",
        carrier: Annotated[str, typer.Option(help="data or audio.")] = "data",
        profile: Annotated[str, typer.Option(help="Of the listener.")] = "voice_chat",
        n: Annotated[int, typer.Option(min=1, max=200, help="How many texts are said, one after the other.")] = 20,
        seed: Annotated[int, typer.Option(help="Of the network's chances.")] = 1,
        as_json: Annotated[bool, typer.Option("--json", help="One JSON object on the last line of stdout.")] = False,
    ) -> None:
        """Measure how soon a text is heard in a browser that is connected, behind a link of 50 ms each way.

        Counted from the call that hands the text over in the page until 20 ms above -45 dBFS begin to come out of it;
        some 20 ms of that are the recorder's. The network is bad from 5 s before the first text. Needs what `legato
        bench network` needs.
        """
        from quality.lab import tun
        from quality.lab.scenarios import load

        from .network import chromium

        missing = tun.available() or chromium.available()
        if missing:
            typer.echo(f"legato bench heard needs more than there is: {missing}.", err=True)
            raise typer.Exit(1)
        try:
            result = measure(load(scenario), voice=voice, carrier=carrier, profile=profile, count=n, seed=seed)
        except ValueError as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(2) from None
        except RuntimeError as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(1) from error
        for name, value in result.items():
            print(f"{name}: {'not measured' if value is None else value}", file=sys.stderr)
        if as_json:
            print(json.dumps(result))
