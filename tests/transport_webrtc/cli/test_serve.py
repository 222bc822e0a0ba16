"""`legato serve` as a process: says where it is, when it is warm, and what is wrong before it begins."""

import asyncio
import gc
import logging
import os
import re
import signal
import socket
import subprocess
import sys

import httpx
import pytest
import typer
from aiortc import InvalidStateError
from typer.testing import CliRunner

from transport_webrtc.cli import serve
from transport_webrtc.cli.serving import tell_unless_hung_up
from transport_webrtc.settings import Settings

RUN = "import sys; from transport_webrtc.cli.serve import run; raise SystemExit(run({given!r}))"


def start(**given: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RUN.format(given=given)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


@pytest.mark.parametrize(
    ("leave", "given", "warns"),
    [
        (signal.SIGTERM, {"max_listeners": 10**9}, "files open, enough for"),
        (signal.SIGINT, {"host": "0.0.0.0"}, "set LEGATO_TOKEN"),
    ],
)
def test_it_serves_and_leaves(leave: signal.Signals, given: dict[str, object], warns: str) -> None:
    with start(port=0, voices="tone", **given) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        try:
            address = re.search(r"http://127\.0\.0\.1:\d+/", server.stdout.readline())
            assert address is not None
            assert httpx.get(f"{address[0]}healthz").status_code == 200
            assert "warm" in server.stdout.readline()
            assert httpx.get(f"{address[0]}readyz").status_code == 200
            assert httpx.get(f"{address[0]}v1/voices").json()[0]["name"] == "tone"
        finally:
            server.send_signal(leave)
        assert server.wait(10) == 0
        said = server.stderr.read()
        assert [sentence in said for sentence in ("enough for", "LEGATO_TOKEN")].count(True) == 1
        assert warns in said


def test_who_hangs_up_while_connecting_leaves_no_traceback(caplog) -> None:
    async def forgotten() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(tell_unless_hung_up)
        for error in (InvalidStateError("RTCIceTransport is closed"), ZeroDivisionError("ours")):
            future = loop.create_future()
            future.set_exception(error)
            del future

    asyncio.run(forgotten())
    gc.collect()
    (record,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert "ours" in str(record.exc_info)


def test_a_misspelt_setting_is_said() -> None:
    """A token that is not taken leaves the server open."""
    environment = [
        "LEGATO_TOKN",
        "LEGATO_PORT",
        "LEGATO_KOKORO_VOICE",
        "LEGATO_COSYVOICE_TIER",
        "LEGATO_TRACES",
        "PATH",
    ]
    (sentence,) = serve._misspelt(environment, Settings())
    assert sentence.startswith("LEGATO_TOKN in the environment is no setting")
    assert "LEGATO_TOKEN is one" in sentence


def test_a_taken_port_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = run(port=taken.getsockname()[1])
    assert result.exit_code == 2
    assert "Another server may have it" in result.stderr


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"voice": "nobody"}, "not among the voices to load"),
        ({"profile": "radio"}, "There is no profile"),
        ({"workers": 0}, "must be a whole number from 1 to 64"),
        ({"voices": "joe,bob"}, "no voice 'bob'. Installed are: joe, heart"),
        ({"controller": "nobody", "port": 0, "voices": "tone"}, "no controller"),
        ({"host": "203.0.113.77", "port": 0, "voices": "tone"}, "an address of this machine"),
    ],
)
def test_what_is_wrong_is_said(given: dict[str, object], says: str) -> None:
    result = run(**given)
    assert result.exit_code == 2
    assert says in result.stderr
    assert result.stdout == ""


def test_help_teaches() -> None:
    result = run("--help")
    assert result.exit_code == 0
    for option in ("--host", "--port", "--lab", "--token", "--workers", "--voice", "LEGATO_PORT"):
        assert option in result.stdout


def run(*arguments: str, **given: object):
    app = typer.Typer()
    serve.register(app)
    options = [part for name, value in given.items() for part in (f"--{name}", str(value))]
    return CliRunner().invoke(app, [*arguments, *options], env={"COLUMNS": "200"})


def test_it_leaves_also_while_a_request_is_held() -> None:
    with start(port=0, voices="tone") as server:
        assert server.stdout is not None
        assert server.stderr is not None
        address = re.search(r"http://([\d.]+):(\d+)/", server.stdout.readline())
        assert address is not None
        assert "warm" in server.stdout.readline()
        with socket.create_connection((address[1], int(address[2]))) as held:
            head = b"POST /v1/listen HTTP/1.1\r\nHost: x\r\nContent-Type: application/sdp\r\nContent-Length: 99\r\n\r\n"
            held.sendall(head + b"v=0")
            httpx.get(f"{address[0]}healthz")
            server.send_signal(signal.SIGTERM)
            assert server.wait(6) in (0, -signal.SIGTERM)
        assert "Traceback" not in server.stderr.read()
