"""Whether the simulator says what a browser heard: rows of `legato bench network` beside simulations of them.

Chance decides how much a run of 12 s loses, so each row is simulated with the share of packets that it really lost, and
a sender that does not adapt with the rate that it really had. Means over the rows of a sender and scenario are compared
with means over several seeds.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from types import MappingProxyType
from typing import Any

from adaptive.control.base import Controller
from adaptive.control.fixed import FixedController
from adaptive.control.ladder import OVERHEAD_BYTES
from adaptive.control.plan import Bandwidth, Rung
from adaptive.control.profiles import PROFILES, Profile

from .contenders import ADAPTIVE, make
from .facts import PING_MIDDLE_S
from .listening import PING_BYTES
from .scenarios import Scenario, load
from .sender import MEAN_SHARE
from .simulator import simulate

SECONDS = 12
SEEDS = 6
CONCEALED, SILENCE_S = 0.015, 0.2
"""How far apart they may be."""
PAUSES = ((1.57, 1.70), (2.75, 3.06), (4.67, 4.93), (6.86, 7.15), (7.99, 8.36), (10.14, 10.40))
"""Of the bench's clip, seconds: more than 80 ms, 35 dB below its loud parts."""
OWN_RATE = ("fixed", "stock")
SENDERS = (*OWN_RATE, "legato:audio")

Row = dict[str, Any]


def read(folder: Path) -> list[Row]:
    """The valid rows of a bench that can be simulated. Raises ValueError with a sentence."""
    file = folder / "rows.jsonl"
    if not file.is_file():
        raise ValueError(f"There are no rows of legato bench network in {folder}.")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    known = [row for row in rows if row["valid"] and row["sender"] in SENDERS and row["concealed_share"] is not None]
    if not known:
        raise ValueError(f"{folder} has no valid row of {', '.join(SENDERS)}, which are what can be simulated.")
    return known


def compare(rows: Sequence[Row], *, profile: str, on_row: Callable[[Row], None]) -> list[Row]:
    """One row a sender and scenario: what was heard, what is simulated, and whether they agree."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["sender"], row["scenario"]), []).append(row)
    found = []
    for (sender, scenario), part in groups.items():
        runs = [run for row in part for run in _simulated(row, PROFILES[profile])]
        entry: Row = {"sender": sender, "scenario": scenario, "runs": len(part)}
        for name, limit in (("concealed_share", CONCEALED), ("silence_added_s", SILENCE_S)):
            heard = mean(row[name] for row in part)
            said = mean(run[name] for run in runs)
            entry |= {name: round(heard, 4), f"{name}_simulated": round(said, 4)}
            entry[f"{name}_agrees"] = abs(heard - said) <= limit
        found.append(entry)
        on_row(entry)
    return found


def _simulated(row: Row, profile: Profile) -> Iterator[Row]:
    scenario = _with_its_loss(load(row["scenario"]), row.get("lost_packets_share"))
    for seed in range(SEEDS):
        controller, use = _controller(row, profile)
        yield simulate(scenario, controller, profile=use, seconds=SECONDS, seed=seed, pauses=PAUSES).summary


def _controller(row: Row, profile: Profile) -> tuple[Controller, Profile]:
    if row["sender"] not in OWN_RATE:
        return make(ADAPTIVE, profile=profile), profile
    wire = 1000 * row["down_kbps"] - 8 * PING_BYTES / PING_MIDDLE_S
    bitrate = round((wire - 8 * OVERHEAD_BYTES / 0.02) / MEAN_SHARE)
    rung = Rung(bitrate=max(6_000, bitrate), bandwidth=Bandwidth.FB, frame_ms=20)
    use = replace(profile, clean_playout_delay_s=0.0)
    return FixedController(profile=use, rung=rung), use


def _with_its_loss(scenario: Scenario, share: float | None) -> Scenario:
    """The scenario with the loss that a run really had, where loss is all that it does."""
    if share is None or not any(0 < step.settings.get("loss", 0) < 1 for step in scenario.steps):
        return scenario
    steps = tuple(
        replace(step, settings=MappingProxyType({**step.settings, "loss": share})) if "loss" in step.settings else step
        for step in scenario.steps
    )
    return replace(scenario, steps=steps)
