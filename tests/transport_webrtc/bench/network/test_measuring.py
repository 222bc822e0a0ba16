"""A row made of runs whose facts are known: constructed recordings, packets and counters."""

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adaptive.speech.voice import Samples
from adaptive.ticks import TICK_RATE
from quality.lab.scenarios import load
from transport_webrtc.bench.network.clip import Clip, Phrase
from transport_webrtc.bench.network.run import recording
from transport_webrtc.bench.network.taken import Taken

LAG_S = 0.3
BUFFER_S = 0.08


def babble(seconds: float) -> Samples:
    """Voiced, with moving formants and a pause in every second second; enough like speech for PESQ."""
    time = np.arange(round(seconds * TICK_RATE)) / TICK_RATE
    sound = np.zeros(len(time))
    for harmonic in range(1, 25):
        hz = 120 * harmonic
        centre = 900 + 600 * np.sin(2 * np.pi * 1.7 * time)
        gain = np.exp(-(((hz - centre) / 300) ** 2)) + 0.3 * np.exp(-(((hz - 2.4 * centre) / 400) ** 2)) + 0.02
        sound += gain * np.sin(2 * np.pi * hz * time)
    sound *= np.abs(np.sin(2 * np.pi * 1.3 * time)) * (np.mod(time, 2) < 1.7)
    return (0.2 * sound / np.abs(sound).max()).astype(np.float32)


SECONDS = 4
SAMPLES = babble(SECONDS)
CLIP = Clip("", "none", "full", SAMPLES, (Phrase(0, 2 * TICK_RATE), Phrase(2 * TICK_RATE, 4 * TICK_RATE)))


def taken(heard: Samples, **changes: Any) -> Taken:
    """50 packets a second of 150 bytes down and 5 of 100 up; a tenth of every second is concealed."""
    ticks = [
        {
            "at": second / 4,
            "totalSamplesReceived": second * 12_000,
            "concealedSamples": second * 1_200,
            "jitterBufferDelay": second * 12_000 * BUFFER_S,
            "jitterBufferEmittedCount": second * 12_000,
        }
        for second in range(-8, 50)
    ]
    down = [[count / 50, 150, 0.0] for count in range(-100, 600)]
    facts: dict[str, Any] = {
        "sender": "fixed",
        "scenario": "clean",
        "seed": 1,
        "slip": 0.0001,
        "ticks": ticks,
        "wire": {"down": down, "up": [[count / 5, 100, 0.0] for count in range(-10, 60)]},
        "speech": [[at, int(round(at * 50) % 10 != 0)] for at, _, _ in down],
        "queue_max_ms": 12.0,
        "late_s": 0.002,
        "idle": 0.5,
        "idle_lowest": 0.4,
    }
    return Taken(heard=heard, **{**facts, **changes})


def late(*parts: Samples) -> Samples:
    return np.concatenate([np.zeros(round(LAG_S * TICK_RATE), np.float32), *parts, np.zeros(TICK_RATE, np.float32)])


@pytest.mark.judge
def test_a_row_holds_what_is_known_of_a_perfect_run() -> None:
    from transport_webrtc.bench.network.measuring import row

    made = row(taken(late(SAMPLES)), CLIP, load("clean"))
    assert made["pesq"] > 4.5
    assert made["pesq_phrase"] > 4.4
    assert made["visqol"] > 4.5
    assert made["concealed_share"] == pytest.approx(0.1)
    assert made["silence_added_s"] == pytest.approx(0, abs=0.02)
    assert made["lost_speech_s"] == 0
    assert LAG_S * 1000 < made["first_audio_ms"] <= LAG_S * 1000 + 60
    assert made["delay_mean_ms"] == pytest.approx(BUFFER_S * 1000)
    assert made["buffer_max_ms"] == pytest.approx(BUFFER_S * 1000)
    assert made["wire_kbps"] == pytest.approx(150 * 50 * 8 / 1000 + 100 * 5 * 8 / 1000)
    assert made["lost_packets_share"] == pytest.approx(0.1, abs=0.01)
    assert (made["peak_queue_ms"], made["under_capacity_ms"], made["valid"]) == (12.0, None, True)


