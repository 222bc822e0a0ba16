"""`legato bench media`: real processes, real connections; what comes out has the shape it is quoted in."""

import json

import pytest
import typer
from typer.testing import CliRunner

from transport_webrtc.bench import media
from transport_webrtc.bench.ends import Measured
from transport_webrtc.media.sending import Lateness

NAMES = {
    "sessions",
    "legato_cpu_percent",
    "stock_cpu_percent",
    "alone_cpu_percent",
    "control_cpu_percent",
    "ratio",
    "data_cpu_percent",
    "pacing_p99_ms",
    "stock_pacing_p99_ms",
    "bare_timer_p99_ms",
}


def run(cpu, late, timer=0.001):
    quiet = Measured(cpu_s=cpu, wall_s=10.0, packets=1_000, repeats=20, late_p99_s=late / 10, rungs=["32k FB 20ms"])
    busy = Measured(cpu_s=cpu, wall_s=10.0, packets=1_000, repeats=20, late_p99_s=late, rungs=["32k FB 20ms"])
    return media.Run(quiet=quiet, busy=busy, timer_p99_s=timer)


def test_figures_are_medians_over_the_rounds_and_what_was_not_measured_is_null():
    runs = {
        "stock": [run(4.0, 0.003), run(2.0, 0.002), run(3.0, 0.009)],
        "alone": [run(0.9, 0.003), run(1.4, 0.003), run(1.9, 0.003)],
        "legato": [run(1.0, 0.004), run(1.5, 0.001), run(2.0, 0.002)],
        "data": [run(0.5, 0.0), run(0.2, 0.0), run(0.3, 0.0)],
    }
    result = media.figures(runs, sessions=2, seconds=10.0)
    assert set(result) >= NAMES
    assert (result["stock_cpu_percent"], result["legato_cpu_percent"], result["ratio"]) == (15.0, 7.5, 0.5)
    assert (result["pacing_p99_ms"], result["stock_pacing_p99_ms"], result["bare_timer_p99_ms"]) == (2.0, 3.0, 1.0)
    assert (result["alone_cpu_percent"], result["control_cpu_percent"]) == (7.0, 0.5)
    assert (result["legato_packets_per_s"], result["legato_repeats_per_s"]) == (50, 1)
    assert result["data_cpu_percent"] == 1.5


def test_a_process_that_ends_early_fails_the_bench_and_leaves_nothing():
    with pytest.raises(media.BenchFailed, match="ended"), media.process(_says_nothing) as link:
        media.get(link)


def _says_nothing(link):
    pass


def test_lateness_of_several_tracks_is_one():
    parts = [Lateness(), Lateness()]
    for number in range(100):
        parts[number % 2].add(number / 1000)
    whole = Lateness.together(parts)
    assert whole.count == 100
    assert whole.percentile(50) == pytest.approx(0.05, rel=0.11)
    assert whole.highest_s == 0.099


@pytest.mark.alone
def test_all_contenders_send_to_real_listeners_and_json_is_the_last_line():
    app = typer.Typer()
    app.callback()(lambda: None)
    media.register(app)
    arguments = ["media", "--sessions", "2", "--seconds", "1", "--rounds", "1", "--voice", "tone", "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout.splitlines()[-1])
    assert set(figures) >= NAMES
    assert all(figures[name] > 0 for name in NAMES - {"control_cpu_percent"})
    assert figures["legato_packets_per_s"] > 12
    assert [line.split()[2] for line in result.stderr.splitlines() if line.startswith("round")] == [
        "stock",
        "alone",
        "legato",
        "data",
    ]
    assert figures["data_rungs"]
