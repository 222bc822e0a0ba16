"""The bench of first audio: what it calls audible, and that its figures are those of a real run."""

import json
import subprocess
import sys
from itertools import islice

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from adaptive.codec.opus import OpusDecoder
from transport_webrtc.bench import first_audio
from transport_webrtc.bench.first_audio import Hearing, summary
from transport_webrtc.bench.onset import FRAME, Onset
from transport_webrtc.bench.texts import sentences

KEYS = [
    "n",
    "failures",
    "p50_ms",
    "p95_ms",
    "p99_ms",
    "packet_p50_ms",
    "queue_p95_ms",
    "continuity_100ms",
    "continuity_50ms",
    "continuity_200ms",
    "real_time_factor",
    "whole_text_p50_ms",
]


def tone(ticks, dbfs):
    amplitude = np.sqrt(2) * 10 ** (dbfs / 20)
    return (amplitude * np.sin(2 * np.pi * 1000 * np.arange(ticks) / 48_000)).astype(np.float32)


@pytest.mark.parametrize(("dbfs", "heard"), [(-44.5, True), (-45.5, False)])
def test_twenty_ms_above_minus_45_dbfs_are_first_audio(dbfs, heard):
    onset = Onset()
    assert not onset.push(np.zeros(2 * FRAME + 100, dtype=np.float32))
    assert onset.push(tone(3 * FRAME, dbfs)) is heard


def test_first_audio_waits_for_the_whole_frame_and_comes_once():
    onset = Onset()
    sound = tone(2 * FRAME, -20)
    assert not onset.push(sound[: FRAME - 1])
    assert onset.packet is None
    assert onset.push(sound[FRAME - 1 :])
    assert np.abs(OpusDecoder().decode(onset.packet, FRAME)).max() > 0.05
    assert not onset.push(sound)


def test_a_failed_text_is_counted_and_in_no_figure():
    good = Hearing(pcm_s=0.010, packet_s=0.011, queue_s=0.002, underrun_s=0.2, render_s=0.1, speech_s=2.0)
    bad = Hearing(failure="The voice could not.")
    figures = summary([good, bad], [bad])
    assert list(figures) == KEYS
    assert (figures["n"], figures["failures"], figures["p99_ms"], figures["continuity_100ms"]) == (2, 1, 10.0, 0.0)
    assert figures["real_time_factor"] == 0.05
    assert figures["whole_text_p50_ms"] is None


def test_texts_are_distinct_and_about_a_hundred_characters():
    texts = list(islice(sentences(1), 500))
    assert len(set(texts)) == 500
    assert all(85 <= len(text) <= 115 for text in texts)
    assert texts == list(islice(sentences(1), 500))


def test_the_command_measures_a_real_rendering(tmp_path):
    file = tmp_path / "texts"
    file.write_text("A first line, and a little more of it.\n\nThe second line is another one.\nThird, and last.\n")
    script = (
        "import sys, typer; from transport_webrtc.bench import first_audio; app = typer.Typer(); "
        "app.callback()(lambda: None); first_audio.register(app); import atexit; "
        "atexit.register(lambda: print(sorted({'torch', 'onnxruntime'} & set(sys.modules)), file=sys.stderr)); app()"
    )
    arguments = ["first-audio", "--voice", "tone", "--concurrency", "2", "--texts", str(file), "--json"]
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "[]"
    figures = json.loads(done.stdout)
    assert list(figures)[: len(KEYS)] == KEYS
    assert (figures["n"], figures["failures"], figures["continuity_100ms"]) == (3, 0, 1.0)
    assert 0 < figures["p50_ms"] <= figures["p95_ms"] <= figures["p99_ms"] < 5000
    assert figures["p50_ms"] < figures["packet_p50_ms"] < figures["p50_ms"] + 1000
    assert 0 < figures["real_time_factor"] < 1
    assert (figures["voice"], figures["tier"], figures["concurrency"], figures["threads"]) == ("tone", "full", 2, 1)


def test_the_command_names_the_voices_there_are():
    app = typer.Typer()
    app.callback()(lambda: None)
    first_audio.register(app)
    result = CliRunner().invoke(app, ["first-audio", "--voice", "nobody", "--n", "1"])
    assert result.exit_code == 1
    assert "There is no voice 'nobody'. Installed are: joe, heart" in result.stderr
