"""A server in this process, for tests in which a browser listens and its listeners are looked at."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any

import uvicorn

from adaptive.speech.local import LocalRenderer
from transport_webrtc.app import create_app
from transport_webrtc.settings import Settings


class Inside:
    """A server on a thread of this process, so that its listeners can be looked at."""

    token = None

    def __init__(self, *voices: str) -> None:
        self._voices = voices or ("tone",)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._thread.start()
        assert self._ready.wait(30)

    async def _run(self) -> None:
        settings = Settings(voices=self._voices, voice=self._voices[0], port=0, lab=True)
        self.app = create_app(settings, renderer=LocalRenderer(settings.voices))
        config = uvicorn.Config(self.app, port=0, log_config=None, access_log=False, ws="none", lifespan="on")
        self._server = uvicorn.Server(config)
        self._server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign]
        self._loop = asyncio.get_running_loop()
        serving = asyncio.create_task(self._server.serve())
        while not self._server.started:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await self.app.state.warming
        self.url = f"http://127.0.0.1:{self._server.servers[0].sockets[0].getsockname()[1]}/"
        self._ready.set()
        await serving

    def do(self, act: Callable[[], Any]) -> Any:
        """The result of `act()`, called on the server's loop."""

        async def acted() -> Any:
            return act()

        return asyncio.run_coroutine_threadsafe(acted(), self._loop).result(10)

    @property
    def listener(self) -> Any:
        """The only one."""
        (one,) = self.app.state.listeners
        return one

    def network(self, **ways: dict[str, Any]) -> None:
        """Changes the network in front of the listener."""
        self.do(lambda: self.listener.network.set(**ways))

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(15)
        assert not self._thread.is_alive()
