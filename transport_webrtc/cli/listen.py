"""`legato listen`: a native listener, no browser; says a text, hears it over WebRTC and keeps what was heard."""

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .files import check_writable
from .heard import show
from .words import CARRIER, JSON, PRESETS, PROFILE, VOICE

if TYPE_CHECKING:
    from ..client import Client

UNREACHABLE = 2
FAILED = 1
UNAUTHORISED, NOT_FOUND = 401, 404
"""Of HTTP."""
STOPPED = 130
"""128 + SIGINT, as shells have it."""
LINGER_S = 0.3
"""After the server thinks that the last sample is heard: what a longer buffer still holds."""
PLAN_FIELDS = ("carrier", "bitrate", "bandwidth", "frame_ms", "protection", "lead_s", "tier", "reason")


def register(app: typer.Typer) -> None:
    """Adds the verb."""

    @app.command()
    def listen(
        url: Annotated[str, typer.Argument(help="Address of a server, such as http://127.0.0.1:8080")],
        say: Annotated[str, typer.Option("--say", help="The text to be spoken.", show_default=False)],
        out: Annotated[
            Path | None,
            typer.Option(
                "--out", "-o", help="WAV file for what was heard, 48 kHz, from the request on. Without it none is kept."
            ),
        ] = None,
        profile: Annotated[str | None, typer.Option(help=f"{PROFILE} [the server's]")] = None,
        voice: Annotated[str | None, typer.Option(help=f"{VOICE} [the server's]")] = None,
        carrier: Annotated[str, typer.Option(help=CARRIER)] = "auto",
        token: Annotated[
            str | None,
            typer.Option(
                envvar="LEGATO_TOKEN",
                help="Bearer token of a server that asks for one; also LEGATO_TOKEN.",
                show_envvar=False,
            ),
        ] = None,
        insecure: Annotated[
            bool, typer.Option("--insecure", help="Take any certificate of an https:// server, also a stranger's.")
        ] = False,
        fingerprint: Annotated[
            str | None,
            typer.Option(
                help="Take only the certificate with this SHA-256, as legato serve --tls self prints it. [those signed"
                " by an authority known here]"
            ),
        ] = None,
        relay: Annotated[
            bool, typer.Option("--relay", help="Go over the server's TURN server only, as behind a strict firewall.")
        ] = False,
        network: Annotated[
            str | None,
            typer.Option(help=f"The network to hear it through, of a server that runs with --lab. A preset: {PRESETS}"),
        ] = None,
        as_json: Annotated[bool, typer.Option("--json", help=JSON)] = False,
    ) -> None:
        """Hear a text over WebRTC without a browser, and measure what was heard.

        Both carriers are played as a page plays them, and a connection that is lost is taken up again by itself. Times
        are counted from the request; gaps and concealment come from this listener's own packets, so that no rendering
        is needed to compare with. Examples:

        `legato listen http://127.0.0.1:8080 --say "Hello." -o heard.wav`

        `legato listen http://127.0.0.1:8080 --say "Hello." --network bad --carrier audio`, of a server with `--lab`
        """
        options = {
            "voice": voice,
            "profile": profile,
            "carrier": carrier,
            "token": token,
            "insecure": insecure,
            "fingerprint": fingerprint,
            "relay_only": relay,
        }
        raise typer.Exit(run(url, say, out=out, options=options, network=network, as_json=as_json))


def run(url: str, text: str, *, out: Path | None, options: dict[str, Any], network: str | None, as_json: bool) -> int:
    """Listens once; `options` are those of `Client`. Returns the exit code."""
    try:
        from ..client import ListenError

        try:
            check_writable(out)
            figures, failure = asyncio.run(_listen(url, text, out=out, options=options, network=network))
        except (ListenError, ImportError, ValueError) as error:
            refused = isinstance(error, ListenError) and error.status == UNAUTHORISED
            typer.echo(_token_sentence(url, options["token"]) if refused else str(error), err=True)
            return UNREACHABLE
        except OSError as error:
            typer.echo(f"{error.filename or out} cannot be written: {error.strerror}.", err=True)
            return FAILED
    except KeyboardInterrupt:
        typer.echo("Stopped.", err=True)
        return STOPPED
    if as_json:
        typer.echo(json.dumps(figures))
    else:
        show(figures, out)
    if failure is not None:
        typer.echo(failure, err=True)
        return FAILED
    return 0


