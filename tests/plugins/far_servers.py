"""Debian's coturn and nginx on loopback, each a process of its own; where one is not installed, tests are skipped."""

import contextlib
import datetime
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from transport_webrtc.own_certificate import own_certificate
from transport_webrtc.settings import IceServer

WAIT_S = 10.0
SECRET = "shared with the server"


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@contextlib.contextmanager
def running(command: list[str], port: int) -> Iterator[None]:
    """A process, from the moment that its port answers."""
    with tempfile.TemporaryFile() as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            limit = time.monotonic() + WAIT_S
            while True:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
                    break
                if process.poll() is not None or time.monotonic() > limit:
                    log.seek(0)
                    raise AssertionError(f"{command[0]} does not run: {log.read().decode()[-2000:]}")
                time.sleep(0.02)
            yield
        finally:
            process.terminate()
            process.wait(WAIT_S)


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A running TURN server."""

    port: int
    tls_port: int
    pem: Path
    secret: str = SECRET

    def url(self, way: str) -> str:
        """`way`: udp, tcp or tls."""
        if way == "tls":
            return f"turns:127.0.0.1:{self.tls_port}?transport=tcp"
        return f"turn:127.0.0.1:{self.port}?transport={way}"

    def server(self, way: str) -> IceServer:
        """As settings have it, with the secret."""
        return IceServer.model_validate({"urls": self.url(way), "secret": SECRET})


def _turn(tmp_path: Path, *credentials: str) -> Iterator[Turn]:
    command = shutil.which("turnserver")
    if command is None:
        pytest.skip("coturn is not installed (apt-get install coturn): nothing is said about TURN")
    port, tls_port = free_port(), free_port()
    pem = own_certificate(tmp_path, now=datetime.datetime.now(datetime.UTC)).pem
    options = ["-n", "--no-cli", "--allow-loopback-peers", "--no-multicast-peers", "--realm", "legato.test", "-m", "1"]
    options += ["--listening-ip", "127.0.0.1", "--relay-ip", "127.0.0.1", "--no-dtls", "--log-file", "stdout"]
    options += ["--listening-port", str(port), "--tls-listening-port", str(tls_port), "--cert", str(pem)]
    options += ["--pkey", str(pem), "--userdb", str(tmp_path / "turn.db"), "--pidfile", str(tmp_path / "turn.pid")]
    with running([command, *options, *credentials], port):
        yield Turn(port=port, tls_port=tls_port, pem=pem)


@pytest.fixture
def turn(tmp_path: Path) -> Iterator[Turn]:
    """Makes its credentials of a secret."""
    yield from _turn(tmp_path, "--use-auth-secret", "--static-auth-secret", SECRET)


@pytest.fixture
def turn_with_users(tmp_path: Path) -> Iterator[Turn]:
    """Knows the user `ear`, password `pin na`."""
    yield from _turn(tmp_path, "--lt-cred-mech", "--user", "ear:pin na")


@pytest.fixture
def nginx(tmp_path: Path) -> Iterator[Callable[[int], str]]:
    """Puts nginx with the prefix /voice/ in front of a server on a port; returns its address. Nothing is configured but
    where the requests go."""
    command = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if command is None:
        pytest.skip("nginx is not installed (apt-get install nginx-light): nothing is said about reverse proxies")
    with contextlib.ExitStack() as stack:

        def start(behind: int) -> str:
            port = free_port()
            text = f"""
                daemon off; master_process off; pid {tmp_path}/nginx.pid; error_log stderr warn;
                events {{ worker_connections 64; }}
                http {{
                    access_log off;
                    client_body_temp_path {tmp_path}/body; proxy_temp_path {tmp_path}/proxy;
                    fastcgi_temp_path {tmp_path}/f; uwsgi_temp_path {tmp_path}/u; scgi_temp_path {tmp_path}/s;
                    server {{
                        listen 127.0.0.1:{port};
                        location /voice/ {{ proxy_pass http://127.0.0.1:{behind}/; }}
                    }}
                }}
            """
            (tmp_path / "nginx.conf").write_text(text)
            stack.enter_context(
                running([command, "-c", str(tmp_path / "nginx.conf"), "-p", str(tmp_path), "-e", "stderr"], port)
            )
            return f"http://127.0.0.1:{port}/voice"

        yield start
