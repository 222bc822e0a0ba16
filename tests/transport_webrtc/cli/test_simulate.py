"""`legato simulate` as it is typed."""

import json

import pytest
from typer.testing import CliRunner

from transport_webrtc.cli import make_app

FIELDS = {
    "trace", "controller", "profile", "carrier", "seconds", "mean_opinion", "p10_opinion", "silence_added_s",
    "lost_speech_s", "mean_delay_ms", "wire_kbps", "compute_s", "up_changes", "down_changes", "reaction_ms",
}  # fmt: skip


def legato(*arguments: str):
    return CliRunner().invoke(make_app(), ["simulate", *arguments])


def figures(*arguments: str) -> dict:
    result = legato(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout.splitlines()[-1])


@pytest.mark.parametrize("controller", ["adaptive", "fixed:24000", "fixed:32000+fec", "ana"])
def test_every_controller_gives_every_figure(controller):
    row = figures("--trace", "random5", "--controller", controller, "--seconds", "6", "--seed", "2")
    assert row.keys() >= FIELDS
    assert (row["trace"], row["controller"], row["profile"], row["carrier"]) == (
        "random5", controller, "voice_chat", "audio",
    )  # fmt: skip
    assert 1 <= row["p10_opinion"] <= row["mean_opinion"] <= 4.5


def test_the_oracle_is_above_a_fixed_one(monkeypatch):
    monkeypatch.setattr("quality.lab.oracle.TRIES", 0)
    how = ("--trace", "random10", "--seconds", "6")
    assert (
        figures(*how, "--controller", "oracle")["mean_opinion"]
        >= figures(*how, "--controller", "fixed:32000")["mean_opinion"]
    )


def test_a_trace_by_its_file_and_second_with_a_table(tmp_path):
    trace = tmp_path / "slow.down"
    trace.write_text("\n".join(str(at) for at in range(100, 40_000, 400)))
    result = legato("--trace", f"{trace}@10", "--controller", "fixed:32000", "--seconds", "5")
    assert result.exit_code == 0, result.output
    assert "mean opinion" in result.stdout
    assert "mean_opinion" not in result.output


@pytest.mark.judge
def test_a_picture(tmp_path):
    picture = tmp_path / "step.png"
    assert legato("--trace", "step40", "--plot", str(picture), "--json").exit_code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_folder_is_compared_and_goes_on_where_it_stopped(tmp_path):
    (tmp_path / "losses.txt").write_text("00000001000000000000" * 150)
    rows = tmp_path / "kept" / "rows.jsonl"
    how = ("--all", str(tmp_path), "--controllers", "fixed:24000,ana", "--seconds", "20", "--rows", str(rows))
    found = figures(*how)
    assert found["windows"] == 3
    assert set(found["mean_opinion"]) == {"fixed:24000", "ana"}
    assert len(rows.read_text().splitlines()) == 6
    assert figures(*how) == found
    assert len(rows.read_text().splitlines()) == 6
    result = legato(*how)
    assert result.exit_code == 0
    assert "above_ana: unknown" in result.stdout


def test_a_bench_s_rows_are_simulated_as_they_were(tmp_path):
    heard = {"seed": 1, "valid": True, "silence_added_s": 0.1, "down_kbps": 49.2}
    rows = [
        {**heard, "sender": "fixed", "scenario": "random10", "concealed_share": 0.11, "lost_packets_share": 0.115},
        {**heard, "sender": "fixed", "scenario": "clean", "concealed_share": 0.2, "lost_packets_share": 0.0},
        {**heard, "sender": "browser", "scenario": "clean", "concealed_share": 0.0, "lost_packets_share": 0.0},
        {**heard, "sender": "fixed", "scenario": "clean", "concealed_share": 0.9, "valid": False},
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = figures("--against", str(tmp_path))["rows"]
    assert [(row["scenario"], row["runs"], row["concealed_share_agrees"]) for row in found] == [
        ("random10", 1, True), ("clean", 1, False),
    ]  # fmt: skip
    assert found[1]["concealed_share_simulated"] == 0
    assert legato("--against", str(tmp_path / "none")).exit_code == 2
    assert legato("--against", str(tmp_path)).exit_code == 0
    (tmp_path / "rows.jsonl").write_text(json.dumps(rows[3]))
    assert legato("--against", str(tmp_path)).exit_code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("--trace", "nowhere"),
        ("--controller", "nobody"),
        ("--profile", "none"),
        ("--carrier", "data"),
        ("--all", "/nowhere"),
        ("--controller", "fixed:much"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(arguments):
    result = legato(*arguments)
    assert result.exit_code == 2
    assert "." in result.output
