import asyncio
import json
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from adaptive.audio.wav import read_wav
from transport_webrtc.cli import heard, listen

Serve = Callable[..., Awaitable[Any]]

COMMAND = "import typer; from transport_webrtc.cli import listen; app = typer.Typer(); listen.register(app); app()"
FIELDS = {
    "connected_ms",
    "first_audio_ms",
    "duration_s",
    "lost_speech_s",
    "largest_gap_ms",
    "concealed_share",
    "plans",
    "position_s",
}
PLAN = {"at_s", "carrier", "bitrate", "bandwidth", "frame_ms", "protection", "lead_s", "tier", "reason"}


async def legato_listen(*arguments: str) -> Result:
    """The command in a thread of its own, as the server has this one."""
    app = typer.Typer()
    listen.register(app)
    return await asyncio.to_thread(CliRunner().invoke, app, list(arguments))


async def test_it_hears_a_text_and_prints_one_object(serve: Serve, tmp_path: Path) -> None:
    server, out = await serve(), tmp_path / "heard.wav"
    result = await legato_listen(server.url, "--say", "m" * 20, "-o", str(out), "--profile", "narration", "--json")
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout.splitlines()[-1])
    assert figures.keys() >= FIELDS
    assert figures["duration_s"] == pytest.approx(1.2, abs=0.03)
    assert figures["position_s"] == figures["rendered_s"] == pytest.approx(1.2)
    assert 0 < figures["first_audio_ms"] < 2000
    assert (figures["lost_speech_s"], figures["packets"]["lost"], figures["profile"]) == (0, 0, "narration")
    assert figures["plans"]
    assert all(plan.keys() == PLAN for plan in figures["plans"])
    samples, rate = read_wav(out)
    assert rate == 48_000
    assert len(samples) / rate > figures["first_audio_ms"] / 1000 + figures["duration_s"]


async def test_without_json_it_shows_a_table_on_stderr(serve: Serve) -> None:
    server = await serve()
    result = await legato_listen(server.url, "--say", "hello")
    assert result.exit_code == 0
    assert "first audio after" in result.stderr
    assert "{" not in result.stderr
    assert result.stdout == ""


async def test_through_a_bad_network_it_says_what_was_lost(serve: Serve) -> None:
    server = await serve(lab=True)
    bad = json.dumps({"down": {"loss_list": [0] * 4 + [1], "delay_ms": 30}})
    result = await legato_listen(server.url, "--say", "m" * 24, "--network", bad, "--carrier", "audio", "--json")
    figures = json.loads(result.stdout.splitlines()[-1])
    assert figures["packets"]["lost"] > 5
    assert figures["lost_speech_s"] + figures["repaired_s"] > 0.1
    assert 0 <= figures["concealed_share"] < 0.4
    assert figures["first_audio_ms"] > 60


async def test_nobody_there_is_a_sentence_and_exit_code_2(tmp_path: Path) -> None:
    result = await legato_listen("http://127.0.0.1:9", "--say", "hello", "-o", str(tmp_path / "never.wav"))
    assert result.exit_code == 2
    assert result.stderr.startswith("No server can be reached at http://127.0.0.1:9")
    assert not (tmp_path / "never.wav").exists()


@pytest.mark.parametrize(
    "url",
    [
        *("http://", "http://127.0.0.1:port", "http://127.0.0.1:99999", "ftp://127.0.0.1", "http://a b/", ""),
        *("http://[::1", "http://xn--a:80", "http://xn--/", "http://127.0.0.1:8080\n", "http://" + "\xe9" * 300),
    ],
)
async def test_what_is_no_address_is_a_sentence(url: str) -> None:
    result = await legato_listen(url, "--say", "hello")
    assert result.exit_code == 2
    assert "is no address of a server" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", b"220 mail.example.org ESMTP\r\n"]
)
async def test_a_server_of_another_kind_is_a_sentence(answer: bytes) -> None:
    async def another(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(answer)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(another, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        for url, says in (
            (f"http://127.0.0.1:{port}", "is the address right"),
            (f"https://127.0.0.1:{port}", "does not speak HTTPS"),
        ):
            result = await legato_listen(url, "--say", "hello")
            assert result.exit_code == 2
            assert says in result.stderr
            assert len(result.stderr.strip().splitlines()) == 1, result.stderr


REFUSALS = (
    (("--say", "hello", "--voice", "nobody"), "no voice 'nobody'"),
    (("--say", "hello", "--profile", "party"), "no profile 'party'"),
    (("--say", "hello", "--carrier", "pigeon"), "no carrier 'pigeon'"),
    (("--say", "  "), "."),
    (("--say", "hello", "--network", "bad"), "start it with legato serve --lab"),
    (("--say", "hello", "--network", "{bad"), "is not JSON"),
)


async def test_a_refusal_is_a_sentence_and_exit_code_2(serve: Serve) -> None:
    server = await serve()
    for arguments, says in REFUSALS:
        result = await legato_listen(server.url, *arguments)
        assert result.exit_code == 2, arguments
        assert says in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1


async def test_a_file_that_cannot_be_written_is_said(serve: Serve, tmp_path: Path) -> None:
    server = await serve()
    result = await legato_listen(server.url, "--say", "hi", "-o", str(tmp_path / "no" / "such.wav"))
    assert result.exit_code == 2
    assert "does not exist" in result.stderr


async def test_a_server_with_a_token_asks_for_the_option(serve: Serve) -> None:
    server = await serve(token="secret")
    for given, says in (((), "asks for a token: give it with --token"), (("--token", "x"), "does not take this token")):
        result = await legato_listen(server.url, "--say", "hi", *given)
        assert result.exit_code == 2
        assert says in result.stderr


def test_equal_plans_are_shown_once() -> None:
    plan = {"bitrate": 24_000, "bandwidth": "FB", "frame_ms": 20, "protection": "none", "tier": "full"}
    plans = [
        {**plan, "at_s": 0.0, "reason": "start"},
        {**plan, "at_s": 1.0, "reason": "rise"},
        {**plan, "at_s": 2.0, "reason": "less_capacity", "bitrate": 16_000},
    ]
    assert list(heard.plan_rows(plans)) == [
        ("plan from 0.0 s", "rung 24 kb/s FB 20 ms, protection none, tier full (start)"),
        ("plan from 2.0 s", "rung 16 kb/s FB 20 ms, protection none, tier full (less capacity)"),
    ]


async def test_control_c_leaves_cleanly(serve: Serve) -> None:
    server = await serve()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", COMMAND, server.url, "--say", "m" * 300),
        stderr=asyncio.subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored in what a shell runs behind
    )
    await server.until(lambda: any(one.snapshot()["speaking"] for one in server.listeners))
    process.send_signal(signal.SIGINT)
    _, stderr = await asyncio.wait_for(process.communicate(), 10)
    assert process.returncode == 130
    assert stderr.decode().strip() == "Stopped."
    await server.until(lambda: not len(server.listeners), 3)
