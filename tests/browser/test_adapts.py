"""The network of one listener gets bad in the middle of a long utterance, and good again."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.voices]

BANDWIDTHS = ("NB", "MB", "WB", "SWB", "FB")
SHOWN = ("bitrate", "bandwidth", "frame_ms", "tier", "reason")
BAD = {"rate_kbps": 28, "loss": 0.05}
GOOD = {"rate_kbps": 0, "loss": 0}
BAD_FOR_S = 10.0
MOVED_WITHIN_S = 3.0
BACK_WITHIN_S = 25.0
LONGEST_SILENCE_S = 2.0
"""The story's own pauses are far shorter."""


def lower(plan: dict[str, Any], than: dict[str, Any], tiers: list[str]) -> dict[str, bool]:
    """By axis, whether `plan` asks for less."""
    return {
        "bitrate": plan["bitrate"] < than["bitrate"],
        "bandwidth": BANDWIDTHS.index(plan["bandwidth"]) < BANDWIDTHS.index(than["bandwidth"]),
        "tier": tiers.index(plan["tier"]) > tiers.index(than["tier"]),
    }


def longest_silence_s(samples) -> float:
    """Longest run of 50 ms blocks below −50 dBFS."""
    blocks = samples[: len(samples) // 2400 * 2400].reshape(-1, 2400)
    silent = np.sqrt(np.mean(np.square(blocks), axis=1)) < 10 ** (-50 / 20)
    longest = run = 0
    for block in silent:
        run = run + 1 if block else 0
        longest = max(longest, run)
    return longest * 0.05


def test_bitrate_bandwidth_and_tier_follow_the_network_down_and_up(server, listen: Callable) -> None:
    ear = listen(server)
    ear.open("voice=joe&carrier=audio")
    ear.page.click("#examples button:has-text('One minute')")
    ear.press("#play")
    ear.wait("sounding", within_s=10)
    ear.begin()
    ear.rest(10)

    server.ask("PUT", f"{ear.listener}/network", {"down": BAD})
    present = server.get(ear.listener)
    changed, before, tiers = present["connected_s"], present["plan"], present["reports"]["compute"]["tiers"]
    ear.rest(MOVED_WITHIN_S)
    soon = [plan for plan in server.get(ear.listener)["plans"] if changed <= plan["at"] <= changed + MOVED_WITHIN_S]
    moved = {axis for plan in soon for axis, is_lower in lower(plan, before, tiers).items() if is_lower}
    assert moved == {"bitrate", "bandwidth", "tier"}, f"from {before} to {soon}"
    ear.rest(BAD_FOR_S - MOVED_WITHIN_S)

    server.ask("PUT", f"{ear.listener}/network", {"down": GOOD})
    ended = time.monotonic()
    while any(lower(server.get(ear.listener)["plan"], before, tiers).values()):
        waited = time.monotonic() - ended
        assert waited < BACK_WITHIN_S, f"{server.get(ear.listener)['plans']} is not back at {before}"
        ear.rest(0.25)
    back_after = time.monotonic() - ended
    assert server.get(ear.listener)["speaking"], "the utterance ended before the plan was back"
    silence = longest_silence_s(ear.end().samples)
    first = {axis: min(plan["at"] for plan in soon if lower(plan, before, tiers)[axis]) - changed for axis in moved}
    print(f"moved after {first} s, back after {back_after:.1f} s, longest silence {silence:.2f} s")
    for plan in server.get(ear.listener)["plans"]:
        print(
            f"{plan['at'] - changed:+.1f} s", *(plan[n] for n in ("bitrate", "bandwidth", "frame_ms", "tier", "reason"))
        )
    assert silence <= LONGEST_SILENCE_S
    assert ear.complaints == []
