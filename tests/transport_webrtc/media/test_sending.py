"""What was sent and how late, in bounded memory."""

import numpy as np
import pytest

from transport_webrtc.media.sending import OVERHEAD_BYTES, Lateness, Sending


def test_percentiles_are_within_a_tenth():
    values = np.random.default_rng(1).gamma(2.0, 0.002, 20_000)
    lateness = Lateness()
    for value in values:
        lateness.add(float(value))
    for percent in (1, 50, 90, 99, 99.9):
        true = np.percentile(values, percent)
        assert true * 0.99 <= lateness.percentile(percent) <= true * 1.11
    assert lateness.percentile(100) == values.max()


def test_early_counts_as_in_time_and_very_late_is_kept():
    lateness = Lateness()
    assert lateness.percentile(50) is None
    lateness.add(-0.001)
    assert lateness.percentile(99) == 0.0
    lateness.add(60.0)
    assert lateness.percentile(99) == 60.0


def test_the_sent_rate_counts_every_byte_on_the_wire_over_half_a_second():
    sending = Sending()
    for number in range(60):
        sending.sent(number * 0.02, 40, speech=True, late_s=0.0)
    assert sending.sent_rate == pytest.approx((40 + OVERHEAD_BYTES) * 8 * 50, rel=0.05)
    assert sending.wire_bytes == 60 * (40 + OVERHEAD_BYTES)
    assert sending.as_dict()["packets"] == 60
