"""A listener's address on the server, as its client sees it: signalling over HTTP, and what opens a takeover."""

import asyncio
import time
from typing import Any
from urllib.parse import urljoin

from aiortc import RTCIceServer

from .client_http import ClientHttp, ListenError, ice_servers
from .signalling.headers import SDP, TOKEN, TOKEN_LIFE

NOT_LEGATO = "{} answers, but not as Legato does; is the address right?"
ASKED_AGAIN_S = 12 * 3600.0
"""ICE servers' credentials may be good for a day."""
TOOK_TIMES = 3.0
"""An answer may take its patience and so many times what the first one took."""


class Resource:
    """Offers, and keeps what the answers say. Every failure is a ListenError."""

    def __init__(self, http: ClientHttp, query: dict[str, str | None]) -> None:
        """`query` goes with the first offer."""
        self._http = http
        self.server = http.url
        self._query = query
        self._endpoint = http.url.rstrip("/") + "/v1/listen"
        self._url: str | None = None
        self._token = ""
        self.life_s = 0.0
        """For so long after the connection is lost the speech can be taken over."""
        self._took_s: float | None = None
        self._servers: tuple[float, list[RTCIceServer]] | None = None

    @property
    def resumable(self) -> bool:
        """Whether a connection that is lost can be taken over."""
        return self._token != ""

    async def ice_servers(self, patience_s: float | None = None) -> list[RTCIceServer]:
        """STUN and TURN servers as the server names them. With a patience (a connection is taken over) those known are
        good enough where it cannot be reached."""
        known = self._servers
        if known is not None and time.monotonic() - known[0] < ASKED_AGAIN_S:
            return known[1]
        try:
            asked = await self._request("OPTIONS", patience_s=patience_s)
        except ListenError:
            if patience_s is None:
                raise
            return known[1] if known is not None else []
        self._servers = time.monotonic(), ice_servers(asked.headers.get("link", ""))
        return self._servers[1]

    async def offer(self, sdp: str) -> str:
        """The answer to the first offer."""
        query = {name: value for name, value in self._query.items() if value is not None}
        return await self._offer(sdp, query)

    async def take_over(self, sdp: str, *, carrier: str | None, kept: bool, after: int, patience_s: float) -> str:
        """The answer to an offer of another connection, within `patience_s` s beside what it took the first time.
        `kept`: the same player goes on; `after` is the number of the last event that is known."""
        query = {"takeover": "1", "player": "kept" if kept else "fresh", "after": str(after)}
        if carrier is not None:
            query["carrier"] = carrier
        return await self._offer(sdp, query, token=self._token, patience_s=patience_s)

    def below(self, path: str) -> str:
        """The address of something below the listener's own. Raises ListenError before the first answer."""
        if self._url is None:
            raise ListenError("There is no connection to the server.")
        return self._url + path

    async def leave(self) -> None:
        """Says goodbye, if that is still possible; safe to repeat."""
        url, self._url, self._token = self._url, None, ""
        if url is not None:
            await self._http.leave(url)

    async def _offer(self, sdp: str, query: dict[str, str], **options: Any) -> str:
        begun = time.monotonic()
        headers = {"Content-Type": SDP, "Accept": SDP}
        answer = await self._request("POST", params=query, content=sdp, headers=headers, **options)
        if answer.status_code != 201 or "location" not in answer.headers:
            raise ListenError(NOT_LEGATO.format(self._http.url))
        self._took_s = time.monotonic() - begun if self._took_s is None else self._took_s
        self._url = urljoin(str(answer.url), answer.headers["location"])
        self._token = answer.headers.get(TOKEN, "")
        life = answer.headers.get(TOKEN_LIFE, "")
        self.life_s = float(life) if life.isdecimal() else 0.0
        return answer.text

    async def _request(
        self,
        method: str,
        *,
        token: str | None = None,
        patience_s: float | None = None,
        headers: dict[str, str] | None = None,
        **arguments: Any,
    ) -> Any:
        if token is not None:
            headers = {**(headers or {}), "Authorization": f"Bearer {token}"}
        limit_s = None if patience_s is None else patience_s + TOOK_TIMES * (self._took_s or 0.0)
        try:
            async with asyncio.timeout(limit_s):
                return await self._http.request(method, self._endpoint, headers=headers, **arguments)
        except TimeoutError:
            raise ListenError(f"{self._http.url} did not answer within {limit_s:.1f} s.") from None
