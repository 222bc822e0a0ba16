"""`legato bench heard`: onsets are found where they are, and what was not heard is counted."""

import numpy as np
import pytest

from transport_webrtc.bench.heard import figures, onsets, texts


def test_onsets_are_found_to_the_millisecond() -> None:
    heard = np.zeros(48_000 * 6, np.float32)
    for start in (0.151, 2.5):
        at = round(start * 48_000)
        heard[at : at + 24_000] = 0.1
    found = onsets(heard, [0.0, 1.0, 2.2, 4.0])
    assert found[0] == pytest.approx(0.151, abs=0.021)
    assert found[1] is None
    assert found[2] == pytest.approx(0.3, abs=0.021)
    assert found[3] is None


def test_what_was_not_heard_is_in_no_percentile() -> None:
    result = figures([0.1, None, 0.2, 0.3])
    assert (result["n"], result["failures"], result["p50_ms"]) == (4, 1, 200.0)
    assert figures([None]) == {"n": 1, "failures": 1, "p50_ms": None, "p90_ms": None, "p99_ms": None}


def test_texts_differ_and_are_short() -> None:
    said = texts(40)
    assert len(set(said)) == 40
    assert all(30 <= len(text) <= 90 for text in said)
