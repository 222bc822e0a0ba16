"""Wires a server together: settings and a renderer in, an ASGI application out."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from importlib.resources import files
from pathlib import Path

from fastapi import Depends, FastAPI
from fastapi.responses import FileResponse, HTMLResponse
from fastapi.staticfiles import StaticFiles
from starlette.middleware.cors import CORSMiddleware

from adaptive.control.profiles import PROFILES
from adaptive.control.registry import load_controller
from adaptive.speech.renderer import Renderer
from adaptive.speech.voice import Progress

from . import aiortc_private
from .http import add_refusals, token_required
from .listeners import Listeners
from .observability import Metrics, observability_router
from .reference import reference
from .routes import api_router
from .settings import Settings
from .signalling.whep import EXPOSED, whep_router

log = logging.getLogger(__name__)

PAGE = Path(__file__).parent / "page"
PREFLIGHT_S = 3600
"""For so long a browser need not ask again whether a page of another origin may."""
CLOSING_S = 10.0
"""For a renderer, which may come from anywhere, to end its work."""


def create_app(settings: Settings, *, renderer: Renderer | None = None) -> FastAPI:
    """The server. Without `renderer` it spawns its own workers; a given one is started and closed with the app.

    Raises `UnsupportedAiortc` or ValueError, with a sentence, for what would fail later.
    """
    aiortc_private.check()
    load_controller(settings.controller, profile=PROFILES[settings.profile])
    renderer = renderer or make_renderer(settings)
    metrics = Metrics(renderer, lambda: tuple(listeners), time.monotonic)
    listeners = Listeners(settings, renderer, metrics)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.warming = asyncio.create_task(renderer.start(), name="warming the voices")
        app.state.warming.add_done_callback(_tell_failure)
        try:
            yield
        finally:
            await listeners.close()
            app.state.warming.cancel()
            await asyncio.gather(app.state.warming, return_exceptions=True)
            try:
                await asyncio.wait_for(renderer.close(), CLOSING_S)
            except TimeoutError:
                log.error("The renderer took longer than %.0f s to close and was left.", CLOSING_S)

    app = FastAPI(title="Legato", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    app.state.settings = settings
    app.state.renderer = renderer
    app.state.listeners = listeners

    def why_not() -> str | None:
        if listeners.draining:
            return "This server is shutting down."
        warming: asyncio.Task[None] | None = getattr(app.state, "warming", None)
        if warming is not None and warming.done() and not warming.cancelled() and warming.exception() is not None:
            return "The voices could not be started; the server's log says why."
        return None

    add_refusals(app)
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.cors_origins),
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
            allow_headers=["Authorization", "Content-Type", "If-Match", "Last-Event-ID"],
            expose_headers=EXPOSED.split(", "),
            max_age=PREFLIGHT_S,
        )
    app.include_router(observability_router(settings, renderer, metrics, why_not))
    app.include_router(whep_router(settings, listeners))
    app.include_router(api_router(settings, listeners, renderer))
    if settings.lab:
        from .lab_routes import router as lab_router

        app.include_router(lab_router, dependencies=[Depends(token_required(settings))])
    _add_page(app)
    return app


def make_renderer(settings: Settings, *, on_progress: Progress | None = None) -> Renderer:
    """Render workers as the settings have them. `on_progress` hears what a first use has to build."""
    from adaptive.speech.cache import CacheSettings
    from adaptive.speech.workers import WorkerRenderer

    cache = CacheSettings(
        memory_bytes=settings.speech_cache_mb * 1_000_000,
        directory=settings.speech_cache_dir,
        disk_bytes=settings.speech_cache_disk_mb * 1_000_000,
    )
    return WorkerRenderer(
        settings.workers,
        settings.voices,
        settings.cache_dir,
        device=settings.device,
        cache=cache,
        on_progress=on_progress,
    )


def _tell_failure(warming: asyncio.Task[None]) -> None:
    if not warming.cancelled() and (error := warming.exception()) is not None:
        log.error("The voices could not be started: %s", error)


def _add_page(app: FastAPI) -> None:
    """The page, its client and its charts: files of this package and of the installed plotly, nobody else's."""
    plotly = Path(str(files("plotly") / "package_data" / "plotly.min.js"))

    @app.head("/", include_in_schema=False)
    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(PAGE / "index.html", headers={"Cache-Control": "no-cache"})

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(reference(app.openapi()))

    @app.get("/vendor/plotly.min.js", include_in_schema=False)
    async def charts() -> FileResponse:
        return FileResponse(plotly, media_type="text/javascript", headers={"Cache-Control": "max-age=86400"})

    app.mount("/static", StaticFiles(directory=PAGE), name="static")
