"""Chromium in a network namespace, and pages in it that come from this package whatever their address is."""

import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PAGES = Path(__file__).parent / "pages"
PATH_VARIABLE = "LEGATO_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--autoplay-policy=no-user-gesture-required",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-features=WebRtcHideLocalIpsWithMdns",
)
"""No audio device, no window, nothing that phones home; candidates bear addresses, as there is no multicast here."""
TIMEOUT_MS = 20_000


def available() -> str | None:
    """None where a browser can be driven, else a sentence saying what is missing."""
    if _path() is None:
        return f"no Chromium: install the package `chromium`, or name its path in {PATH_VARIABLE}"
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "no playwright: pip install playwright"
    return None


def _path() -> str | None:
    return os.environ.get(PATH_VARIABLE) or next(filter(None, map(shutil.which, NAMES)), None)


class Chromium:
    """A headless Chromium inside `namespace` that takes `origin` for safe. Needs a running playwright."""

    def __init__(self, playwright: Any, *, namespace: str, origin: str) -> None:
        host = origin.split("//")[1].split(":")[0]
        self._origin = origin
        self._folder = tempfile.TemporaryDirectory(prefix="legato-chromium-")
        program = Path(self._folder.name) / "chromium"
        program.write_text(f'#!/bin/sh\nexec ip netns exec {namespace} {_path()} "$@"\n')
        program.chmod(0o755)
        self._browser = playwright.chromium.launch(
            executable_path=str(program),
            args=[
                *FLAGS,
                f"--unsafely-treat-insecure-origin-as-secure={origin}",
                f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {host}",
            ],
        )
        self.version: str = self._browser.version

    def open(self, page: str, *, script: str | None = None, before: str = "") -> Any:
        """Opens `pages/{page}` under the origin in a window of its own; `script`, another of them, and the source
        `before` run ahead of the page's own scripts. Close its `context`."""
        context = self._browser.new_context()
        context.set_default_timeout(TIMEOUT_MS)
        address = f"{self._origin}/{page}"
        context.route(address, lambda route: route.fulfill(path=PAGES / page, content_type="text/html"))
        opened = context.new_page()
        if script is not None:
            opened.add_init_script(path=PAGES / script)
        if before:
            opened.add_init_script(before)
        opened.goto(address)
        return opened

    def close(self) -> None:
        """Ends the browser."""
        self._browser.close()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
