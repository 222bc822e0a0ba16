"""libwebrtc's audio network adaptor as a controller: what a browser's sender would do with the same facts.

After modules/audio_coding/audio_network_adaptor (config of `adaptivePtime`) on a send-side bandwidth estimate after
modules/congestion_controller/goog_cc, both reduced to what a stream of speech alone makes them do.
"""

from collections import deque
from dataclasses import replace

from adaptive.control.ladder import OVERHEAD_BYTES
from adaptive.control.plan import Bandwidth, Carrier, Plan, Protection, Reason, Rung
from adaptive.control.profiles import Profile
from adaptive.control.reports import ComputeReport, ContentReport, HeardReport, NetworkReport

LOWEST, HIGHEST, START = 16_000, 32_000, 32_000
"""bit/s of payload: `min_encoder_bitrate` of adaptivePtime, and what Chromium sends of a mono stream."""
STEP = 1_000
"""bit/s: finer changes are not made."""

WINDOW, SMOOTHING, GAIN = 20, 0.9, 4.0
FIRST_LIMIT_MS, LEAST_LIMIT_MS, MOST_LIMIT_MS, LIMIT_UP, LIMIT_DOWN = 12.5, 6.0, 600.0, 0.0087, 0.039
OVERUSE_S = 0.010
"""Of goog_cc/trendline_estimator.cc; its deltas are those of reports here."""
CUT, GROWTH, TESTED_FACTOR, TESTED_MORE = 0.85, 1.08, 1.5, 10_000
"""Of aimd_rate_control.cc."""
LOSS_LOW, LOSS_HIGH, LOSS_HOLD_S, LOSS_PACKETS = 0.02, 0.10, 0.3, 20
"""Of send_side_bandwidth_estimation.cc: below the first it grows, above the second it is cut by half the loss; a share
is taken of no fewer packets."""

LOSS_S = 10.0
"""Time constant of the loss on which the adaptor decides."""
FEC_ON = ((17_000, 0.10), (64_000, 0.05))
FEC_OFF = ((15_000, 0.08), (64_000, 0.01))
"""Curves of (bit/s, loss): above the first FEC goes on, below the second off (controller_manager.cc)."""
MOST_HINT = 20
LONGER_MARGIN = 5_000
LONGER_LOSS, SHORTER_LOSS = 0.04, 0.05
FRAMES_MS = (20, 40, 60)
"""Longer frames where the bandwidth is at most the lowest bitrate with its overhead and a margin, and little is lost;
shorter where there is more, or much is lost (frame_length_controller.cc)."""
LEAST_RATE = LOWEST + OVERHEAD_BYTES * 8000 / FRAMES_MS[-1]
"""bit/s on the wire: the estimate has the stream's least rate as its floor."""


