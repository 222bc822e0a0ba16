"""`legato serve`: the server, told by options, its environment or neither."""

import logging
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ..settings import Settings

USAGE_ERROR = 2
FAILED = 1


def register(app: typer.Typer) -> None:
    """Adds the verb."""

    @app.command()
    def serve(
        host: Annotated[
            str | None, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in. [127.0.0.1]")
        ] = None,
        port: Annotated[int | None, typer.Option(help="Port; 0 takes any free one. [8080]")] = None,
        lab: Annotated[
            bool | None, typer.Option("--lab/--no-lab", help="Let the page put a bad network in front of a listener.")
        ] = None,
        token: Annotated[
            str | None,
            typer.Option(help="Ask everybody for this bearer token; better given as LEGATO_TOKEN."),
        ] = None,
        workers: Annotated[int | None, typer.Option(help="Processes that render speech. [1]")] = None,
        voices: Annotated[str | None, typer.Option(help="Voices to load, with commas between. [joe,heart]")] = None,
        voice: Annotated[str | None, typer.Option(help="Voice that speaks unless asked otherwise. [joe]")] = None,
        profile: Annotated[
            str | None, typer.Option(help="voice_chat, narration or navigation, unless asked otherwise. [voice_chat]")
        ] = None,
        controller: Annotated[str | None, typer.Option(help="What adapts to the network. [adaptive]")] = None,
        max_listeners: Annotated[int | None, typer.Option(help="More than that are sent away. [64]")] = None,
        cors_origins: Annotated[
            str | None, typer.Option(help="Origins whose pages may use this server, with commas between.")
        ] = None,
        ice_servers: Annotated[
            str | None, typer.Option(help="STUN and TURN URLs, or JSON with credentials; none are asked by default.")
        ] = None,
        cache_dir: Annotated[
            Path | None, typer.Option(help="Folder for what voices build on first use. [the user's cache folder]")
        ] = None,
        log_level: Annotated[str | None, typer.Option(help="debug, info, warning or error. [info]")] = None,
    ) -> None:
        """Serve speech over WebRTC, and a page to try it.

        Open the address that it prints, type a sentence and press Play. With `--lab` the page has a bad network to drag
        the sound through. Every option can be set in the environment instead: `--port` is `LEGATO_PORT`, and so on.
        """
        given = {name: value for name, value in locals().items() if value is not None}
        raise typer.Exit(run(given))


def run(given: dict[str, Any]) -> int:
    """Runs the server until it is told to stop; `given` are settings. Returns the exit code."""
    from pydantic import ValidationError

    from ..settings import Settings

    if isinstance(given.get("voices"), str) and "voice" not in given:
        given = {**given, "voice": given["voices"].split(",")[0].strip()}
    try:
        settings = Settings(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"])) or "settings"
        return _stop(f"{name}: {first['msg'].removeprefix('Value error, ')}.")
    try:
        listening = _listen(settings.host, settings.port)
    except OSError as error:
        return _stop(
            f"Nothing can listen on {settings.host}:{settings.port} ({error.strerror}). "
            "Another server may have it: choose another one with --port, or --port 0 for any."
        )
    try:
        return _serve(settings, listening)
    except KeyboardInterrupt:
        return 0
    finally:
        listening.close()


def _serve(settings: "Settings", listening: socket.socket) -> int:
    from .serving import make_server

    _log(settings.log_level)
    try:
        server = make_server(settings, address=f"http://{_shown(settings.host)}:{listening.getsockname()[1]}/")
    except (ImportError, ValueError) as error:
        return _stop(str(error))
    server.run(sockets=[listening])
    return FAILED if server.failed else 0


def _listen(host: str, port: int) -> socket.socket:
    """Bound before anything is loaded, so that a taken port is said at once. Raises OSError."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen()
    except OSError:
        listening.close()
        raise
    return listening


def _shown(host: str) -> str:
    if host in ("0.0.0.0", "::", ""):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _log(level: str) -> None:
    logging.basicConfig(level=level.upper(), format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    # These tell addresses of peers and every check of ICE at the level of information.
    for name in ("aioice", "aiortc", "uvicorn", "httpx"):
        logging.getLogger(name).setLevel(logging.DEBUG if level == "debug" else logging.WARNING)


def _stop(sentence: str) -> int:
    typer.echo(sentence, err=True)
    return USAGE_ERROR
