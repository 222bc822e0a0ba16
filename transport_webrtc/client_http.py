"""The HTTP side of a listener without a browser: requests whose failure is a sentence, and what HTTPS it trusts."""

import asyncio
import hashlib
import re
import ssl
from typing import Any
from urllib.parse import urlsplit

import httpx
from aiortc import RTCIceServer

from .sentences import shorten

_SHA256 = re.compile(r"[0-9a-f]{64}")
_LINK = re.compile(r'<([^>]+)>((?:\s*;\s*[\w-]+\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^;,"\s]*))*)')
_PARAMETER = re.compile(r';\s*([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;,"\s]*))')


class ListenError(Exception):
    """The server cannot be reached, refuses, or is gone; the message is a sentence for people."""

    def __init__(self, sentence: str, *, status: int | None = None) -> None:
        """`status` is HTTP's, where the server refuses with one."""
        super().__init__(sentence)
        self.status = status


class ClientHttp:
    """Requests to one server. Every failure is a ListenError."""

    def __init__(
        self, url: str, *, token: str | None, timeout_s: float, insecure: bool = False, fingerprint: str | None = None
    ) -> None:
        """`insecure` takes any certificate; `fingerprint`, SHA-256 in hexadecimal, only the one that has it."""
        self.url = url if "://" in url else f"http://{url}"
        self.host = _host(self.url)
        self._fingerprint = None if fingerprint is None else _digits(fingerprint)
        self._timeout_s = timeout_s
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        if token is not None and not (token.isascii() and token.isprintable()):
            raise ListenError("The token has characters that no header can hold; it must be printable ASCII.")
        self._trusted: ssl.SSLContext | bool = _anything() if insecure else True
        self._http: httpx.AsyncClient | None = None

    async def open(self) -> None:
        """Before the first request: where a fingerprint was given, the server's certificate has to have it."""
        if self._fingerprint is not None:
            self._trusted = await self._pinned(self._fingerprint)
        self._http = httpx.AsyncClient(headers=self._headers, timeout=self._timeout_s, verify=self._trusted)

    async def request(self, method: str, url: str, **arguments: Any) -> httpx.Response:
        """An answer below 400."""
        if self._http is None:
            raise ListenError("There is no connection to the server.")
        try:
            response = await self._http.request(method, url, **arguments)
        except httpx.TimeoutException:
            raise ListenError(f"{self.url} did not answer within {self._timeout_s:g} s.") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ListenError(self._unreachable(error)) from error
        if response.is_error:
            raise ListenError(_refusal(response), status=response.status_code)
        return response

    async def leave(self, resource: str) -> None:
        """Says goodbye, if that is still possible: the server notices by itself that a listener is gone."""
        if self._http is not None:
            try:
                await self._http.delete(resource)
            except httpx.HTTPError:
                return

    async def close(self) -> None:
        """Closes its connections; safe to repeat."""
        if self._http is not None:
            await self._http.aclose()

    def _unreachable(self, error: Exception) -> str:
        reason = str(error)
        if "CERTIFICATE_VERIFY_FAILED" in reason:
            return (
                f"The certificate of {self.url} is signed by nobody known here. If it is your own server, give its "
                "fingerprint with --fingerprint, as legato serve --tls self prints it, or take any with --insecure."
            )
        if "[SSL" in reason:
            return f"{self.url} does not speak HTTPS; is it http://?"
        if isinstance(error, httpx.RemoteProtocolError):
            return f"{self.url} does not answer as a web server does; is the address right, or is it https://?"
        return f"No server can be reached at {self.url}{f' ({reason})' if reason else ''}; is legato serve running?"

    async def _pinned(self, wanted: str) -> ssl.SSLContext:
        """Trusts the certificate that the server shows and no other, if it has the fingerprint. Nothing is said to the
        server before."""
        parts = urlsplit(self.url)
        if parts.scheme != "https":
            raise ListenError("A fingerprint is one of a certificate: the address must begin with https://.")
        try:
            async with asyncio.timeout(self._timeout_s):
                _, writer = await asyncio.open_connection(self.host, parts.port or 443, ssl=_anything())
            shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
            writer.transport.abort()
        except TimeoutError:
            raise ListenError(f"{self.url} did not answer within {self._timeout_s:g} s.") from None
        except OSError as error:
            raise ListenError(self._unreachable(error)) from error
        if hashlib.sha256(shown).hexdigest() != wanted:
            raise ListenError(f"The certificate of {self.url} has another fingerprint than the one given.")
        context = ssl.create_default_context(cadata=ssl.DER_cert_to_PEM_cert(shown))
        context.check_hostname = False  # it is this certificate, whatever names it holds
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        return context


def ice_servers(link: str) -> list[RTCIceServer]:
    """STUN and TURN servers in a `Link` header (RFC 9725 section 4.6), those reached over TCP first: aiortc uses one
    TURN server, and that one is reached wherever HTTP is."""
    servers: list[tuple[bool, RTCIceServer]] = []
    for url, parameters in _LINK.findall(link):
        found = {
            name: re.sub(r"\\(.)", r"\1", quoted) or plain for name, quoted, plain in _PARAMETER.findall(parameters)
        }
        if found.get("rel") == "ice-server" and url.startswith(("stun:", "turn:", "turns:")) and "[" not in url:
            server = RTCIceServer(urls=url, username=found.get("username"), credential=found.get("credential"))
            servers.append((url.startswith("turns:") or url.endswith("=tcp"), server))
    return [server for _, server in sorted(servers, key=lambda one: not one[0])]


def _host(url: str) -> str:
    """Raises ListenError for what is no address of a server."""
    try:
        parts = urlsplit(url)
        host = parts.hostname if parts.port != 0 else None
        _ = httpx.URL(url).host  # a name that IDNA cannot read is found only when it is asked for
    except (ValueError, httpx.InvalidURL):
        host, parts = None, None
    if host is None or parts is None or " " in url or parts.scheme not in ("http", "https"):
        raise ListenError(f"{shorten(url)} is no address of a server; write it as http://127.0.0.1:8080.")
    return host


def _digits(fingerprint: str) -> str:
    digits = fingerprint.lower().removeprefix("sha256:").removeprefix("sha-256").replace(":", "").strip()
    if not _SHA256.fullmatch(digits):
        raise ListenError(
            "The fingerprint is not one of SHA-256: it has 64 hexadecimal digits, with colons or without."
        )
    return digits


def _anything() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _refusal(response: httpx.Response) -> str:
    """What an answer of 4xx or 5xx says."""
    try:
        said = response.json()["error"]
    except (ValueError, KeyError, TypeError):
        return f"{response.url.copy_with(query=None)} answers {response.status_code} and is not Legato's."
    return str(said)
