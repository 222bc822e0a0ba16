"""What every route does alike: reads no more than it may, asks for the token, refuses with a sentence."""

import asyncio
import hmac
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from .messages import Refused
from .sentences import must_be
from .settings import Settings

log = logging.getLogger(__name__)

RETRY_AFTER_S = 5
"""Told with 429 and 503."""
BODY_S = 10.0
"""For a body to arrive; the largest one that is taken needs 50 kb/s for that."""


async def read_body(request: Request, limit: int) -> bytes:
    """The body, at most `limit` bytes of it are ever held. Raises `Refused` with status 413, or 408 where it does not
    arrive in time."""
    sentence = f"The body is larger than the {limit} bytes that are taken here."
    declared = request.headers.get("content-length", "0")
    if declared.isdigit() and int(declared) > limit:
        raise Refused(413, sentence)
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            async for part in request.stream():
                body += part
                if len(body) > limit:
                    raise Refused(413, sentence)
    except TimeoutError:
        raise Refused(408, f"The body did not arrive within {BODY_S:.0f} seconds; send it again.") from None
    return bytes(body)


def require_type(request: Request, wanted: str) -> None:
    """Raises `Refused` with status 415 for a body of another type, 406 for a client that takes no such answer."""
    found = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if found != wanted:
        raise Refused(415, f"Send this with Content-Type: {wanted}{f', not {found[:60]}' if found else ''}.")


def require_accepts(request: Request, offered: str) -> None:
    """Raises `Refused` with status 406 for a client that does not take `offered` as an answer."""
    accept = request.headers.get("accept", "").lower()
    kinds = [part.split(";")[0].strip() for part in accept.split(",") if part.strip()]
    if kinds and not {offered, offered.split("/")[0] + "/*", "*/*"}.intersection(kinds):
        raise Refused(406, f"The answer is {offered}; leave Accept out or let it in.")


def bearer(request: Request) -> str:
    """What follows `Authorization: Bearer`; empty where nothing does."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    return given.strip() if scheme.lower() == "bearer" else ""


def authorised(request: Request, settings: Settings) -> bool:
    """Whether the request bears the token, in constant time; true where none is configured."""
    if settings.token is None:
        return True
    return hmac.compare_digest(bearer(request).encode("latin-1"), settings.token.get_secret_value().encode())


def token_required(settings: Settings) -> Callable[[Request], Awaitable[None]]:
    """A dependency that refuses requests without the token with status 401."""

    async def check(request: Request) -> None:
        require_token(request, settings)

    return check


def require_token(request: Request, settings: Settings) -> None:
    """Raises `Refused` with status 401 for a request without the token."""
    if not authorised(request, settings):
        raise Refused(401, "This server asks for a token: send Authorization: Bearer with it.")


def add_refusals(app: FastAPI) -> None:
    """Every error is `{"error": "a sentence."}`."""

    async def refused(_: Request, error: Exception) -> Response:
        assert isinstance(error, Refused)
        headers = {}
        if error.status in (429, 503):
            headers["Retry-After"] = str(RETRY_AFTER_S)
        if error.status in (408, 413):
            headers["Connection"] = "close"  # what may still come of the body is not wanted
        if error.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        return JSONResponse({"error": error.sentence}, error.status, headers)

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        sentences = {
            404: "There is nothing at this address.",
            405: f"{request.method} is not possible here.",
        }
        sentence = sentences.get(error.status_code, f"{error.detail}.")
        return JSONResponse({"error": sentence}, error.status_code, error.headers)

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first: Any = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:]) or "request"
        return JSONResponse({"error": f"{where} {must_be(None, first)}"}, 422)

    async def gone(_: Request, error: Exception) -> Response:
        return Response(status_code=400)  # nobody is there to read it

    async def fault(request: Request, error: Exception) -> Response:
        route = getattr(request.scope.get("route"), "path", "an unknown route")
        log.error("A fault of the server at %s %s.", request.method, route, exc_info=error)
        return JSONResponse({"error": "The server failed at this; its log says more."}, 500)

    app.add_exception_handler(Refused, refused)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(ClientDisconnect, gone)
    app.add_exception_handler(Exception, fault)
