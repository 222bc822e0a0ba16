"""What a path carries, found while nothing is said: a message of some size takes longer than a small one by just so
much as its bytes need, and the fastest of several waited for nobody."""

from collections import deque

from adaptive.control.reports import NARROW_PATH

from .wire import HEADER_BYTES

SMALL_BYTES, LARGE_BYTES = HEADER_BYTES, 616
"""Of a probe, which is a flush filled up: 600 bytes take 400 ms at 12 kb/s, and 75 ms at 64."""
EVERY_S, AGAIN_S = 3.0, 0.2
"""Between pairs of probes, 2 kb/s while nothing is said; and before a path that seems narrower is asked again."""
ANSWER_S = 1.5
"""Without an answer after which a probe counts as lost; twice that the next time, as it may stand in a queue."""
OUTSTANDING = 3
"""Probes whose answers still count, however late: what comes late came over a narrow path."""
KEPT = 4, 2
"""Answers of either size of which the fastest counts, so that neither jitter nor other packets look narrow."""
OLDEST_S = 12.0
"""Of an answer that counts."""
WRAP_MS = 1 << 32


class Probing:
    """Times are monotonic seconds of the server, but for the client's own clock in ms."""

    def __init__(self) -> None:
        self.rate: float | None = None
        """bit/s that the path carries, `NARROW_PATH` where that or more; None while it is not known."""
        self._small: deque[tuple[float, float]] = deque(maxlen=KEPT[0])
        self._large: deque[tuple[float, float]] = deque(maxlen=KEPT[1])
        """When a probe was sent, and how long after it came, s, by a clock of unknown origin."""
        self._origin_ms: int | None = None
        self._asked: dict[int, tuple[int, float]] = {}
        """Bytes and time of the probes that are on their way, by number."""
        self._patience_s = ANSWER_S
        self._next_at = float("-inf")
        self._size = SMALL_BYTES

    def next_time(self) -> float:
        """When a probe is due, if nothing is said until then."""
        return self._next_at if not self._asked else max(at for _, at in self._asked.values()) + self._patience_s

    def waits_s(self, now: float) -> float:
        """How long an answer has been waited for."""
        return now - min(at for _, at in self._asked.values()) if self._asked else 0.0

    def ask(self, now: float, number: int) -> int:
        """Bytes of the probe that leaves now as the transmission with that number, modulo 2^16."""
        if self._asked:
            self._size = SMALL_BYTES  # a pair is to meet the same path
            self._patience_s *= 2
        while len(self._asked) >= OUTSTANDING:
            del self._asked[next(iter(self._asked))]
        self._asked[number] = self._size, now
        self._next_at = now + EVERY_S
        return self._size

    def sent_at(self, largest: int) -> float | None:
        """When the small probe left that an acknowledgement answers; None where it answers something else."""
        size, at = self._asked.get(largest, (0, 0.0))
        return at if size == SMALL_BYTES else None

    def answered(self, now: float, *, largest: int, arrival: int) -> bool:
        """An acknowledgement. Whether it tells what the path carries."""
        if largest not in self._asked:
            return False
        size, at = self._asked[largest]
        self._asked = {number: probe for number, probe in self._asked.items() if probe[1] > at}
        self._patience_s = ANSWER_S
        if self._origin_ms is None:
            self._origin_ms = arrival - round(at * 1000)
        late_ms = (arrival - self._origin_ms - round(at * 1000) + WRAP_MS // 2) % WRAP_MS - WRAP_MS // 2
        answers = self._small if size == SMALL_BYTES else self._large
        answers.append((at, late_ms / 1000))
        for kept in (self._small, self._large):
            while kept and kept[0][0] < now - OLDEST_S:
                kept.popleft()
        if answers is self._large and self._small:
            return self._compare(now)
        if not self._asked:
            self._size, self._next_at = LARGE_BYTES, now
        return False

    def forget(self) -> None:
        """Speech is on its way: what comes back is not a probe's."""
        self._asked, self._size, self._patience_s = {}, SMALL_BYTES, ANSWER_S

    def _compare(self, now: float) -> bool:
        fastest = min(late_s for _, late_s in self._small)
        rates = [_rate(late_s - fastest) for _, late_s in self._large]
        self.rate = max(rates)
        changed = rates[-1] < self.rate
        if changed or len(rates) < KEPT[1]:
            self._next_at = now + AGAIN_S
        if not changed:
            self._size = SMALL_BYTES
        return True


def _rate(extra_s: float) -> float:
    bits = (LARGE_BYTES - SMALL_BYTES) * 8
    return min(NARROW_PATH, bits / extra_s) if extra_s > 0 else NARROW_PATH
