"""A real server in its own process, and a real Chromium that listens to it and keeps what it heard."""

import base64
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray

HERE = Path(__file__).parent
CHROMIUM = os.environ.get("LEGATO_CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
MAX_SLIP = 0.003
"""An audio clock further from the wall clock than this says nothing about a stream: the machine was starved."""
START_S = 180.0
"""A first start may build the voice's files."""
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--allow-loopback-in-peer-connection",
    "--disable-features=WebRtcHideLocalIpsWithMdns",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)


@dataclass(frozen=True, kw_only=True)
class Server:
    """A running server."""

    url: str
    """Ends in a slash."""
    token: str | None = None

    def get(self, path: str) -> Any:
        """JSON of `path`."""
        return self._ask("GET", path)

    def put(self, path: str, body: dict[str, Any]) -> Any:
        """JSON that answers `body`."""
        return self._ask("PUT", path, json=body)

    def delete(self, path: str) -> Any:
        """JSON that answers."""
        return self._ask("DELETE", path)

    def _ask(self, method: str, path: str, **given: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        response = httpx.request(method, self.url + path, headers=headers, timeout=10, **given)
        response.raise_for_status()
        return response.json()


@dataclass(frozen=True, kw_only=True)
class Heard:
    """What came out at the listener."""

    samples: NDArray[np.float32]
    """48 kHz."""
    slip: float
    """How much faster than the wall clock the audio clock ran."""

    @property
    def valid(self) -> bool:
        """Whether the machine left the browser enough time."""
        return abs(self.slip) <= MAX_SLIP


@dataclass(kw_only=True)
class Ear:
    """The page in a browser, with its recorder."""

    page: Any
    server: Server
    complaints: list[str] = field(default_factory=list)
    """Errors and warnings of the console, and uncaught exceptions."""
    listeners: list[str] = field(default_factory=list)
    """Ids, the newest last."""

    def open(self, query: str = "", *, connected: bool = True) -> None:
        """Loads the page; waits for the connection and for what fills the page after it."""
        fragment = f"#token={self.server.token}" if self.server.token else ""
        self.page.goto(f"{self.server.url}?{query}{fragment}")
        if connected:
            self.page.wait_for_selector("#state[data-state=connected]")
            self.page.wait_for_function("document.getElementById('voice').value !== ''")

    def say(self, text: str, *, voice: str) -> None:
        """Types and plays, as a person does."""
        self.page.select_option("#voice", voice)
        self.page.fill("#text", text)
        self.page.click("#play")

    def wait(self, state: str, *, within_s: float) -> None:
        """Until the newest utterance on the page is in `state`."""
        self.page.wait_for_selector(f"#transcript li:last-child[data-state={state}]", timeout=within_s * 1000)

    def rest(self, seconds: float) -> None:
        """Lets the browser go on."""
        self.page.wait_for_timeout(seconds * 1000)

    def begin(self) -> None:
        """Starts a recording."""
        self.page.evaluate("ear.begin()")

    def end(self) -> Heard:
        """Ends it."""
        got = self.page.evaluate("ear.end()")
        assert got["failure"] is None, got["failure"]
        assert got["slip"] is not None, "less than a second was recorded"
        return Heard(samples=np.frombuffer(base64.b64decode(got["samples"]), np.float32), slip=got["slip"])

    def stats(self) -> dict[str, Any]:
        """The receiver's counters."""
        return self.page.evaluate("ear.stats()")

    @property
    def listener(self) -> str:
        """Path of the newest listener."""
        return f"v1/listen/{self.listeners[-1]}"


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Server]]:
    """Starts servers as `legato serve --lab` does; keyword arguments are its settings."""
    with ExitStack() as stack:

        def start(*, plugins: Path | None = None, **settings: str) -> Server:
            log = tmp_path_factory.mktemp("server") / "log.txt"
            return stack.enter_context(_serving(log, plugins, settings))

        yield start


@pytest.fixture(scope="session")
def server(serve: Callable[..., Server]) -> Server:
    """One with the default voice, and its lab."""
    return serve(voices="joe,tone", voice="joe")


@contextmanager
def _serving(log: Path, plugins: Path | None, settings: dict[str, str]) -> Iterator[Server]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = {**os.environ, **{f"LEGATO_{name.upper()}": value for name, value in settings.items()}}
    if plugins:
        env["PYTHONPATH"] = os.pathsep.join(filter(None, (str(plugins), env.get("PYTHONPATH"))))
    command = "from transport_webrtc.cli import main; main()"
    server = Server(url=f"http://127.0.0.1:{port}/", token=settings.get("token"))
    with (
        log.open("wb") as out,
        subprocess.Popen(
            [sys.executable, "-c", command, "serve", "--lab", "--host", "127.0.0.1", "--port", str(port)],
            env=env,
            cwd=HERE.parents[1],
            stdout=out,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        try:
            _wait_until_ready(server, process, log)
            yield server
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


def _wait_until_ready(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            pytest.fail(f"The server ended with {process.returncode}:\n{log.read_text()[-4000:]}")
        try:
            if httpx.get(server.url + "readyz", timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            pass  # it does not listen yet
        time.sleep(0.1)
    pytest.fail(f"The server was not ready within {START_S:.0f} s:\n{log.read_text()[-4000:]}")


@pytest.fixture
def listen() -> Iterator[Callable[..., Ear]]:
    """Opens a browser with an `Ear` on a server's page; one browser at a time."""
    if CHROMIUM is None:
        pytest.skip("no Chromium: install the package `chromium`, or name its path in LEGATO_CHROMIUM")
    sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright: install the extra `test`")
    with sync_api.sync_playwright() as playwright:
        browsers: list[Any] = []

        def start(server: Server, *, autoplay: bool = True, **page: Any) -> Ear:
            policy = "no-user-gesture-required" if autoplay else "document-user-activation-required"
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, f"--autoplay-policy={policy}"])
            browsers.append(browser)
            opened = browser.new_page(**{"viewport": {"width": 1360, "height": 900}, **page})
            opened.add_init_script(path=HERE / "ear.js")
            ear = Ear(page=opened, server=server)
            opened.on("console", lambda message: _note_complaint(message, ear.complaints))
            opened.on("pageerror", lambda error: ear.complaints.append(str(error)))
            opened.on("response", lambda response: _note_listener(response, ear.listeners))
            return ear

        yield start
        for browser in browsers:
            browser.close()


def _note_complaint(message: Any, complaints: list[str]) -> None:
    if message.type in ("error", "warning"):
        complaints.append(message.text)


def _note_listener(response: Any, listeners: list[str]) -> None:
    if response.request.method == "POST" and response.status == 201:
        listeners.append(response.headers["location"].rsplit("/", 1)[-1])


@pytest.fixture(scope="session")
def undisturbed() -> Callable[[Callable[[], Heard]], Heard]:
    """Repeats a run while the machine starves the browser."""

    def run(once: Callable[[], Heard]) -> Heard:
        slips = []
        for _ in range(3):
            heard = once()
            if heard.valid:
                return heard
            slips.append(f"{heard.slip:+.2%}")
        pytest.fail(f"The audio clock slipped by {', '.join(slips)}: this machine is too busy to judge a stream.")

    return run