class Trend:
    """Whether the one-way delay rises, as goog_cc sees it."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, float]] = deque(maxlen=WINDOW)
        self._smooth_ms = 0.0
        self._limit_ms = FIRST_LIMIT_MS
        self._before = 0.0
        self._over_since: float | None = None
        self._at: float | None = None

    def observe(self, at: float, delay_s: float) -> str:
        """`over`, `under` or `normal`."""
        elapsed_ms = 0.0 if self._at is None else min(100.0, 1000 * (at - self._at))
        self._at = at
        self._smooth_ms = SMOOTHING * self._smooth_ms + (1 - SMOOTHING) * delay_s * 1000
        self._points.append((at * 1000, self._smooth_ms))
        slope = self._slope() * GAIN * min(60, len(self._points))
        growth = LIMIT_UP if abs(slope) > self._limit_ms else LIMIT_DOWN
        state = "normal"
        if slope > self._limit_ms:
            self._over_since = at if self._over_since is None else self._over_since
            if at - self._over_since > OVERUSE_S and slope >= self._before:
                state = "over"
        else:
            self._over_since = None
            state = "under" if slope < -self._limit_ms else "normal"
        self._before = slope
        if abs(slope) <= self._limit_ms + 15:
            moved = self._limit_ms + growth * (abs(slope) - self._limit_ms) * elapsed_ms
            self._limit_ms = min(MOST_LIMIT_MS, max(LEAST_LIMIT_MS, moved))
        return state

    def _slope(self) -> float:
        """Of the least-squares line, ms a ms."""
        count = len(self._points)
        if count < WINDOW:
            return 0.0
        mean_x = sum(x for x, _ in self._points) / count
        mean_y = sum(y for _, y in self._points) / count
        across = sum((x - mean_x) ** 2 for x, _ in self._points)
        return sum((x - mean_x) * (y - mean_y) for x, y in self._points) / across if across else 0.0


class SendSide:
    """A send-side estimate, bit/s on the wire."""

    def __init__(self, start: float) -> None:
        self.rate = self._delay_rate = self._loss_rate = start
        self._trend = Trend()
        self._at: float | None = None
        self._cut_at = float("-inf")
        self._lost = self._packets = 0.0

    def observe(self, report: NetworkReport) -> None:
        """Takes in a report."""
        elapsed = 0.0 if self._at is None else min(1.0, report.at - self._at)
        self._at = report.at
        acked = report.received_rate
        state = "normal" if report.queue_delay_s is None else self._trend.observe(report.at, report.queue_delay_s)
        if state == "over" and acked is not None:
            self._delay_rate = min(self._delay_rate, max(LEAST_RATE, CUT * acked))
        elif state == "normal":
            self._delay_rate *= GROWTH**elapsed
        if acked is not None:
            self._delay_rate = min(self._delay_rate, max(TESTED_FACTOR * acked + TESTED_MORE, self.rate))
        self._observe_loss(report)
        self.rate = min(self._delay_rate, self._loss_rate)

    def _observe_loss(self, report: NetworkReport) -> None:
        self._packets += report.packets or 0
        self._lost += (report.loss or 0.0) * (report.packets or 0)
        if self._packets < LOSS_PACKETS:
            return
        loss, self._lost, self._packets = self._lost / self._packets, 0.0, 0.0
        if loss < LOSS_LOW:
            self._loss_rate = max(self._loss_rate, min(self._loss_rate * GROWTH, 2 * self._delay_rate))
        elif loss > LOSS_HIGH and report.at - self._cut_at > LOSS_HOLD_S + (report.rtt_s or 0.0):
            self._cut_at = report.at
            self._loss_rate = max(LEAST_RATE, min(self._loss_rate, self.rate) * (1 - 0.5 * loss))


class NetworkAdaptor:
    """The adaptor: bitrate, frame length, in-band FEC; the tier is never changed."""

    def __init__(self, *, profile: Profile) -> None:
        self._estimate = SendSide(START + OVERHEAD_BYTES * 8000 / FRAMES_MS[0])
        self._loss = 0.0
        self._loss_at: float | None = None
        self._frame_ms = FRAMES_MS[0]
        self._fec = False
        rung = Rung(bitrate=START, bandwidth=Bandwidth.FB, frame_ms=FRAMES_MS[0])
        self._plan = Plan(rung=rung, tier="full", reason=Reason.START, playout_delay_s=profile.clean_playout_delay_s)

    def on_network(self, report: NetworkReport) -> None:
        """Loss and delay of a report that has any."""
        if report.loss is None and report.queue_delay_s is None:
            return
        self._estimate.observe(report)
        if report.loss is not None:
            elapsed = 0.06 if self._loss_at is None else min(1.0, report.at - self._loss_at)
            self._loss_at = report.at
            self._loss += (report.loss - self._loss) * min(1.0, elapsed / LOSS_S)

    def on_compute(self, report: ComputeReport) -> None:
        """The best tier, always."""
        if report.tiers and report.tiers[0] != self._plan.tier:
            self._plan = replace(self._plan, tier=report.tiers[0])

    def on_content(self, report: ContentReport) -> None:
        """Nothing."""

    def on_heard(self, report: HeardReport) -> None:
        """Nothing."""

    def on_carrier(self, carrier: Carrier, *, red: bool = True, nack: bool = True) -> None:
        """It knows the audio track alone."""

    def plan(self, now: float) -> Plan:
        """The adaptor's decisions in its own order: frame length, FEC, bitrate."""
        rate = self._estimate.rate
        self._frame_ms = self._frame(rate)
        payload = max(LOWEST, min(HIGHEST, rate - OVERHEAD_BYTES * 8000 / self._frame_ms))
        self._fec = self._loss > _curve(FEC_OFF if self._fec else FEC_ON, rate)
        bitrate = int(payload // STEP * STEP)
        narrow = self._fec and bitrate < HIGHEST
        rung = Rung(bitrate=bitrate, bandwidth=Bandwidth.WB if narrow else Bandwidth.FB, frame_ms=self._frame_ms)
        hint = min(MOST_HINT, round(100 * self._loss))
        protection = Protection(fec=self._fec, loss_hint=hint) if self._fec else Protection()
        reason = Reason.STEADY if (rung, protection) == (self._plan.rung, self._plan.protection) else Reason.CONGESTED
        self._plan = replace(self._plan, rung=rung, protection=protection, reason=reason)
        return self._plan

    def _frame(self, rate: float) -> int:
        place = FRAMES_MS.index(self._frame_ms)
        needs = LOWEST + OVERHEAD_BYTES * 8000 / self._frame_ms + LONGER_MARGIN
        if rate <= needs and self._loss <= LONGER_LOSS and place < len(FRAMES_MS) - 1:
            return FRAMES_MS[place + 1]
        if place and (
            rate > LOWEST + OVERHEAD_BYTES * 8000 / FRAMES_MS[place - 1] + LONGER_MARGIN or self._loss >= SHORTER_LOSS
        ):
            return FRAMES_MS[place - 1]
        return self._frame_ms


def _curve(points: tuple[tuple[int, float], ...], rate: float) -> float:
    """The loss of a falling curve at a rate; it is steep before its first point and flat after its last."""
    (x0, y0), (x1, y1) = points
    if rate < x0:
        return 1.0
    if rate >= x1:
        return y1
    return y0 + (y1 - y0) * (rate - x0) / (x1 - x0)
