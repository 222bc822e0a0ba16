"""The README's examples are run as they stand there."""

import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
LEGATO = [sys.executable, "-c", "from transport_webrtc.cli import main; main()"]

pytestmark = pytest.mark.voices


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


COMMANDS = [line for block in blocks("sh") for line in block.splitlines() if line and not line.startswith("#")]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    process = subprocess.Popen([*LEGATO, "serve", "--port", str(port)], cwd=ROOT)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_until_ready(url, process)
        yield url
    finally:
        process.terminate()
        assert process.wait(timeout=20) in (0, -signal.SIGTERM)


def _wait_until_ready(url: str, process: "subprocess.Popen[bytes]") -> None:
    for _ in range(1200):
        assert process.poll() is None, "the server ended"
        try:
            if httpx.get(f"{url}/readyz").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError("the server did not become ready within two minutes")


@pytest.mark.parametrize("example", blocks("python"))
def test_python(example: str, tmp_path: Path) -> None:
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{example}"
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    assert list(tmp_path.glob("*.wav"))


@pytest.mark.parametrize("command", COMMANDS)
def test_command(command: str, server: str, tmp_path: Path) -> None:
    words = shlex.split(command.replace("http://127.0.0.1:8080", server))
    assert words[0] == "legato"
    done = subprocess.run([*LEGATO, *words[1:]], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    expected = (0, 1) if words[1] == "doctor" else (0,)
    assert done.returncode in expected, done.stderr


def test_make_run_is_what_the_readme_says() -> None:
    assert "make run" in README
    assert re.search(r"^run:.*\n\t.*legato serve --lab", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert shutil.which("make")


def test_what_is_linked_is_there() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
