"""HTTPS of `legato serve`: with which certificate, and what people are told of it."""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ..own_certificate import addresses, given_certificate, own_certificate
from ..settings import Settings

SELF = "self"
MOST_SHOWN = 3
"""Addresses of the machine that are told; some have dozens."""


@dataclass(frozen=True, kw_only=True)
class Secured:
    """What HTTPS is served with."""

    pem: Path
    key: Path | None
    fingerprint: str
    own: bool
    """Made by this server, so nobody knows it."""
    others: tuple[str, ...]
    """Hosts under which other machines reach this one."""

    def announced(self, address: str) -> Iterator[str]:
        """Lines for people, of a server at `address`."""
        port = urlsplit(address).port
        for host in self.others[:MOST_SHOWN]:
            yield f"On a phone in this network: https://{f'[{host}]' if ':' in host else host}:{port}/"
        if self.own:
            yield "Its browser will warn that the connection is not private: nobody vouches for a certificate that this"
            yield "server made for itself. Go on all the same (Advanced, then Proceed, or Visit this website)."
        yield f"SHA-256 of the certificate: {self.fingerprint}"


def secured(settings: Settings) -> Secured:
    """For settings that ask for HTTPS. Raises ValueError with a sentence where its certificate cannot be used."""
    others = () if settings.loopback else tuple(addresses()) if settings.host in ("0.0.0.0", "::") else (settings.host,)
    if settings.tls != SELF:
        pem = Path(settings.tls or "")
        fingerprint = given_certificate(pem, settings.tls_key)
        return Secured(pem=pem, key=settings.tls_key, fingerprint=fingerprint, own=False, others=others)
    if settings.tls_key is not None:
        raise ValueError("--tls self has its own key: leave --tls-key out.")
    from adaptive.speech.voices.model_files import cache_root

    folder = (settings.cache_dir or cache_root()) / "tls"
    try:
        own = own_certificate(folder, now=datetime.datetime.now(datetime.UTC))
    except OSError as error:
        raise ValueError(f"The certificate of --tls self cannot be kept in {folder}: {error.strerror}.") from error
    return Secured(pem=own.pem, key=None, fingerprint=own.fingerprint, own=True, others=others)
