"""Signalling over HTTP: an offer in, an answer out (draft-ietf-wish-whep), candidates by PATCH, goodbye by DELETE."""

import time
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse, Response

from adaptive.control.plan import Codec

from ..carrying import Wanted
from ..http import authorised, bearer, read_body, require_accepts, require_token, require_type, token_required
from ..listener import Listener
from ..listeners import Listeners
from ..messages import Refused
from ..settings import IceServer, Settings
from . import sdp
from .headers import FRAGMENT, SDP, TOKEN, TOKEN_LIFE

EXPOSED = f"Location, ETag, Link, {TOKEN}, {TOKEN_LIFE}"
CARRIERS: tuple[Wanted, ...] = ("auto", "data", "audio")
PLAYERS = ("fresh", "kept")
FORMATS = tuple(str(codec) for codec in Codec)


def etag_of(listener: Listener) -> str:
    """Names the ICE session, which lives as long as its connection."""
    return f'"{listener.session}"'


def links(servers: Sequence[IceServer], now: float) -> str | None:
    """ICE servers as a `Link` header (RFC 9725 section 4.6) at `now`, Unix time; None without any."""
    values = []
    for server in servers:
        username, credential = server.credentials(now)
        parts = [f"<{server.urls}>", 'rel="ice-server"']
        if username is not None:
            parts.append(f'username="{_quoted(username)}"')
        if credential is not None:
            parts.append(f'credential="{_quoted(credential)}"')
            parts.append('credential-type="password"')
        values.append("; ".join(parts))
    return ", ".join(values) or None


def whep_router(settings: Settings, listeners: Listeners) -> APIRouter:
    """The routes, below `/v1/listen`."""
    router = APIRouter(prefix="/v1/listen")
    guarded = [Depends(token_required(settings))]

    def common() -> dict[str, str]:
        link = links(settings.ice_servers, time.time())
        return {"Access-Control-Expose-Headers": EXPOSED, **({"Link": link} if link else {})}

    @router.options("")
    async def options(request: Request) -> Response:
        """What can be done here, and the ICE servers in `Link`."""
        headers = {"Allow": "OPTIONS, POST", "Accept-Post": SDP, "Access-Control-Expose-Headers": EXPOSED}
        return Response(None, 204, {**headers, **(common() if authorised(request, settings) else {})})

    @router.options("/{listener_id}")
    async def listener_options(listener_id: str) -> Response:
        """What can be done with a listener."""
        return Response(None, 204, {"Allow": "OPTIONS, GET, PATCH, DELETE", "Accept-Patch": FRAGMENT})

    @router.post("")
    async def welcome(
        request: Request,
        voice: str | None = None,
        profile: str | None = None,
        carrier: str = "auto",
        formats: str = ",".join(FORMATS),
        takeover: bool = False,
        player: str = "fresh",
        after: Annotated[int, Query(ge=0)] = 0,
    ) -> Response:
        """An offer (application/sdp) in, an answer out, with the new listener's address in `Location`. With
        `takeover=1` and a listener's resume token as the bearer, that listener goes on over this connection: `player`
        is `kept` where what was sent ahead is still played, `after` the number of the last event that was told."""
        if not takeover:
            require_token(request, settings)
        require_type(request, SDP)
        require_accepts(request, SDP)
        if player not in PLAYERS:
            raise Refused(400, f"player is {' or '.join(PLAYERS)}, not {player[:20]!r}.")
        if carrier not in CARRIERS:
            raise Refused(400, f"There is no carrier {carrier[:20]!r} here; there are: {', '.join(CARRIERS)}.")
        wanted = next(name for name in CARRIERS if name == carrier)
        if not set(formats.split(",")) <= set(FORMATS):
            raise Refused(400, f"formats has a name that is not known; there are: {', '.join(FORMATS)}.")
        codecs = [codec for codec in Codec if str(codec) in formats.split(",")]
        offer = sdp.parse_offer(sdp.read(await read_body(request, settings.max_sdp_bytes), "offer"))
        if takeover:
            kept = player == "kept"
            listener, answer = await listeners.take_over(
                bearer(request), offer, carrier=wanted, codecs=codecs, kept=kept, after=after
            )
        else:
            listener, answer = await listeners.welcome(
                offer, voice=voice, profile=profile, carrier=wanted, codecs=codecs
            )
        headers = {
            # Relative to the request's own address (RFC 9110 section 10.2.2), so that no proxy needs to rewrite it.
            "Location": f"listen/{listener.id}",
            "ETag": etag_of(listener),
            "Cache-Control": "no-store",
            TOKEN: listener.resumption.hand_out(),
            TOKEN_LIFE: f"{listener.resumption.life_s:.0f}",
        }
        return Response(answer, 201, {**common(), **headers}, media_type=SDP)

    @router.patch("/{listener_id}", dependencies=guarded)
    async def trickle(request: Request, listener_id: str) -> Response:
        """ICE candidates found after the offer (application/trickle-ice-sdpfrag, RFC 8840)."""
        listener = listeners.get(listener_id)
        require_type(request, FRAGMENT)
        match = request.headers.get("if-match")
        if match == "*":
            raise Refused(422, "ICE cannot be restarted here; DELETE this listener and POST a new offer.")
        if match is not None and match != etag_of(listener):
            raise Refused(412, "If-Match names another ICE session than this listener has.")
        await listener.trickle(
            sdp.parse_fragment(sdp.read(await read_body(request, settings.max_sdp_bytes), "fragment"))
        )
        return Response(None, 204, {"ETag": etag_of(listener)})

    @router.delete("/{listener_id}", dependencies=guarded)
    async def goodbye(listener_id: str) -> Response:
        """Ends a listener."""
        await listeners.get(listener_id).close("it said goodbye")
        return JSONResponse({"closed": True})

    return router


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')