@pytest.mark.judge
def test_a_stall_and_a_hole_show_where_they_should() -> None:
    from transport_webrtc.bench.network.measuring import row

    cut = round(2.4 * TICK_RATE)
    stalled = row(taken(late(SAMPLES[:cut], np.zeros(TICK_RATE, np.float32), SAMPLES[cut:])), CLIP, load("step40"))
    assert stalled["silence_added_s"] == pytest.approx(1.0, abs=0.05)
    assert stalled["largest_gap_ms"] == pytest.approx(1000, abs=60)
    assert stalled["lost_speech_s"] == pytest.approx(0, abs=0.05)
    assert stalled["under_capacity_ms"] is None, "60 kb/s into 40 for as long as it lasts"
    assert stalled["pesq_phrase"] > stalled["pesq"]

    holed = SAMPLES.copy()
    holed[2 * TICK_RATE :] = 0
    made = row(taken(late(holed)), CLIP, load("outage10"))
    assert made["lost_speech_s"] > 1
    assert made["pesq_phrase"] == pytest.approx((4.5 + 1) / 2, abs=0.3), "one phrase was heard, one was not"


@pytest.mark.judge
def test_nothing_heard_is_a_row_as_well() -> None:
    from transport_webrtc.bench.network.measuring import row

    made = row(taken(np.zeros(6 * TICK_RATE, np.float32), ticks=[], speech=[]), CLIP, load("clean"))
    assert (made["pesq"], made["visqol"], made["first_audio_ms"], made["concealed_share"]) == (None,) * 4
    assert made["pesq_phrase"] == 1.0
    assert made["lost_speech_s"] > 2


@pytest.mark.parametrize(
    ("changes", "good"),
    [
        ({}, True),
        ({"slip": 0.004}, False),
        ({"slip": None}, False),
        ({"idle": 0.05}, False),
        ({"idle": None}, True),
        ({"late_s": 0.4}, False),
    ],
)
def test_a_starved_machine_makes_no_valid_row(changes: dict[str, Any], good: bool) -> None:
    from transport_webrtc.bench.network.measuring import valid

    assert valid(taken(SAMPLES, **changes)) is good


def test_what_a_run_leaves_is_read_back(tmp_path: Path) -> None:
    before = taken(SAMPLES, told={"plans": [{"at": 1.0}]})
    before.save(tmp_path / "run")
    after = Taken.load(tmp_path / "run")
    assert after.heard == pytest.approx(before.heard, abs=1e-4)
    assert (after.wire, after.told, after.seed) == (before.wire, before.told, before.seed)


def test_pictures_are_drawn_of_every_kind_of_run(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="no matplotlib: install the extra `judge`")
    from transport_webrtc.bench.network.plots import draw
    from transport_webrtc.bench.network.rows import Folder

    plan = {"bitrate": 32_000, "tier": "full", "protection": "none", "playout_delay_ms": 60.0}
    plans = [{"at": -4.0, **plan}, {"at": 3.3, **plan, "bitrate": 12_000, "playout_delay_ms": None}]
    folder, rows = Folder(tmp_path, {}), []
    for sender, told in (("legato:audio", {"plans": plans}), ("stock", {})):
        run = taken(late(SAMPLES), sender=sender, scenario="step40", told=told)
        run.save(folder.run((sender, "step40", 1), 0))
        rows.append({"sender": sender, "scenario": "step40", "seed": 1, "attempt": 0, "pesq": None})
    draw(folder, load("step40"), rows)
    picture = (tmp_path / "step40.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 20_000


def test_blocks_are_put_where_they_were_heard_and_a_slow_clock_is_noticed() -> None:
    """A context that began 2 s before the hand-over; block 5 came late, block 9 never."""
    size, spoken_at, began = TICK_RATE // 10, 1000.0, 998.0
    numbers = [number for number in range(60) if number != 9]
    blocks = [np.full(size, number, np.float32) for number in numbers]
    ends = [(number + 1) * size for number in numbers]

    def told(speed: float) -> dict[str, Any]:
        arrivals = [1000 * (began + end / TICK_RATE / speed + (0.5 if end == 6 * size else 0.0)) for end in ends]
        samples = base64.b64encode(np.concatenate(blocks).tobytes()).decode()
        return {"samples": samples, "ends": ends, "arrivals": arrivals}

    heard, slip = recording(told(1.0), spoken_at)
    assert slip == pytest.approx(0, abs=1e-9)
    assert len(heard) == 40 * size
    assert heard[10] == 20
    assert heard[-1] == 59
    _, slip = recording(told(1.004), spoken_at)
    assert slip == pytest.approx(0.004, rel=1e-6)
    early, _ = recording(told(1.0), began)
    assert not early[9 * size : 10 * size].any(), "what never came is silence"
    assert early[8 * size] == 8
