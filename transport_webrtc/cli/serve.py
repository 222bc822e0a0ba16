"""`legato serve`: the server, told by options, its environment or neither."""

import difflib
import errno
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from .words import CONTROLLERS, PROFILE

if TYPE_CHECKING:
    from ..settings import Settings
    from .secured import Secured

USAGE_ERROR = 2
FAILED = 1
_LISTENING = {
    errno.EADDRINUSE: "Another server may have it: choose another one with --port, or --port 0 for any.",
    errno.EACCES: "Ports below 1024 are not for everybody: choose another one with --port.",
}
"""What to do, by what is wrong."""
NEARLY = 0.88
"""Likeness (difflib) of two names from which one is taken for the other misspelt."""


def register(app: typer.Typer) -> None:
    """Adds the verb."""

    @app.command()
    def serve(
        host: Annotated[
            str | None, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in. [127.0.0.1]")
        ] = None,
        port: Annotated[int | None, typer.Option(help="Port; 0 takes any free one. [8080]")] = None,
        lab: Annotated[
            bool | None,
            typer.Option("--lab/--no-lab", help="Let listeners put a bad network in front of themselves. [no]"),
        ] = None,
        tls: Annotated[
            str | None,
            typer.Option(
                help="Serve HTTPS, which phones need for the data track: self makes a certificate once and keeps it; or"
                " a PEM file with one. [none]"
            ),
        ] = None,
        tls_key: Annotated[
            Path | None, typer.Option(help="The key of that certificate, where its file does not hold it. [none]")
        ] = None,
        token: Annotated[
            str | None,
            typer.Option(help="Let in only who shows this bearer token; better given as LEGATO_TOKEN. [none]"),
        ] = None,
        workers: Annotated[int | None, typer.Option(help="Processes that render speech. [1]")] = None,
        voices: Annotated[
            str | None,
            typer.Option(
                help="Voices to load, with commas between; `legato voices` lists them. piper:FILE.onnx is any Piper"
                " voice, piper:FILE.onnx#SPEAKER one of its speakers. [joe,heart]"
            ),
        ] = None,
        voice: Annotated[
            str | None, typer.Option(help="The one of them that speaks unless asked otherwise. [the first]")
        ] = None,
        device: Annotated[
            str | None, typer.Option(help="Where models compute that have a choice: auto, cpu or cuda. [auto]")
        ] = None,
        profile: Annotated[
            str | None, typer.Option(help=f"{PROFILE} A listener may ask otherwise. [voice_chat]")
        ] = None,
        controller: Annotated[
            str | None, typer.Option(help=f"What turns reports of the network into plans: {CONTROLLERS} [adaptive]")
        ] = None,
        max_listeners: Annotated[int | None, typer.Option(help="More than that are sent away. [64]")] = None,
        cors_origins: Annotated[
            str | None,
            typer.Option(
                help="Where your own pages come from if not from this server, such as https://my.page, with commas"
                " between; browsers keep others out. The page at / needs none. [none]"
            ),
        ] = None,
        ice_servers: Annotated[
            str | None,
            typer.Option(
                help="STUN and TURN servers for listeners behind a firewall, such as stun:stun.example.org:3478, or"
                ' JSON: \'[{"urls": "turn:turn.example.org?transport=tcp", "username": "u", "credential": "c"}]\'; with'
                ' a "secret" instead of both for one that runs with use-auth-secret. [none]'
            ),
        ] = None,
        cache_dir: Annotated[
            Path | None, typer.Option(help="Folder for the files voices build on first use. [the user's cache folder]")
        ] = None,
        speech_cache_mb: Annotated[
            int | None, typer.Option(help="Speech that each worker keeps in memory for what is said again. [32]")
        ] = None,
        speech_cache_dir: Annotated[
            Path | None, typer.Option(help="Folder where it is kept for the next start too; what was said lies there.")
        ] = None,
        speech_cache_disk_mb: Annotated[
            int | None, typer.Option(help="How much of it that folder holds. [256]")
        ] = None,
        log_level: Annotated[str | None, typer.Option(help="debug, info, warning or error. [info]")] = None,
    ) -> None:
        """Serve speech over WebRTC, and a page to try it.

        Open the address that it prints, type a sentence and press Play. With `--lab` the page has a bad network to drag
        the sound through. Every option can be set in the environment instead: `--port` is `LEGATO_PORT`, and so on.
        Ctrl-C ends it. Examples:

        `legato serve --lab`

        `legato serve --port 0 --voices heart --profile narration`

        `LEGATO_TOKEN=secret legato serve --host 0.0.0.0 --tls self`
        """
        given = {name: value for name, value in locals().items() if value is not None}
        raise typer.Exit(run(given))


