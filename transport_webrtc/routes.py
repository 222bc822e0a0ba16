"""What a listener can be asked over HTTP beside signalling: its present, its events, to speak, the other verbs."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response
from sse_starlette import EventSourceResponse, ServerSentEvent

from adaptive.control.profiles import PROFILES
from adaptive.speech.registry import infos
from adaptive.speech.renderer import Renderer

from .events import Events
from .http import read_body, require_type, token_required
from .listeners import Listeners
from .messages import Message, Refused, SayMessage, parse_message
from .settings import Settings

MAX_STREAMS = 16
"""That follow one listener at a time."""
PING_S = 15
"""A comment this often keeps an event stream open through proxies."""


def api_router(settings: Settings, listeners: Listeners, renderer: Renderer) -> APIRouter:
    """The routes, below `/v1`."""
    router = APIRouter(prefix="/v1", dependencies=[Depends(token_required(settings))])

    @router.get("/voices")
    async def voices() -> list[dict[str, Any]]:
        """The voices that speak here."""
        return [asdict(info) for info in renderer.status().voices or infos() if info.name in settings.voice_names]

    @router.get("/profiles")
    async def profiles() -> list[dict[str, Any]]:
        """The uses that a listener can be of."""
        return [asdict(profile) for profile in PROFILES.values()]

    @router.get("/listen/{listener_id}")
    async def present(listener_id: str) -> Response:
        """A listener's present: plan, reports, opinion, what it hears and what waits."""
        return JSONResponse(listeners.get(listener_id).snapshot(), headers={"Cache-Control": "no-store"})

    @router.get("/listen/{listener_id}/events")
    async def events(request: Request, listener_id: str) -> Response:
        """Its events as they happen (text/event-stream); `Last-Event-ID: 0` tells what happened before, too."""
        after = request.headers.get("last-event-id")
        if after is not None and not (after.isascii() and after.isdigit() and len(after) < 16):
            raise Refused(400, "Last-Event-ID must be the number of an event of this listener.")
        told = listeners.get(listener_id).events
        if told.streams >= MAX_STREAMS:
            raise Refused(429, f"At most {MAX_STREAMS} streams follow one listener; close another one first.")
        return EventSourceResponse(_stream(told, None if after is None else int(after)), ping=PING_S)

    @router.post("/listen/{listener_id}/speak")
    async def speak(request: Request, listener_id: str) -> Response:
        """Speaks `{"say": "text"}`; also takes id, more, voice, speed, profile, carrier, priority, interrupt, at,
        keep."""
        listener = listeners.get(listener_id)
        message = await _message(request, settings, listeners, listener_id)
        if not isinstance(message, SayMessage):
            raise Refused(422, 'Here a message has "say"; the other verbs go to /control.')
        return JSONResponse(listener.say(message).as_dict(), 202)

    @router.post("/listen/{listener_id}/control")
    async def control(request: Request, listener_id: str) -> Response:
        """`{"stop": true}`, pause, resume or clear, with an utterance's id or without; `{"carrier": "audio"}`, or
        data."""
        listener = listeners.get(listener_id)
        accepted = listener.do(await _message(request, settings, listeners, listener_id))
        return JSONResponse({"done": True} if accepted is None else accepted.as_dict())

    return router


async def _message(request: Request, settings: Settings, listeners: Listeners, listener_id: str) -> Message:
    bucket = listeners.get(listener_id).requests
    if not bucket.take(asyncio.get_running_loop().time()):
        raise Refused(429, f"More than {settings.max_messages_per_s:.0f} messages a second; slow down.")
    require_type(request, "application/json")
    body = await read_body(request, settings.max_message_bytes)
    return parse_message(body, listeners.get(listener_id).limits)


async def _stream(events: Events, after: int | None) -> AsyncIterator[ServerSentEvent]:
    async for numbered in events.stream(after):
        yield ServerSentEvent(
            data=json.dumps(numbered.event, ensure_ascii=False),
            event=numbered.event["event"],
            id=str(numbered.number),
        )