async def _listen(
    url: str, text: str, *, out: Path | None, options: dict[str, Any], network: str | None
) -> tuple[dict[str, Any], str | None]:
    """The figures, and why the speech was not heard to its end where it was not. Raises ListenError, OSError."""
    from adaptive.audio.wav import write_wav
    from adaptive.ticks import TICK_RATE

    from ..client import Client

    async with Client(url, on_state=_say_state, **options) as client:
        if network is not None:
            await _through(client, _network(network))
        asked = client.ear.now
        name = await client.say(text)
        ended = await client.told("finished", "failed", "interrupted", id=name)
        await asyncio.sleep(LINGER_S + client.ear.playout.delay_s)
        snapshot = await client.snapshot()
        heard = client.ear.heard(asked)
        if out is not None:
            with out.open("wb") as file:
                write_wav(file, heard, TICK_RATE)
        failure = None if ended["event"] == "finished" else ended.get("message", "The speech was interrupted.")
        return _figures(client, ended, snapshot, asked=asked), failure


def _say_state(state: str, sentence: str) -> None:
    """What it does about a connection that is lost."""
    if state == "reconnecting":
        typer.echo(sentence, err=True)


async def _through(client: "Client", network: dict[str, Any]) -> None:
    """Puts the network in front of the listener. Raises ListenError."""
    from ..client import ListenError

    try:
        await client.network(network)
    except ListenError as error:
        if error.status != NOT_FOUND:
            raise
        raise ListenError("--network needs a server with its lab: start it with legato serve --lab.") from error


def _token_sentence(url: str, token: str | None) -> str:
    if token is None:
        return f"The server at {url} asks for a token: give it with --token, or as LEGATO_TOKEN."
    return f"The server at {url} does not take this token: give its own with --token, or as LEGATO_TOKEN."


def _network(text: str) -> dict[str, Any]:
    """A preset's name, or changes as JSON. Raises ListenError."""
    from ..client import ListenError

    if not text.lstrip().startswith("{"):
        return {"preset": text}
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ListenError(f"--network is not JSON: {error}.") from error


def _figures(client: "Client", ended: dict[str, Any], snapshot: dict[str, Any], *, asked: float) -> dict[str, Any]:
    """As `--json` prints them; what was not measured is None."""
    from adaptive.ticks import to_seconds

    from ..hearing import hearing

    ear, counters = client.ear, client.ear.playout.counters
    found = hearing(ear.heard(asked), ear.gaps, started=asked)
    position, ticks = ended.get("position"), ended.get("ticks")
    return {
        "connected_ms": _ms(client.connected_s),
        "first_audio_ms": _ms(found.first_audio_s),
        "duration_s": _rounded(found.duration_s),
        "lost_speech_s": _rounded(found.lost_s),
        "largest_gap_ms": _ms(found.largest_gap_s),
        "concealed_share": _rounded(found.concealed, 5),
        "plans": [
            {"at_s": plan["at"], **{field: plan.get(field) for field in PLAN_FIELDS}} for plan in snapshot["plans"]
        ],
        "position_s": None if position is None else round(to_seconds(position), 3),
        "rendered_s": None if ticks is None else round(to_seconds(ticks), 3),
        "voice": snapshot.get("voice"),
        "profile": snapshot.get("profile"),
        "carrier": snapshot.get("carrier"),
        "carrier_why": snapshot.get("carrier_why"),
        "packets": {"received": counters.received, "lost": counters.lost, "discarded": counters.discarded},
        "reconnects": client.reconnects,
        "repaired_s": round(to_seconds(counters.repaired), 3),
        "messages": _messages(client),
    }


def _messages(client: "Client") -> dict[str, int] | None:
    """Of the data track; None where nothing came on it."""
    player = client.ear.player
    if not player.messages.received:
        return None
    seen = player.messages
    return {"received": seen.received, "lost": seen.missing, "stale": player.stale, "unreadable": player.broken}


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 1)


def _rounded(value: float | None, digits: int = 3) -> float | None:
    return None if value is None else round(value, digits)
