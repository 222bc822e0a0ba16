"""A bench's folder: what is done stays done, whoever stopped it and wherever."""

from pathlib import Path

import pytest

from transport_webrtc.bench.network.bench import MEDIANS, summary
from transport_webrtc.bench.network.rows import ROWS, Folder

KEY = ("stock", "clean", 1)


def made(valid: bool, **fields: object) -> dict[str, object]:
    return {"sender": "stock", "scenario": "clean", "seed": 1, "valid": valid, **fields}


def test_rows_are_found_again_and_a_valid_one_is_preferred(tmp_path: Path) -> None:
    folder = Folder(tmp_path, {"profile": "voice_chat"})
    assert folder.best(KEY) is None
    for valid, attempt in ((False, 0), (True, 1), (False, 2)):
        folder.add(made(valid, attempt=attempt))
    again = Folder(tmp_path, {"profile": "voice_chat"})
    assert len(again.attempts(KEY)) == 3
    assert (again.best(KEY) or {})["attempt"] == 1
    assert again.attempts(("stock", "clean", 2)) == []


def test_a_line_cut_off_is_a_run_not_made(tmp_path: Path) -> None:
    folder = Folder(tmp_path, {})
    folder.add(made(True))
    with (tmp_path / ROWS).open("a") as file:
        file.write('{"sender": "stock", "scena')
    assert len(Folder(tmp_path, {}).attempts(KEY)) == 1


def test_rows_of_another_bench_are_not_mixed_in(tmp_path: Path) -> None:
    Folder(tmp_path, {"profile": "voice_chat", "delay_ms": None})
    with pytest.raises(ValueError, match=r"profile = 'voice_chat'.*choose another --out"):
        Folder(tmp_path, {"profile": "narration", "delay_ms": None})


def test_every_attempt_has_a_folder_of_its_own(tmp_path: Path) -> None:
    folder = Folder(tmp_path, {})
    paths = {folder.run(("browser:nack", "trace.down@175", seed), attempt) for seed in (1, 2) for attempt in (0, 1)}
    assert len(paths) == 4
    assert all(path.parent == tmp_path / "runs" for path in paths)


def test_a_summary_is_of_the_valid_rows_and_says_how_many_are_not() -> None:
    figures = dict.fromkeys(MEDIANS)
    rows = [
        made(valid, **(figures | {"pesq": pesq}))
        for valid, pesq in ((True, 4.0), (True, 3.0), (True, 3.2), (False, 1.0))
    ]
    (line,) = summary(rows)
    assert (line["n"], line["invalid"], line["pesq"], line["visqol"]) == (3, 1, 3.2, None)
