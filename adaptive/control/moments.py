"""When a change is heard least: in the next pause, if one is near; else at once."""

from .reports import ContentReport

NEAR_S = 0.6
SHORTEST_S = 0.08
"""A pause at least so long, that begins no later than this, is waited for."""


class Moments:
    """The pauses ahead of one listener, and since when each kind of change waits for one."""

    def __init__(self) -> None:
        self._content: ContentReport | None = None
        self._wanted: dict[str, float] = {}

    def observe(self, report: ContentReport) -> None:
        """The newest content."""
        self._content = report

    def come(self, now: float, what: str) -> bool:
        """Whether a change, wanted by now, may be made; asked anew until it is."""
        since = self._wanted.setdefault(what, now)
        content = self._content
        if content is None or not content.sounding or now - since >= NEAR_S:
            return True
        for start, end in content.pauses:
            start, end = content.at + start, content.at + end
            if end - start >= SHORTEST_S and end > now and start <= since + NEAR_S:
                return now >= start
        return True

    def forget(self, what: str) -> None:
        """It was made, or is no longer wanted."""
        self._wanted.pop(what, None)
