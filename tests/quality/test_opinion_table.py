import json

import pytest

from adaptive.control import emodel
from adaptive.control.ladder import RUNGS
from quality.opinion_table import LOSSES, PESQ_BEST, TABLE, VISQOL_BEST, Row, fitted, rating


def test_rating_undoes_the_e_models_opinion() -> None:
    for r in (20.0, 50.0, 70.0, 93.2):
        assert rating(emodel.mos(r)) == pytest.approx(r, abs=0.01)


def test_constants_that_made_the_opinions_are_found_again() -> None:
    scale, ie, bpl = emodel.FULLBAND, 12.0, 9.0
    clean = emodel.mos((scale.base - ie) / scale.factor)
    visqol, pesq = (1 + (clean - 1) * (best - 1) / 3.5 for best in (VISQOL_BEST, PESQ_BEST))
    rows = [Row(rung=RUNGS[0], loss=0.0, burst=1.0, lost=0.0, pesq=pesq, visqol=visqol)]
    for burst in (1.0, 3.0):
        for loss in LOSSES:
            ratio = emodel.burst_ratio(loss, burst)
            drop = emodel.effective_impairment(ie, bpl, loss=loss, burst=ratio, worst=scale.worst) - ie
            heard = emodel.mos(rating(pesq) - drop / scale.factor)
            rows.append(Row(rung=RUNGS[0], loss=loss, burst=burst, lost=loss, pesq=heard, visqol=None))
    entry = fitted(rows)
    assert entry["ie"] == pytest.approx(ie, abs=0.3)
    assert entry["bpl"] == pytest.approx(bpl, rel=0.05)
    assert entry["bpl_bursts"] == pytest.approx(bpl, rel=0.05)


def test_the_table_has_every_rung_of_the_ladder() -> None:
    entries = json.loads(TABLE.read_text())["rungs"]
    held = {(e["bitrate"], e["bandwidth"], e["frame_ms"]) for e in entries}
    assert {(r.bitrate, str(r.bandwidth), r.frame_ms) for r in RUNGS} <= held