def run(given: dict[str, Any]) -> int:
    """Runs the server until it is told to stop; `given` are settings. Returns the exit code."""
    from pydantic import ValidationError

    from adaptive.speech.registry import unknown_voice

    from ..settings import Settings, settings_sentence

    if isinstance(given.get("voices"), str) and "voice" not in given:
        given = {**given, "voice": given["voices"].split(",")[0].strip()}
    try:
        settings = Settings(**given)
    except ValidationError as error:
        return _stop(settings_sentence(error))
    for sentence in map(unknown_voice, settings.voices):
        if sentence is not None:
            return _stop(sentence)
    try:
        secured = _secured(settings)
    except ValueError as error:
        return _stop(str(error))
    try:
        listening = _listen(settings.host, settings.port)
    except OSError as error:
        place = f"Nothing can listen on {settings.host}:{settings.port} ({error.strerror}). "
        return _stop(place + _LISTENING.get(error.errno or 0, "--host is an address of this machine, or 0.0.0.0."))
    try:
        return _serve(settings, listening, secured)
    except KeyboardInterrupt:
        return 0
    finally:
        listening.close()


def _secured(settings: "Settings") -> "Secured | None":
    """With what HTTPS is served, or None for HTTP. Raises ValueError with a sentence."""
    if settings.tls is None:
        if settings.tls_key is not None:
            raise ValueError("--tls-key is the key of a certificate; name that with --tls.")
        return None
    from .secured import secured

    return secured(settings)


def _serve(settings: "Settings", listening: socket.socket, secured: "Secured | None") -> int:
    from rich.console import Console

    _log(settings.log_level)
    try:
        with Console(stderr=True).status("Legato is starting …"):  # what is imported here takes seconds
            from .serving import make_server

            scheme, port = "http" if secured is None else "https", listening.getsockname()[1]
            warnings = tuple(_warnings(settings))
            server = make_server(settings, address=f"{scheme}://{_shown(settings.host)}:{port}/", secured=secured)
    except (ImportError, ValueError) as error:
        return _stop(str(error))
    for sentence in warnings:
        typer.echo(sentence, err=True)
    # uvicorn leaves cleanly at either signal, then raises it again: this is where it goes.
    signal.signal(signal.SIGTERM, _left)
    signal.signal(signal.SIGINT, _left)
    server.run(sockets=[listening])
    return FAILED if server.failed else 0


def _warnings(settings: "Settings") -> Iterator[str]:
    """What works, and may not be what was meant."""
    from ..connections import files_allowed, most_listeners

    if not settings.loopback and settings.token is None:
        yield "Whoever reaches this machine may have it speak: set LEGATO_TOKEN to let in only who shows that token."
    yield from _misspelt(os.environ, settings)
    files = files_allowed()
    if settings.max_listeners > (most := most_listeners(files)):
        yield f"This process may have {files} files open, enough for {most} listeners: allow more with ulimit -n."


def _misspelt(environment: Iterable[str], settings: "Settings") -> Iterator[str]:
    """Of the variables those that are nearly a setting; engines have others, which are none of ours."""
    known = [f"LEGATO_{name.upper()}" for name in type(settings).model_fields]
    for name in sorted(environment):
        if name.startswith("LEGATO_") and name not in known:
            for meant in difflib.get_close_matches(name, known, n=1, cutoff=NEARLY):
                yield f"{name} in the environment is no setting and changes nothing; {meant} is one."


def _left(number: int, frame: FrameType | None) -> None:
    """Nothing is left to be done."""


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
    logging.basicConfig(level=level.upper(), format="%(levelname)s %(name)s: %(message)s", handlers=[_StandardError()])
    # These tell addresses of peers and every check of ICE at the level of information.
    for name in ("aioice", "aiortc", "uvicorn", "httpx"):
        logging.getLogger(name).setLevel(logging.DEBUG if level == "debug" else logging.WARNING)


class _StandardError(logging.StreamHandler[TextIO]):
    """Writes to what is standard error at the time: while bars are shown, that is above them."""

    @property
    def stream(self) -> TextIO:
        """Where records go."""
        return sys.stderr

    @stream.setter
    def stream(self, stream: TextIO) -> None:
        """It cannot be another one."""


def _stop(sentence: str) -> int:
    typer.echo(sentence, err=True)
    return USAGE_ERROR
