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
MIN_IDLE = 0.05
"""Share of the processors left unused by a run, under which lateness may be the machine's."""
RUNS, IDLE_RUNS = 5, 1
"""A run is made so often at most; the first of them must have left processors idle too."""
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
        return self.ask("GET", path)

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """JSON that answers."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        response = httpx.request(method, self.url + path, headers=headers, timeout=10, json=body)
        response.raise_for_status()
        return response.json()


@dataclass(frozen=True, kw_only=True)
class Heard:
    """What came out at the listener."""

    samples: NDArray[np.float32]
    """48 kHz."""
    slip: float
    """How much faster than the wall clock the audio clock ran."""
    begun_ms: float
    """When the first sample came, by the page's `performance.now()`."""

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
            self.page.wait_for_selector("#state:is([data-state=connected], [data-state=closed])")
            assert self.page.get_attribute("#state", "data-state") == "connected", self.page.inner_text("#problem")
            self.page.wait_for_function("document.getElementById('voice').value !== ''")

    def say(self, text: str, *, voice: str) -> str:
        """Types and plays, as a person does; the id of the utterance."""
        self.page.select_option("#voice", voice)
        self.page.fill("#text", text)
        return self.press("#play")

    def press(self, button: str) -> str:
        """Presses a button that says something; the id of the utterance."""
        newest = "(document.querySelector('#transcript li:last-child')?.dataset.id ?? '')"
        before = self.page.evaluate(newest)
        self.page.click(button)
        return self.page.wait_for_function(f"before => {newest} !== before && {newest}", arg=before).json_value()

    def wait(self, state: str, *, within_s: float) -> None:
        """Until the newest utterance on the page is in `state`."""
        self.page.wait_for_selector(f"#transcript li:last-child[data-state={state}]", timeout=within_s * 1000)

    def told(self, name: str, utterance: str) -> list[dict[str, Any]]:
        """Events of that name about an utterance, in order."""
        return [e for e in self.page.evaluate("ear.events") if e["event"] == name and e["id"] == utterance]

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
        samples = np.frombuffer(base64.b64decode(got["samples"]), np.float32)
        return Heard(samples=samples, slip=got["slip"], begun_ms=got["begun"])

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


@pytest.fixture(scope="session")
def browsers() -> Iterator[Callable[[str], Any]]:
    """Chromium with a policy on autoplay. Only one runs at a time: asking for another policy ends the one before."""
    if CHROMIUM is None:
        pytest.skip("no Chromium: install the package `chromium`, or name its path in LEGATO_CHROMIUM")
    sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright: install the extra `test`")
    running: dict[str, Any] = {}

    def close() -> None:
        for policy in list(running):
            running.pop(policy).close()

    with sync_api.sync_playwright() as playwright:

        def browser(policy: str) -> Any:
            if policy not in running:
                close()
                flags = [*FLAGS, f"--autoplay-policy={policy}"]
                running[policy] = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
            return running[policy]

        yield browser
        close()


@pytest.fixture
def listen(browsers: Callable[[str], Any]) -> Iterator[Callable[..., Ear]]:
    """Gives an `Ear` in a window of its own; keyword arguments are the window's."""
    with ExitStack() as windows:

        def start(server: Server, *, autoplay: bool = True, **window: Any) -> Ear:
            browser = browsers("no-user-gesture-required" if autoplay else "document-user-activation-required")
            context = browser.new_context(**{"viewport": {"width": 1360, "height": 900}, **window})
            windows.callback(context.close)
            page = context.new_page()
            page.add_init_script(path=HERE / "ear.js")
            ear = Ear(page=page, server=server)
            page.on("console", lambda message: _note_complaint(message, ear.complaints))
            page.on("pageerror", lambda error: ear.complaints.append(str(error)))
            page.on("response", lambda response: _note_listener(response, ear.listeners))
            return ear

        yield start


def _note_complaint(message: Any, complaints: list[str]) -> None:
    if message.type in ("error", "warning"):
        complaints.append(message.text)


def _note_listener(response: Any, listeners: list[str]) -> None:
    if response.request.method == "POST" and response.status == 201:
        listeners.append(response.headers["location"].rsplit("/", 1)[-1])


@pytest.fixture(scope="session")
def undisturbed() -> Callable[[Callable[[], Heard]], Heard]:
    """Repeats a run that the machine disturbed."""

    def run(once: Callable[[], Heard]) -> Heard:
        runs = []
        for attempt in range(RUNS):
            busy_before, total_before = _processor_ticks()
            heard = once()
            busy, total = _processor_ticks()
            idle = 1 - (busy - busy_before) / max(total - total_before, 1)
            if heard.valid and (idle >= MIN_IDLE or attempt >= IDLE_RUNS):
                return heard
            runs.append(f"clock {heard.slip:+.2%}, {idle:.0%} idle")
        pytest.fail(f"This machine is too busy to judge a stream: {'; '.join(runs)}.")

    return run


def _processor_ticks() -> tuple[int, int]:
    """Busy and all ticks of all processors since the start (proc_stat(5)); zeros where that is not told."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    except FileNotFoundError:
        return 0, 0
    ticks = [int(field) for field in fields]
    idle = ticks[3] + ticks[4]
    return sum(ticks) - idle, sum(ticks)
