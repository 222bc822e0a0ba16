"""HTTPS with a certificate of the server's own: how it is kept, and who takes it."""

import datetime
import re
import stat
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from transport_webrtc.cli.secured import Secured, secured
from transport_webrtc.client import Client, ListenError
from transport_webrtc.own_certificate import VALID_DAYS, own_certificate
from transport_webrtc.settings import Settings

Serve = Callable[..., Awaitable[Any]]
NOW = datetime.datetime.now(datetime.UTC)


def test_it_is_made_once_and_private(tmp_path: Path) -> None:
    folder = tmp_path / "tls"
    own = own_certificate(folder, now=NOW)
    assert stat.S_IMODE(own.pem.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    own.pem.chmod(0o644)
    again = own_certificate(folder, now=NOW + datetime.timedelta(days=300))
    assert again == own
    assert stat.S_IMODE(own.pem.stat().st_mode) == 0o600, "whoever opened it up"
    assert [path.name for path in folder.iterdir()] == ["own.pem"]


def test_it_is_made_anew_before_its_end_and_where_it_is_broken(tmp_path: Path) -> None:
    own = own_certificate(tmp_path, now=NOW)
    late = own_certificate(tmp_path, now=NOW + datetime.timedelta(days=VALID_DAYS - 20))
    assert late.fingerprint != own.fingerprint
    own.pem.write_text("-----BEGIN CERTIFICATE-----\nno\n")
    assert own_certificate(tmp_path, now=NOW).fingerprint not in (own.fingerprint, late.fingerprint)


def test_it_holds_the_names_and_addresses_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transport_webrtc.own_certificate.addresses", lambda: ["192.168.7.9", "fd00::7"])
    monkeypatch.setattr("socket.gethostname", lambda: "kitchen")
    certificate = x509.load_pem_x509_certificate(own_certificate(tmp_path, now=NOW).pem.read_bytes())
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost", "kitchen", "kitchen.local"]
    assert {str(address) for address in names.get_values_for_type(x509.IPAddress)} == {
        "127.0.0.1",
        "::1",
        "192.168.7.9",
        "fd00::7",
    }
    assert certificate.not_valid_after_utc - certificate.not_valid_before_utc <= datetime.timedelta(days=398)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"tls": "/nowhere.pem"}, "No such file"),
        ({"tls": __file__}, "--tls-key"),
        ({"tls": "self", "tls_key": __file__}, "leave --tls-key out"),
    ],
)
def test_what_cannot_be_used_is_a_sentence(given: dict[str, str], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        secured(Settings(**given))


def test_people_are_told_where_a_phone_finds_it_and_what_it_warns_of() -> None:
    told = Secured(pem=Path("x"), key=None, fingerprint="AB:CD", own=True, others=("192.168.7.9", "fd00::7"))
    text = "\n".join(told.announced("https://127.0.0.1:8443/"))
    assert "https://192.168.7.9:8443/" in text
    assert "https://[fd00::7]:8443/" in text
    assert "will warn" in text
    assert "AB:CD" in text
    foreign = Secured(pem=Path("x"), key=None, fingerprint="AB:CD", own=False, others=())
    assert "warn" not in "\n".join(foreign.announced("https://127.0.0.1:8443/"))


async def test_a_listener_takes_it_by_its_fingerprint_or_blindly_and_not_otherwise(
    serve: Serve, tmp_path: Path
) -> None:
    own = own_certificate(tmp_path / "one", now=NOW)
    other = own_certificate(tmp_path / "other", now=NOW)
    server = await serve(pem=own.pem, token="secret")
    for options in ({"fingerprint": own.fingerprint}, {"fingerprint": own.fingerprint.lower()}, {"insecure": True}):
        async with Client(server.url, token="secret", **options) as client:  # type: ignore[arg-type]
            assert (await client.snapshot())["state"] == "connected"
            assert await client.say("hello")
    refused = (({}, "--fingerprint"), ({"fingerprint": other.fingerprint}, "another fingerprint"))
    for options, says in refused:
        with pytest.raises(ListenError, match=says):
            await Client(server.url, token="secret", **options).__aenter__()  # type: ignore[arg-type]
    with pytest.raises(ListenError, match="64 hexadecimal"):
        Client(server.url, fingerprint="12:34")
    with pytest.raises(ListenError, match="https://"):
        await Client(server.url.replace("https", "http"), fingerprint=own.fingerprint).__aenter__()
    with pytest.raises(ListenError, match=r"is it https://\?"):
        await Client(server.url.replace("https", "http")).__aenter__()


def test_the_command_serves_it_and_keeps_it(tmp_path: Path) -> None:
    code = "from transport_webrtc.cli import main; main()"
    command = [sys.executable, "-c", code, "serve", "--port", "0", "--voices", "tone", "--tls", "self"]
    command += ["--cache-dir", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            told = [process.stdout.readline()]
            while "warm:" not in told[-1] and process.poll() is None:
                told.append(process.stdout.readline())
        finally:
            process.terminate()
            errors = process.communicate(timeout=20)[1]
    text = "".join(told)
    assert re.search(r"listens on https://127\.0\.0\.1:\d+/", text), errors
    assert own_certificate(tmp_path / "tls", now=NOW).fingerprint in text
    assert "Traceback" not in errors
