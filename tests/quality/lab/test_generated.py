"""Generated traces are like the recordings that they were fitted to."""

import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from quality.lab import generated
from quality.lab.fitting import fit, fit_losses, series, statistics
from quality.lab.generated import Model, generate
from quality.lab.losses import Losses
from quality.lab.traces import Kind, load_all
from quality.lab.windows import find

FITTED = [name for name in generated.names() if generated.load(name).statistics]


def made(model: Model, seeds: int = 4) -> dict[str, Any]:
    return statistics([series(generate(model, seconds=900, seed=seed)) for seed in range(seeds)])


@pytest.mark.parametrize("name", FITTED)
def test_a_generated_trace_has_the_statistics_of_its_recordings(name: str) -> None:
    model = generated.load(name)
    real, found = model.statistics, made(model)
    assert real is not None
    assert found["mean"] == pytest.approx(real["mean"], rel=0.2)
    for share, value in real["quantiles"].items():
        if model.of == "rtt" and float(share) > 0.7 and real["outage_share"]:
            continue  # of round trips that wait for the network, their lengths are compared below
        assert found["quantiles"][share] == pytest.approx(value, rel=0.2, abs=25), share
    for lag, value in real["autocorrelation"].items():
        assert found["autocorrelation"][lag] == pytest.approx(value, abs=0.2 if real["outage_share"] else 0.08), lag
    assert found["outage_share"] == pytest.approx(real["outage_share"], abs=0.015)
    if real["outage_share"] > 0.05:
        assert found["outages_a_minute"] == pytest.approx(real["outages_a_minute"], rel=0.2)
        for share, value in real["outage_s"].items():
            assert found["outage_s"][share] == pytest.approx(value, rel=0.2), share


@pytest.mark.skipif("LEGATO_TRACES" not in os.environ, reason="LEGATO_TRACES names no folder of recordings")
@pytest.mark.parametrize("name", FITTED)
def test_the_shipped_models_are_what_fitting_makes_of_the_recordings(name: str) -> None:
    model = generated.load(name)
    traces = {trace.name: trace for trace in load_all(Path(os.environ["LEGATO_TRACES"]))}
    again = fit([traces[n] for n in model.traces], name=name, says=model.says, source=model.source)
    assert again == model


def test_a_model_fitted_to_what_a_model_drew_is_like_it() -> None:
    model = generated.load("3g")
    drawn = generate(model, seconds=3600, seed=5)
    again = fit([drawn], name="again", says="", source="")
    assert dict(again.values)[0.5] == pytest.approx(dict(model.values)[0.5], rel=0.1)
    assert made(again)["outage_s"] == pytest.approx(made(model)["outage_s"], rel=0.5)


def test_the_same_seed_draws_the_same_trace_and_another_does_not() -> None:
    model = generated.load("cafe")
    assert generate(model, seconds=60, seed=1) == generate(model, seconds=60, seed=1)
    assert generate(model, seconds=60, seed=1) != generate(model, seconds=60, seed=2)


def test_the_cafe_waits_and_loses_as_its_sources_say() -> None:
    waits = series(generate(generated.load("cafe"), seconds=900, seed=0)).values - 20
    shares = [float((waits < limit).mean()) for limit in (20, 100, 250)]
    assert shares == pytest.approx([0.5, 0.9, 0.99], abs=0.03)
    losses = [generate(generated.load("cafe"), seconds=900, seed=seed).losses for seed in range(4)]
    fitted = fit_losses([lost for part in losses for lost in part])
    assert (fitted.share, fitted.burst) == (pytest.approx(0.01, abs=0.002), pytest.approx(3, rel=0.1))


def test_the_train_is_in_tunnels_for_a_third_of_its_way() -> None:
    found = made(generated.load("train"), seeds=8)
    assert found["outage_share"] == pytest.approx(9714 / 29_000, abs=0.08)
    assert 20 < found["outage_s"]["0.9"] < 45, "with waits in the open among them"


def test_losses_are_fitted() -> None:
    chance = Losses("fit")
    fitted = fit_losses([chance.next(loss=0.1, burst=4) for _ in range(60_000)])
    assert (fitted.share, fitted.burst) == (pytest.approx(0.1, abs=0.01), pytest.approx(4, rel=0.06))
    with pytest.raises(ValueError, match="no packets"):
        fit_losses([])


@pytest.mark.parametrize("name", generated.names())
def test_every_generated_trace_is_a_scenario(name: str) -> None:
    scenario = find(f"{name}@60", seconds=30)
    assert scenario.says == f"The generated trace {name} from second 60."
    assert generated.trace(name).kind is Kind.GENERATED
    down = scenario.settings("down", 0)
    assert down.steps or down.delay_trace
    assert bool(down.loss_list) == (name == "cafe")


def test_a_model_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    with pytest.raises(ValueError, match=r"no generated trace .*mine"):
        find(str(file), seconds=10)
    file.write_text("{}")
    with pytest.raises(ValueError, match="no model of a network"):
        find(str(file), seconds=10)
    file.write_text(generated.written(generated.load("5g-rural")))
    assert find(str(file), seconds=10).settings("down", 0).delay_trace


def test_the_command_writes_a_model(tmp_path: Path) -> None:
    import typer

    from quality.lab.fitting import main

    app = typer.Typer()
    app.command()(main)
    recorded = tmp_path / "recorded"
    recorded.write_text("\n".join(f"{second}.0\t{1 + second % 3}" for second in range(120)))
    result = CliRunner().invoke(app, ["mine", str(recorded), "--out", str(tmp_path), "--says", "Mine."])
    assert result.exit_code == 0, result.output
    assert generated.load(str(tmp_path / "mine.json")).says == "Mine."
    assert CliRunner().invoke(app, ["mine", str(tmp_path / "none")]).exit_code == 2
