"""The running server of `legato serve`: says where it is and when it is warm, and takes its leave of the listeners."""

import asyncio
import contextlib
import logging
import socket
import sys
from types import FrameType
from typing import Any

import typer
import uvicorn
from aiortc import InvalidStateError
from fastapi import FastAPI

from ..app import create_app, make_renderer
from ..connections import files_allowed, limited, most_connections
from ..punctuality import ask_for_punctuality, settle
from ..settings import Settings
from .progress import VoiceProgress
from .secured import Secured

log = logging.getLogger(__name__)

LEAVING_S = 5
"""For answers under way when the server stops."""
IDLE_S = 5
"""For the next request on a connection."""


class Server(uvicorn.Server):
    """Uvicorn that says goodbye to listeners before it waits for its connections, some of which are their events."""

    def __init__(
        self,
        config: uvicorn.Config,
        app: FastAPI,
        *,
        address: str,
        secured: Secured | None,
        warming: VoiceProgress,
    ) -> None:
        super().__init__(config)
        self._app = app
        self._address = address
        self._secured = secured
        self._warming = warming
        self._announcing: asyncio.Task[None] | None = None
        self.failed = False
        """The voices could not be started."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        log.info("Media is scheduled as %s.", ask_for_punctuality())
        asyncio.get_running_loop().set_exception_handler(tell_unless_hung_up)
        await super().startup(sockets=sockets)
        self._announcing = asyncio.create_task(self._announce())

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._app.state.listeners.draining = True
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._announcing is not None:
            self._announcing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._announcing
        await self._app.state.listeners.close()
        await super().shutdown(sockets=sockets)

    async def _announce(self) -> None:
        typer.echo(f"Legato listens on {self._address} and warms its voices.")
        if self._secured is not None:
            for line in self._secured.announced(self._address):
                typer.echo(line)
        self._warming.start()
        try:
            await asyncio.shield(self._app.state.warming)
        except Exception:
            # The app has said in the log why.
            self.failed = self.should_exit = True
        finally:
            self._warming.close()  # before anything is printed where the bars were
        if not self.failed:
            settle()
            typer.echo(f"It is warm: open {self._address} and press Play.")


def tell_unless_hung_up(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What nobody waited for goes into the log, but for what becomes in aiortc of a listener that hangs up while it
    connects."""
    if isinstance(context.get("exception"), InvalidStateError):
        log.debug("A listener hung up while it connected: %s.", context["exception"])
    else:
        loop.default_exception_handler(context)


def make_server(settings: Settings, *, address: str, secured: Secured | None) -> Server:
    """A server for `settings`, told the address under which it will be found, and with what it serves HTTPS. Raises
    ImportError or ValueError."""
    warming = VoiceProgress(settings.voice_names)
    renderer = make_renderer(settings, on_progress=warming)
    app = create_app(settings, renderer=renderer)
    config = uvicorn.Config(
        app,
        loop="asyncio" if sys.platform == "win32" else "uvloop",
        lifespan="on",
        ws="none",
        log_config=None,
        access_log=False,  # addresses hold the listeners' ids, which are all that one needs to speak as them
        server_header=False,
        timeout_graceful_shutdown=LEAVING_S,
        timeout_keep_alive=IDLE_S,
        ssl_certfile=None if secured is None else secured.pem,
        ssl_keyfile=None if secured is None else secured.key,
        http=limited(most_connections(settings.max_listeners, files_allowed())),
    )
    return Server(config, app, address=address, secured=secured, warming=warming)
