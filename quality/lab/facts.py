"""What a server learns of a simulated path, and how it tells its controller: as the transport does.

Transport-wide feedback speaks for the path while it comes, with the newest round trip and jitter of the pings repeated
in it; the pings' own reports go to the controller only where it does not.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace

from adaptive.control.fates import Fates, Feedback
from adaptive.control.reports import HeardReport, NetworkReport, Source

PING_FAST_S, PING_MIDDLE_S, PING_SLOW_S, SLOW_RATE = 0.25, 0.5, 1.0, 40_000
"""Between pings: where they alone tell of the path; where transport-wide feedback does; where the plan's rate, bit/s,
is so low that they would weigh."""
ALIVE_S = 1.5
"""Transport-wide feedback no older than this speaks for the path."""
KNOWN_S = 3.0
"""How long a round trip is repeated in other reports."""
GAP_S = 0.05
"""Between two reports of transport-wide feedback, at least."""
BASE_WINDOW_S = 30.0


class Facts:
    """Those of one listener."""

    def __init__(self, *, on_network: Callable[[NetworkReport], None], on_heard: Callable[[HeardReport], None]) -> None:
        self._on_network, self._on_heard = on_network, on_heard
        self.fates = Fates()
        self._told_at = float("-inf")
        self._untold = False
        self._next_ping = float("-inf")
        self._round_trip: tuple[float, float, float] | None = None
        """When, round trip, jitter."""
        self._base: deque[tuple[float, float]] = deque()
        self._counters: Mapping[str, float] | None = None

    def feedback(self, now: float, feedback: Feedback) -> None:
        """A transport-wide feedback came."""
        self.fates.feedback(now, feedback)
        self._untold = True
        self._tell(now)

    def tick(self, now: float, *, rate: float) -> bool:
        """With every plan, and its wire rate: whether a ping is to leave now."""
        if self._untold:
            self._tell(now)
        if now < self._next_ping:
            return False
        every_s = PING_SLOW_S if rate <= SLOW_RATE else PING_MIDDLE_S if self._is_wide(now) else PING_FAST_S
        self._next_ping = now + every_s
        return True

    def answered(self, now: float, sent_at: float, counters: Mapping[str, float], *, start_tick: int) -> None:
        """A ping sent at `sent_at` was answered; positions count from `start_tick`."""
        rtt_s, jitter_s = now - sent_at, counters["jitter_s"]
        self._round_trip = (now, rtt_s, jitter_s)
        while self._base and self._base[-1][1] >= rtt_s:
            self._base.pop()
        self._base.append((now, rtt_s))
        while self._base[0][0] < now - BASE_WINDOW_S:
            self._base.popleft()
        if not self._is_wide(now):
            self._on_network(
                NetworkReport(
                    at=now,
                    source=Source.FEEDBACK,
                    rtt_s=rtt_s,
                    queue_delay_s=rtt_s - self._base[0][1],
                    jitter_s=jitter_s,
                )
            )
        before, self._counters = self._counters, counters
        if before is not None and counters["total"] > before["total"]:
            self._on_heard(_heard(now, before, counters, start_tick=start_tick))

    def _is_wide(self, now: float) -> bool:
        last = self.fates.last_feedback
        return last is not None and now - last <= ALIVE_S

    def _tell(self, now: float) -> None:
        if now - self._told_at < GAP_S:
            return
        known = self._round_trip if self._round_trip and now - self._round_trip[0] <= KNOWN_S else None
        report = self.fates.report(now, rtt_s=known[1] if known else None)
        if known is not None:
            report = replace(report, jitter_s=known[2])
        self._untold, self._told_at = False, now
        self._on_network(report)


def _heard(now: float, before: Mapping[str, float], after: Mapping[str, float], *, start_tick: int) -> HeardReport:
    total, held = after["total"] - before["total"], after["held_count"] - before["held_count"]
    return HeardReport(
        at=now,
        position=max(0, int(after["position"]) - start_tick),
        concealed=max(0.0, min(1.0, (after["concealed"] - before["concealed"]) / total)),
        buffered_s=(after["held_sum"] - before["held_sum"]) / held if held else None,
    )
