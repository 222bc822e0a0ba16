import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from adaptive.control import emodel
from adaptive.control.ladder import RUNGS
from adaptive.control.opinion import TABLE, expected, shipped
from adaptive.control.plan import Protection
from quality.opinion_fit import PESQ_BEST, VISQOL_BEST, fitted, points, rating, residuals
from quality.opinion_measuring import LOSSES, VOICES, Condition, Row, conditions, decoded, rungs
from quality.opinion_table import POINTS, made, read, settings
from quality.plots import opinion_fit, opinion_residuals


def made_up(ie: float, bpl: float, voice: str = "joe") -> list[Row]:
    """Rows of one rung for which these constants hold."""
    scale, rung = emodel.FULLBAND, RUNGS[0]
    clean = emodel.mos((scale.base - ie) / scale.factor)
    visqol, pesq = (1 + (clean - 1) * (best - 1) / 3.5 for best in (VISQOL_BEST, PESQ_BEST))
    rows = [Row(condition=Condition(voice=voice, rung=rung), lost=0.0, pesq=pesq, visqol=visqol)]
    for burst in (1.0, 3.0):
        for loss in LOSSES:
            ratio = emodel.burst_ratio(loss, burst)
            drop = emodel.effective_impairment(ie, bpl, loss=loss, burst=ratio, worst=scale.worst) - ie
            heard = emodel.mos(rating(pesq) - drop / scale.factor)
            condition = Condition(voice=voice, rung=rung, loss=loss, burst=burst)
            rows.append(Row(condition=condition, lost=loss, pesq=heard, visqol=None))
    return rows


def test_rating_undoes_the_e_models_opinion() -> None:
    for r in (20.0, 50.0, 70.0, 93.2):
        assert rating(emodel.mos(r)) == pytest.approx(r, abs=0.01)


def test_constants_that_made_the_opinions_are_found_again() -> None:
    entry = fitted(made_up(12.0, 9.0))
    assert entry["ie"] == pytest.approx(12.0, abs=0.3)
    assert entry["bpl"] == pytest.approx(9.0, rel=0.05)
    assert entry["bpl_bursts"] == pytest.approx(9.0, rel=0.05)


def test_voices_are_averaged_and_each_has_its_own_entry() -> None:
    both = [made_up(10.0, 9.0), made_up(30.0, 9.0, "heart")]
    own = [fitted(rows)["ie"] for rows in both]
    assert own[0] < fitted(both[0] + both[1])["ie"] < own[1]


def test_the_table_has_every_rung_of_the_ladder_for_all_voices_together_and_for_each() -> None:
    table = json.loads(TABLE.read_text())
    for entries in (table["rungs"], *(table["voices"][voice] for voice in VOICES)):
        held = {(e["bitrate"], e["bandwidth"], e["frame_ms"]) for e in entries}
        assert {(r.bitrate, str(r.bandwidth), r.frame_ms) for r in RUNGS} <= held
    assert json.loads(json.dumps(settings())) == table["settings"], "the table is remade when what is measured changes"


def test_a_voice_without_high_sounds_loses_less_by_a_wideband_rung() -> None:
    wide = next(rung for rung in RUNGS if rung.bitrate == 16_000)
    joe, heart, both = (expected(wide, voice=voice) for voice in ("joe", "heart", None))
    assert heart + 0.3 < both < joe - 0.2
    assert expected(wide, voice="nobody") == both


def test_the_shipped_residuals_follow_from_the_shipped_points() -> None:
    found, table = json.loads(POINTS.read_text()), json.loads(TABLE.read_text())
    assert residuals(found) == table["residuals"]
    assert len(found) == len(list(conditions()))
    by_voice = table["residuals"]["told_voice"]
    assert by_voice["protection"]["none"] < 0.35
    assert by_voice["all"] < table["residuals"]["told"]["all"]


def test_a_point_is_what_was_measured_beside_what_is_told() -> None:
    found = list(points(made_up(12.0, 9.0), shipped()))
    assert found[0]["heard"] == pytest.approx(emodel.mos((148 - 12) / 1.48), abs=0.02)
    losses = [p["heard"] for p in found if p["burst"] == 1.0]
    assert losses == sorted(losses, reverse=True)


def test_what_was_measured_is_read_again_and_a_line_cut_off_is_not(tmp_path: Path) -> None:
    protected = Condition(voice="joe", rung=RUNGS[0], protection=Protection(copies=(1, 6)), loss=0.1)
    rows = [*made_up(12.0, 9.0), Row(condition=protected, lost=0.1, pesq=3.0, visqol=None)]
    lines = [json.dumps(asdict(row)) for row in rows]
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(lines) + "\n" + lines[0][:40])
    assert list(read(file).values()) == rows
    assert read(tmp_path / "none.jsonl") == {}


def test_a_table_is_made_of_all_rungs() -> None:
    rows = [
        Row(condition=Condition(voice=v, rung=rung, loss=r.condition.loss, burst=r.condition.burst), lost=r.lost,
            pesq=r.pesq, visqol=r.visqol)
        for v in VOICES for rung in rungs() for r in made_up(12.0, 9.0)
    ]  # fmt: skip
    table = made(rows)
    assert {len(entries) for entries in (table["rungs"], *table["voices"].values())} == {len(rungs())}


@pytest.mark.parametrize("protection", [Protection(copies=(1,)), Protection(fec=True, loss_hint=20)])
def test_protection_repairs_what_was_lost(protection: Protection) -> None:
    rng = np.random.default_rng(0)
    time = np.arange(48_000) / 48_000
    said = (0.3 * np.sin(2 * np.pi * (200 + 100 * time) * time) * (1 + np.sin(40 * time)) / 2).astype(np.float32)
    said += 0.001 * rng.standard_normal(len(said)).astype(np.float32)
    rung = next(rung for rung in RUNGS if rung.bitrate == 32_000 and rung.frame_ms == 20)

    def error(**how: object) -> float:
        heard, lost = decoded(said, Condition(voice="joe", rung=rung, **how), seed=3)  # type: ignore[arg-type]
        assert (lost > 0.05) == ("loss" in how)
        return float(np.mean((heard - said) ** 2))

    assert error(loss=0.2, protection=protection) < 0.5 * error(loss=0.2)


@pytest.mark.judge
def test_fit_and_residuals_are_drawn(tmp_path: Path) -> None:
    found = json.loads(POINTS.read_text())
    for draw in (opinion_fit, opinion_residuals):
        picture = draw(found)
        picture.save(tmp_path / "drawn.png")
        assert (tmp_path / "drawn.png").stat().st_size > 10_000
        labels = {text.get_text() for text in picture.axes[0].get_legend().get_texts()}
        assert labels == {p["protection" if draw is opinion_fit else "voice"] for p in found}
