"""The rung for speech sent ahead: what is delivered may be overdrawn as long as the listener has speech in store.

Loss costs nothing but its repair, and delay nothing at all; what has to be kept is the lead. So the rung follows what
is delivered, times what the lead allows (a buffer-based rule: Huang et al., SIGCOMM 2014).
"""

from .ladder import RUNGS
from .plan import Bandwidth, Reason, Rung
from .reports import NARROW_PATH, HeardReport, NetworkReport

AHEAD_RUNGS: tuple[Rung, ...] = (
    Rung(bitrate=6_000, bandwidth=Bandwidth.NB, frame_ms=60),
    Rung(bitrate=8_000, bandwidth=Bandwidth.MB, frame_ms=60),
    Rung(bitrate=12_000, bandwidth=Bandwidth.WB, frame_ms=20),
    Rung(bitrate=16_000, bandwidth=Bandwidth.WB, frame_ms=20),
    Rung(bitrate=24_000, bandwidth=Bandwidth.FB, frame_ms=20),
    Rung(bitrate=32_000, bandwidth=Bandwidth.FB, frame_ms=20),
    Rung(bitrate=48_000, bandwidth=Bandwidth.FB, frame_ms=20),
)
"""From low to high. Frames are short, since many share a message; at the two lowest longer ones save a third."""
CAUTIOUS = AHEAD_RUNGS[2]
"""While no answer comes."""
STANDING = AHEAD_RUNGS[1]
"""While nothing arrives and there is hardly a lead: when the path moves again, what passes first has to last until it
stands still the next time, and silence is worse than a narrow band."""

MESSAGE_BYTES = 109
"""Beyond the frames: IP and UDP 28, DTLS 37, SCTP 28 (measured), the message's own header 16."""
FRAME_BYTES = 2
MESSAGE_MS = 200
"""Speech in a message while the path is full; `delivery.bundling`."""
NARROW_MS = 480
"""The same at rungs with long frames, on the narrowest paths."""
HORIZON_S = 6.0
"""Of lead by which twice what is delivered may be spent, above the first second."""
UNANSWERED_S = 0.35
"""Without an answer while something is on its way, after which little is sent until …"""
SAFE_LEAD_S = 2.0
"""… the lead is this."""
PLENTY_S = 4.0
"""Lead with which the next rung may be tried where no queue is seen: what arrives is only what was sent."""
START_SHARE = 0.75
"""Of what a path is known to carry speech may begin with: the rest makes the lead, and carries what goes beside it."""
QUEUE_S = 0.15
"""One-way delay above the lowest that is congestion."""
FULL_FOR_S = 2.0
"""After a queue was seen the path counts as full: only then what is delivered says what it can deliver."""
SURELY = 0.85
"""Of what is affordable a higher rung may take, so that it does not fall again at once."""
CALM_S = 1.0
"""Between any change and a rise."""
STEADY_S = 3.0
"""Between a path that stood still and a rise: it may do so again."""
BETTER_S = 4.0
"""Between two rises."""


def ahead_rate(rung: Rung) -> float:
    """Bit/s on the wire with frames bundled as on a full path."""
    bundle_ms = NARROW_MS if rung.frame_ms == 60 else MESSAGE_MS
    return rung.bitrate + MESSAGE_BYTES * 8000 / bundle_ms + FRAME_BYTES * 8000 / rung.frame_ms


def affordable(delivered: float, lead_s: float) -> float:
    """Bit/s that may be spent, where so much is delivered and the listener has a lead."""
    if lead_s < 1.0:
        return delivered * (0.5 + 0.5 * max(0.0, lead_s))
    return delivered * (1 + (lead_s - 1) / HORIZON_S)


def nearest_ahead(rung: Rung) -> Rung:
    """The rung of `AHEAD_RUNGS` with the bitrate of one of the audio track's, or the next lower."""
    return max((own for own in AHEAD_RUNGS if own.bitrate <= rung.bitrate), key=lambda own: own.bitrate)


