"""A certificate that the server makes for itself, so that phones in the same network get a secure context.

Without one a browser gives a page no AudioWorklet, and so no data track. Made once and kept, for its user alone.
"""

import contextlib
import datetime
import hashlib
import ipaddress
import os
import socket
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NAME = "own.pem"
VALID_DAYS = 397
"""Phones take no certificate that is good for longer than 398 days (CA/Browser Forum baseline requirements 6.3.2)."""
RENEWED_DAYS = 30
"""Before its end a new one is made, at a start."""


@dataclass(frozen=True, kw_only=True)
class OwnCertificate:
    """One file with key and certificate."""

    pem: Path
    fingerprint: str
    """SHA-256 of the certificate, pairs of hexadecimal digits with colons between, as browsers show it."""


def own_certificate(folder: Path, *, now: datetime.datetime) -> OwnCertificate:
    """The one kept in `folder`, or a new one where there is none that is good for long enough. Raises OSError."""
    pem = folder / NAME
    with contextlib.suppress(OSError, ValueError):
        kept = pem.read_bytes()
        load_pem_private_key(kept, None)
        certificate = x509.load_pem_x509_certificate(kept)
        if certificate.not_valid_after_utc > now + datetime.timedelta(days=RENEWED_DAYS):
            pem.chmod(0o600)
            return OwnCertificate(pem=pem, fingerprint=_shown(certificate))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = _signed(key, now)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:  # 0600 from its first moment
        file.write(private + certificate.public_bytes(Encoding.PEM))
    os.replace(file.name, pem)
    return OwnCertificate(pem=pem, fingerprint=_shown(certificate))


def given_certificate(pem: Path, key: Path | None) -> str:
    """The fingerprint of a certificate from a file. Raises ValueError with a sentence where it cannot be used."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(pem, key, password="")
        return _shown(x509.load_pem_x509_certificate(pem.read_bytes()))
    except (OSError, ValueError) as error:  # an SSLError is an OSError
        found = error.strerror if isinstance(error, OSError) and not isinstance(error, ssl.SSLError) else None
        reason = found or "it holds no certificate with the key that belongs to it; name that with --tls-key"
        raise ValueError(f"--tls {pem} cannot be used: {reason}.") from error


def addresses() -> list[str]:
    """Under which others in the network reach this machine, IPv4 first."""
    from aioice.ice import get_host_addresses

    return get_host_addresses(use_ipv4=True, use_ipv6=False) + get_host_addresses(use_ipv4=False, use_ipv6=True)


def _signed(key: ec.EllipticCurvePrivateKey, now: datetime.datetime) -> x509.Certificate:
    host = socket.gethostname()
    names = dict.fromkeys(["localhost", host, *([] if "." in host else [f"{host}.local"])])
    known = ["127.0.0.1", "::1", *addresses()]
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"Legato on {host}"[:64])])
    return (
        x509.CertificateBuilder()
        .subject_name(issuer)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))  # clocks differ
        .not_valid_after(now + datetime.timedelta(days=VALID_DAYS - 1))
        .add_extension(
            x509.SubjectAlternativeName(
                [
                    *(x509.DNSName(name) for name in names if name.isascii()),
                    *(x509.IPAddress(ipaddress.ip_address(address)) for address in known),
                ]
            ),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )


def _shown(certificate: x509.Certificate) -> str:
    digest = hashlib.sha256(certificate.public_bytes(Encoding.DER)).hexdigest().upper()
    return ":".join(digest[i : i + 2] for i in range(0, len(digest), 2))
