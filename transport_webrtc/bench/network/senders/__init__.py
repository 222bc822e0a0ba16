"""Who may send: Legato, aiortc as it comes, a fixed Opus stream, and another browser.

A sender belongs to a stage and serves one listener after the other: `connect` opens a page that hears it, `go` makes it
speak, `leave` ends that listener.
"""

from typing import Any, Protocol

from .names import SenderName, parse_sender

__all__ = ["Sender", "SenderName", "parse_sender"]


class Sender(Protocol):
    """One contender."""

    def connect(self) -> Any:
        """A connected page with an `ear`, silent so far. Raises RuntimeError where no connection comes about."""
        ...

    def go(self) -> float:
        """Hands over the text or starts the clip; when that was, in seconds since 1970."""
        ...

    def told(self, spoken_at: float) -> dict[str, Any]:
        """What it says of itself after the speech, for plots and the reference: `events`, `plans` and `snapshot` of a
        listener of Legato, with times in seconds from `spoken_at`; others say nothing."""
        ...

    def leave(self) -> None:
        """Ends the connection and its page."""
        ...

    def close(self) -> None:
        """Ends what serves all listeners."""
        ...
