"""What acknowledgements tell of the path: its delay, the queue in it, and how much it delivers."""

from collections import deque

CLOCK_BITS = 32
LATELY_S = 30.0
"""Over which the lowest delays are taken: a path changes, and clocks drift by less than 3 ms in that time."""
RATE_S = 0.4
"""At least, over which what arrives is measured …"""
RATE_MESSAGES = 4
"""… and at least so many messages: on a narrow link one of them takes most of a second."""
PAUSE_MS = 1000
"""Between arrivals that is a pause: nothing was sent, or nothing came through."""
WAITED_S = 0.15
"""From which on waiting counts as well: what comes through in a moment after a second of nothing came in a second."""
BEST_S = 2.5
"""Of the rates measured lately the best one counts: a sender that has nothing to send measures too little."""
QUEUED_S, BEST_QUEUED_S = 0.15, 1.0
"""With so much queueing what arrives is what the path carries, and the best was before; of the last so long."""


class Lowest:
    """The lowest value of the last `LATELY_S`."""

    def __init__(self) -> None:
        self._values: deque[tuple[float, float]] = deque()

    def add(self, now: float, value: float) -> float:
        """Returns the lowest with the new one."""
        values = self._values
        while values and values[-1][1] >= value:
            values.pop()
        values.append((now, value))
        while values[0][0] < now - LATELY_S:
            values.popleft()
        return values[0][1]

    @property
    def value(self) -> float | None:
        return self._values[0][1] if self._values else None


class Arriving:
    """Times are monotonic seconds of the server, but for the client's own clock in ms."""

    def __init__(self) -> None:
        self.rtt_s: float | None = None
        self.smooth_rtt_s: float | None = None
        self.spread_s = 0.0
        """Mean deviation of the round trip (RFC 6298)."""
        self.queue_delay_s: float | None = None
        self._rtts, self._delays = Lowest(), Lowest()
        self._client_ms = 0.0
        """Newest arrival, without the wrap of 32 bits."""
        self._arrivals: deque[tuple[float, int]] = deque()
        """Client clock in ms, and bytes that had not been known to have arrived."""
        self._bytes = 0
        """Of all of them."""
        self._best: deque[tuple[float, float]] = deque()

    @property
    def min_rtt_s(self) -> float | None:
        """The shortest lately."""
        return self._rtts.value

    def exchange(self, now: float, *, sent_at: float, arrival: int, delay_s: float) -> None:
        """A message arrived at `arrival` on the client's clock, and the answer left `delay_s` later."""
        rtt = max(0.0, now - sent_at - delay_s)
        self.rtt_s = rtt
        self._rtts.add(now, rtt)
        if self.smooth_rtt_s is None:
            self.smooth_rtt_s, self.spread_s = rtt, rtt / 2
            self._client_ms = arrival
        else:
            self.spread_s += (abs(rtt - self.smooth_rtt_s) - self.spread_s) / 4
            self.smooth_rtt_s += (rtt - self.smooth_rtt_s) / 8
        one_way = self._unwrapped(arrival) / 1000 - sent_at
        self.queue_delay_s = one_way - self._delays.add(now, one_way)

    def arrived(self, now: float, *, arrival: int, size: int, waited_s: float = 0.0) -> None:
        """So many bytes are newly known to have arrived, the last of them at `arrival`, of which one was on its
        way for `waited_s` longer than a round trip."""
        at = self._unwrapped(arrival)
        self._client_ms = max(self._client_ms, at)
        arrivals = self._arrivals
        if arrivals and at - arrivals[-1][0] > PAUSE_MS:
            self._bytes = 0
            arrivals.clear()
        if not arrivals and waited_s > WAITED_S:
            arrivals.append((at - round(waited_s * 1000), 0))
        arrivals.append((at, size))
        self._bytes += size
        while len(arrivals) > RATE_MESSAGES and arrivals[-1][0] - arrivals[1][0] >= RATE_S * 1000:
            self._bytes -= arrivals.popleft()[1]
        span_s = (arrivals[-1][0] - arrivals[0][0]) / 1000
        if span_s <= 0:
            return
        rate = (self._bytes - arrivals[0][1]) * 8 / max(span_s, RATE_S / 4)
        while self._best and self._best[-1][1] <= rate:
            self._best.pop()
        self._best.append((now, rate))
        queued = (self.queue_delay_s or 0.0) > QUEUED_S
        while self._best[0][0] < now - (BEST_QUEUED_S if queued else BEST_S):
            self._best.popleft()

    def carries(self, now: float, rate: float) -> None:
        """What arrives from now on arrives at no more than that; until enough has, this is what is known."""
        self.renew()
        self._best.append((now, rate))

    @property
    def rate(self) -> float | None:
        """Bit/s that arrived, the best lately."""
        return self._best[0][1] if self._best else None

    def renew(self) -> None:
        """Nothing came through for long: what is delivered is measured anew."""
        self._arrivals.clear()
        self._best.clear()
        self._bytes = 0

    def client_ms(self, at: float) -> int | None:
        """The client's clock at `at`, where the way up is as fast as the way down."""
        delay, rtt = self._delays.value, self._rtts.value
        if delay is None or rtt is None:
            return None
        return round((at + delay - rtt / 2) * 1000) % 2**CLOCK_BITS

    def server_s(self, client_ms: float) -> float | None:
        """When the client's clock showed that, on the same terms."""
        delay, rtt = self._delays.value, self._rtts.value
        if delay is None or rtt is None:
            return None
        return self._unwrapped(client_ms) / 1000 - delay + rtt / 2

    def _unwrapped(self, arrival: float) -> float:
        half = 1 << CLOCK_BITS - 1
        return self._client_ms + (arrival - self._client_ms + half) % (1 << CLOCK_BITS) - half
