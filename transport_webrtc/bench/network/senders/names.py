"""What a sender is called on the command line: a kind, and options after colons."""

from dataclasses import dataclass

KINDS = ("legato", "stock", "fixed", "browser")
BROWSER_OPTIONS = ("nack", "red", "ptime")
NACK_DELAY_MS = 250
"""Retransmission needs time: a browser with NACK is pinned to this unless a number says otherwise."""
DEFAULT = "legato:audio,stock,fixed,browser,browser:nack"


@dataclass(frozen=True)
class SenderName:
    """One contender."""

    text: str
    """As asked for, and as it stands in rows."""
    kind: str
    options: tuple[str, ...] = ()
    """Of a browser: `nack`, `red`, and `ptime` for `adaptivePtime`; of Legato: what carries the speech."""
    delay_ms: int | None = None
    """`jitterBufferTarget` that its listener is pinned to; None is the sender's or the browser's own affair."""


def parse_sender(text: str, *, delay_ms: int | None = None) -> SenderName:
    """`legato:audio`, `stock`, `fixed`, `browser`, `browser:nack:red`, each with a number of ms at the end to pin the
    listener's buffer. `delay_ms` pins those without a number that are not Legato. Raises ValueError with a sentence.
    """
    kind, *options = text.strip().split(":")
    if kind not in KINDS:
        raise ValueError(f"There is no sender {kind!r}; there are {', '.join(KINDS)}.")
    pinned = int(options.pop()) if options and options[-1].isdecimal() else None
    if kind == "legato":
        if options not in ([], ["audio"], ["data"]):
            raise ValueError(f"Legato sends as legato:audio or legato:data; {text} is not possible.")
        return SenderName(text, kind, tuple(options) or ("audio",), pinned)
    allowed = BROWSER_OPTIONS if kind == "browser" else ()
    for option in options:
        if option not in allowed:
            raise ValueError(f"The sender {kind} has no option {option!r}: it has {', '.join(allowed) or 'none'}.")
    if pinned is None:
        pinned = delay_ms if delay_ms is not None else NACK_DELAY_MS if "nack" in options else None
    return SenderName(text, kind, tuple(options), pinned)