class AheadRung:
    """Falls at once, rises after calm; pure."""

    def __init__(self, *, start: Rung = RUNGS[7], top: Rung = RUNGS[7]) -> None:
        """Both by bitrate: the audio track's rungs will do."""
        self._top = nearest_ahead(top)
        self.rung = nearest_ahead(start)
        self._delivered: float | None = None
        self._capacity: float | None = None
        """What the path was found to carry while nothing was said."""
        self._lead_s, self._heard_at = 0.0, float("-inf")
        self._asked_at: float | None = None
        """Since when an answer is due."""
        self._full_until = float("-inf")
        self._cautious = False
        self._stood_at = float("-inf")
        """When it last did so with hardly a lead."""
        self._before_standing: Rung | None = None
        """What was taken back because nothing arrived; None where nothing was."""
        self._moves = False
        """Something arrived since, and had not waited."""
        self._changed_at = self._rose_at = float("-inf")

    def on_network(self, report: NetworkReport) -> None:
        """`received_rate` is the best that the path delivered lately."""
        if report.rtt_s is not None or report.packets:
            self._asked_at = report.at
        self._delivered = report.received_rate if report.received_rate is not None else self._delivered
        self._capacity = report.capacity if report.capacity is not None else self._capacity
        queued = (report.queue_delay_s or 0.0) > QUEUE_S
        if queued:
            self._full_until = report.at + FULL_FOR_S
        if report.standing_s is not None:
            self._cautious, self._moves = True, False
            if self.lead_s(report.at) < SAFE_LEAD_S:
                self._stood_at = report.at
        elif queued:
            self._before_standing = None
        elif report.packets:
            self._moves = True

    def on_heard(self, report: HeardReport) -> None:
        """`buffered_s` is the lead."""
        if report.buffered_s is not None:
            self._lead_s, self._heard_at = report.buffered_s, report.at

    def lead_s(self, now: float) -> float:
        """What is left of it, since nothing else is known while no answer comes."""
        silent_s = now - self._heard_at
        return self._lead_s if silent_s <= UNANSWERED_S else max(0.0, self._lead_s - silent_s)

    def silent(self) -> None:
        """Nothing is sent, so that no answer is due."""
        self._asked_at = None

    def prepare(self, now: float) -> Reason | None:
        """Moves `rung` to one with which speech can begin; to be asked while nothing is said."""
        self.silent()
        if self._capacity is None:
            return None
        self._before_standing = None
        narrow = self._capacity < NARROW_PATH
        limit = self._capacity * START_SHARE if narrow else float("inf")
        self._delivered, self._cautious = self._capacity if narrow else None, False
        before = self.rung
        fitting = [rung for rung in AHEAD_RUNGS if rung.bitrate <= self._top.bitrate and ahead_rate(rung) <= limit]
        self.rung = fitting[-1] if fitting else AHEAD_RUNGS[0]
        if self.rung is before:
            return None
        self._changed_at = self._rose_at = now
        return Reason.CONGESTED if self.rung.bitrate < before.bitrate else Reason.RECOVERED

    def decide(self, now: float) -> Reason | None:
        """Moves `rung`; returns why, or None where it stays. To be asked while something is being sent."""
        self._capacity = None
        if self._asked_at is None:
            self._asked_at = now
        if self._before_standing is not None and self._moves:
            return self._go_on(now)
        if now - self._asked_at > UNANSWERED_S:
            self._cautious = True
        lead_s = self.lead_s(now)
        if lead_s >= SAFE_LEAD_S:
            self._cautious = False
        full = now < self._full_until or (self._cautious and now < self._stood_at + FULL_FOR_S)
        standing = self._cautious and full and self._delivered is None
        wanted = min(self.rung, STANDING, key=_bitrate) if standing else self._wanted(full, lead_s)
        if wanted.bitrate < self.rung.bitrate and (full or self._cautious):
            self._before_standing = self.rung if standing else None
            self.rung, self._changed_at = wanted, now
            return Reason.CONGESTED if full else Reason.STALE
        calm = now - self._changed_at >= CALM_S and now - self._rose_at >= BETTER_S
        calm = calm and now - self._stood_at >= STEADY_S
        if wanted.bitrate > self.rung.bitrate and calm and not self._cautious:
            self.rung, self._changed_at, self._rose_at = wanted, now, now
            return Reason.RECOVERED
        return None

    def _go_on(self, now: float) -> Reason | None:
        """What stood still, or was lost, left no queue: nothing speaks against the rung of before."""
        before, self._before_standing = self._before_standing, None
        self._cautious, self._full_until, self._stood_at = False, float("-inf"), float("-inf")
        if before is None or before.bitrate <= self.rung.bitrate:
            return None
        self.rung, self._changed_at = before, now
        return Reason.RECOVERED

    def _wanted(self, full: bool, lead_s: float) -> Rung:
        """The highest that is affordable, where the path is `full` or was; else what arrives is only what was sent."""
        top = min(self._top, CAUTIOUS, key=_bitrate) if self._cautious else self._top
        if self._delivered is None or (self._cautious and not full):
            return top if self._cautious else self.rung
        limit = affordable(self._delivered, lead_s)
        if not full and lead_s >= PLENTY_S and self.rung.bitrate < top.bitrate:
            limit = max(limit, ahead_rate(AHEAD_RUNGS[AHEAD_RUNGS.index(self.rung) + 1]) / SURELY)
        fitting = [
            rung
            for rung in AHEAD_RUNGS
            if rung.bitrate <= top.bitrate
            and ahead_rate(rung) <= limit * (1.0 if rung.bitrate <= self.rung.bitrate else SURELY)
        ]
        return fitting[-1] if fitting else AHEAD_RUNGS[0]


def _bitrate(rung: Rung) -> int:
    return rung.bitrate
