"""Progress of voices: bars on a terminal that go away, lines in a log."""

import io
import re

import pytest
from rich.console import Console

from transport_webrtc.cli.progress import VoiceProgress

TOLD = (
    ("joe: building its files", 0.0),
    ("making the tier light", 0.75),
    ("warming joe", 0.0),
    ("heart: loading", 0.0),
    ("warming joe", 0.0),
    ("warming heart", 0.0),
)
"""The last word on joe comes from a slower worker."""


def run(*, terminal: bool) -> str:
    out = io.StringIO()
    progress = VoiceProgress(("joe", "heart"), Console(file=out, force_terminal=terminal, width=100, height=30))
    progress.start()
    for what, share in TOLD:
        progress(what, share)
    progress.close()
    progress.close()
    progress("warming joe", 0.0)
    return out.getvalue()


def test_in_a_log_every_step_of_a_voice_is_a_line() -> None:
    assert run(terminal=False).splitlines() == [
        "joe: is being loaded",
        "joe: building its files",
        "joe: making the tier light",
        "joe: is warming up",
        "joe: is ready",
        "heart: loading",
        "heart: is warming up",
    ]


def test_on_a_terminal_there_is_one_bar_a_voice_and_none_is_left() -> None:
    rows = [""]
    row = 0
    for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|[\r\n]|[^\x1b\r\n]+", run(terminal=True)):
        if part == "\n":
            row += 1
            rows += [""] * (row + 1 - len(rows))
        elif part == "\x1b[2K":
            rows[row] = ""
        elif part.endswith("A") and part.startswith("\x1b"):
            row -= int(part[2:-1])
        elif not part.startswith("\x1b") and part != "\r":
            rows[row] += part
        assert sum("joe" in line for line in rows) <= 1
    assert [line for line in rows if line.strip()] == []


@pytest.mark.parametrize("what", ["warming joe", "joe: ready", "anything else"])
def test_a_bar_only_advances(what: str) -> None:
    progress = VoiceProgress(("joe",), Console(file=io.StringIO(), force_terminal=True))
    progress.start()
    shares = []
    for told, share in ((what, 0.9), ("making the tier light", 0.1), ("warming joe", 0.0), (what, 0.0)):
        progress(told, share)
        shares.append(progress.share("joe"))
    progress.ready("joe")
    progress.close()
    assert shares == sorted(shares)
    assert progress.share("joe") == 1
